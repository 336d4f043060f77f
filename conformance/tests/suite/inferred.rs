//! Clauses that the contract presupposes and does not state.

use sallyport_conformance::check::{InferredClauses, Severity};
use sallyport_conformance::contract::Clause;
use sallyport_conformance::report::Format;
use sallyport_conformance::{Report, Verdict};
use serde_json::{Value, json};

use super::canned::{CannedServer, Reply};

/// A service whose one instance declares `trialDays` so.
async fn run(trial_days: Value, inferred: InferredClauses) -> Report {
    let item = json!({
        "instanceId": 1, "offerId": 1, "status": "active", "ip": "203.0.113.7", "port": 1, "protocols": [],
        "countryCode": "USA", "cityCode": "NYC", "ispType": 1, "expiresAt": null, "activatedAt": null,
        "capabilities": { "trialDays": trial_days }, "groupId": null,
    });
    let body = json!({
        "code": 200, "message": "ok", "requestId": "r-1",
        "data": { "items": [item], "page": 1, "pageSize": 20, "total": 1 },
    });
    let server = CannedServer::start(move |asked| match asked.line.contains("/groups") {
        true => Reply::groups(),
        false => Reply::json(200, &body.to_string()),
    })
    .await;
    server.run("search.envelope.*", |options| options.inferred = inferred).await
}

#[tokio::test]
async fn a_finding_on_an_inferred_clause_says_so_and_may_be_a_warning() {
    let report = run(Value::Null, InferredClauses::Fail).await;
    assert_eq!(report.verdict, Verdict::Findings);
    let findings: Vec<_> = report.checks.iter().flat_map(|check| &check.findings).collect();
    // Both the check of each case and the passive check see it.
    assert!(findings.len() > 1, "{findings:?}");
    for finding in &findings {
        assert_eq!((finding.clause, finding.severity), (Clause::SearchCapabilities, Severity::Fail));
        assert!(finding.inferred_from.as_deref().is_some_and(|from| from.starts_with("2.3")), "{finding:?}");
    }
    // Metrics are numbers, and an archive is what was sent.
    let says = |format: &Format| !matches!(format, Format::Prometheus | Format::Har);
    for format in Format::ALL.into_iter().filter(says) {
        let text = format.render(&report).expect("rendered");
        let words = if format == Format::Json { "\"inferred_from\": \"2.3" } else { "inferred from 2.3" };
        assert!(text.contains(words), "{} does not say so", format.name());
    }

    let lowered = run(Value::Null, InferredClauses::Warn).await;
    assert_eq!((lowered.verdict, lowered.totals.failed), (Verdict::Conforms, 0));
    assert!(lowered.totals.warned > 0 && lowered.diagnosis.is_empty());
    let findings = lowered.checks.iter().flat_map(|check| &check.findings);
    assert!(findings.into_iter().all(|finding| finding.severity == Severity::Warn));
}

#[tokio::test]
async fn what_is_stated_of_the_same_clause_is_a_failure_all_the_same() {
    let report = run(json!("none"), InferredClauses::Warn).await;
    assert_eq!(report.verdict, Verdict::Findings);
    let findings = report.checks.iter().flat_map(|check| &check.findings);
    assert!(findings.into_iter().all(|finding| finding.inferred_from.is_none()));
}
