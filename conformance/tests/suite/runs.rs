//! Verdicts of whole runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use sallyport_conformance::contract::Clause;
use sallyport_conformance::report::{self, Format, Progress, Screen, Style};
use sallyport_conformance::run::Glob;
use sallyport_conformance::target::{RejectedToken, RejectionReason};
use sallyport_conformance::{Facts, Observer as _, Options, Outcome, Report, Secret, Verdict};
use serde_json::{Value, json};

use super::canned::{CannedServer, Reply};
use crate::support::steady::steady;

/// Valid lists of groups, for requests with the token.
async fn groups_server(reject: impl Fn() -> Reply + Send + Sync + 'static) -> CannedServer {
    CannedServer::start(move |asked| if asked.has_token() { Reply::groups() } else { reject() }).await
}

fn result<'a>(report: &'a Report, id: &str) -> &'a sallyport_conformance::run::CheckResult {
    report.checks.iter().find(|check| check.id == id).expect("the check ran")
}

#[tokio::test]
async fn a_server_that_breaks_on_bad_input_is_a_finding() {
    for reject in [|| Reply::json(500, "{}"), || Reply::Close] {
        let server = groups_server(reject).await;
        let report = server.run("groups.token", |_| {}).await;
        assert_eq!(report.verdict, Verdict::Findings);
        let findings = &result(&report, "groups.token.single").findings;
        assert!(findings.len() >= 5, "{findings:?}");
        assert!(findings.iter().all(|finding| finding.expected.ends_with("without a server error")));
    }
}

#[tokio::test]
async fn a_server_error_that_does_not_recur_is_a_warning() {
    let seen = Mutex::new(BTreeSet::new());
    let server = CannedServer::start(move |asked| match asked.has_token() {
        true => Reply::groups(),
        false if seen.lock().expect("no panic").insert(asked.line.clone()) => Reply::json(500, "{}"),
        false => Reply::json(401, "{}"),
    })
    .await;
    let report = server.run("groups.token.single", |_| {}).await;
    assert_eq!(report.verdict, Verdict::Conforms);
    let check = result(&report, "groups.token.single");
    assert_eq!(check.outcome, Outcome::Warning, "{:?}", check.findings);
    assert!(check.findings.iter().any(|finding| finding.actual.contains("did not recur")));
}

#[tokio::test]
async fn a_500_whose_code_recurs_is_a_rejection_and_is_not_sent_again_for_long() {
    let server = groups_server(|| Reply::rejected(500, 50001, "no token")).await;
    let report = server.run("groups.token.single", |_| {}).await;
    let check = result(&report, "groups.token.single");
    assert_eq!((report.verdict, &check.outcome), (Verdict::Conforms, &Outcome::Warning));
    let once = check.cases.len();
    assert!(once > 12 && server.requests() < once + 15, "{} for {once} cases", server.requests());
}

#[tokio::test]
async fn a_withdrawn_credential_that_is_served_is_a_violation() {
    for (is_served, expected) in [(true, "failed"), (false, "skipped")] {
        let server = CannedServer::start(move |asked| match asked.is_extraction() {
            true if asked.has_token() || is_served => Reply::gateways(1),
            false if asked.has_token() => Reply::groups(),
            _ => Reply::rejected(401, 40100, "unknown token"),
        })
        .await;
        let token = Secret::new("SALLYPORT_REJECTED_TOKENS", "withdrawn");
        let rejected = RejectedToken { token, reason: RejectionReason::NotEntitled, note: String::new() };
        let facts = Facts { rejected_tokens: vec![rejected], ..Facts::default() };
        let report = server.run_with("extract.whitelist.rejected-tokens", facts).await;
        let outcome = &result(&report, "extract.whitelist.rejected-tokens").outcome;
        assert_eq!(outcome.name(), expected, "{outcome:?}");
    }
}

/// Checks start from extractions of the smallest number and take their rejection for a quota that is used up, unless another extraction
/// is served: of a larger number, one that names the defaults, or one with the token in a header.
#[tokio::test]
async fn what_is_rejected_while_others_are_served_is_no_used_up_quota() {
    type IsRejected = fn(Option<&str>) -> bool;
    let rows: [(&str, &str, IsRejected, u16); 3] = [
        ("extract.num-range.minimum", "num", |value| value == Some("1"), 400),
        ("extract.regions-default.global/json/accepted", "regions", |value| value.is_none(), 400),
        ("extract.token-transport.each", "api_key", |value| value.is_some(), 401),
    ];
    for (only, name, is_rejected, status) in rows {
        let server = CannedServer::extracting(move |asked| match is_rejected(asked.param(name)) {
            true => Reply::rejected(status, u32::from(status) * 100, "invalid"),
            false => Reply::gateways(usize::from(asked.param("num") == Some("2")) + 1),
        })
        .await;
        let report = server.run(only, |_| {}).await;
        assert_eq!(report.verdict, Verdict::Findings, "{only}: {:?}", report.checks);
        let check = only.split('/').next().expect("an id");
        assert_eq!(result(&report, check).outcome, Outcome::Failed, "{:?}", report.checks);
    }
}

#[tokio::test]
async fn a_password_in_a_header_is_a_finding_that_does_not_show_it() {
    let server = CannedServer::start(|_| {
        Reply::groups().with("X-Proxy-Password", "pAss-9911").with("X-Proxy-Passwd", "pAss-7788")
    })
    .await;
    let report = server
        .run("groups.envelope.*", |options| options.selection.only.push(Glob::new("all.no-secrets.*")))
        .await;
    let findings = &result(&report, "all.no-secrets.watched").findings;
    assert!(
        findings.iter().any(|finding| finding.actual.starts_with("a header x-proxy-password")),
        "{findings:?}"
    );
    let json = Format::Json.render(&report).expect("JSON");
    assert!(!json.contains("pAss-9911") && !json.contains("pAss-7788"), "{json}");
}

/// Each of the three groups of a listing shows it.
#[tokio::test]
async fn a_finding_is_seen_in_no_more_responses_than_there_were() {
    let group = |id: u32| format!(r#"{{"groupId": {id}, "createdAt": "2026-01-01T00:00:00Z"}}"#);
    let items = [1, 2, 3].map(group).join(",");
    let body =
        format!(r#"{{"code": 200, "message": "ok", "requestId": "r", "data": {{"items": [{items}]}}}}"#);
    let server = CannedServer::start(move |_| Reply::json(200, &body)).await;
    let report = server.run("groups.*", |_| {}).await;
    let findings = report.checks.iter().flat_map(|check| &check.findings);
    let counts: Vec<u64> = findings
        .filter_map(|finding| finding.actual.strip_suffix(" responses)")?.rsplit(' ').next()?.parse().ok())
        .collect();
    assert!(!counts.is_empty(), "{:?}", report.checks);
    assert!(counts.iter().all(|count| *count <= report.usage.requests), "{counts:?} of {:?}", report.usage);
}

/// An instance without a field makes dozens of checks inconclusive, and each said so in the same words.
#[tokio::test]
async fn consequences_fold_under_their_cause_in_every_format() {
    const REASON: &str = "an item lacks a field, or has one of another type";
    const BODY: &str = r#"{"code": 200, "message": "ok", "requestId": "r-1", "data": {"items": [{"instanceId": 1,
        "offerId": 1, "status": "active", "ip": "192.0.2.1", "port": 80, "protocols": ["http"], "countryCode": "USA",
        "ispType": 1, "groupId": null, "expiresAt": null, "activatedAt": null, "capabilities": {}}],
        "page": 1, "pageSize": 20, "total": 1}}"#;
    let server = CannedServer::start(|asked| match asked.line.contains("/groups") {
        true => Reply::groups(),
        false if asked.has_token() => Reply::json(200, BODY),
        false => Reply::rejected(401, 40100, "unknown token"),
    })
    .await;
    let facts = Facts { own_addresses: vec!["192.0.2.1".to_owned()], ..Facts::default() };
    let report = server.run_with("search", facts).await;
    let is_consequence = |outcome: &Outcome| outcome.reason().is_some_and(|reason| reason.contains(REASON));
    let consequences = report.checks.iter().filter(|check| is_consequence(&check.outcome)).count();
    assert!(consequences > 20, "{consequences}");
    let screen = Screen::PLAIN;
    let written = [Format::Html, Format::Junit, Format::Sarif, Format::Markdown, Format::Github]
        .map(|format| (format.name(), format.render(&report).expect("rendered")));
    let terminal = report::failures(&report, &screen) + &report::summary(&report, &screen);
    for (name, text) in written.into_iter().chain([("terminal", terminal)]) {
        assert!(text.matches(REASON).count() <= 3, "{name}: {text}");
        assert!(text.to_lowercase().contains("consequence"), "{name}: {text}");
    }
    let mut lines = Vec::new();
    let progress = Progress::new(&mut lines, screen, false);
    report.checks.iter().for_each(|check| progress.check_ended(check));
    drop(progress);
    let lines = String::from_utf8(lines).expect("text");
    assert!(lines.matches(REASON).count() <= 2, "{lines}");
}

#[tokio::test]
async fn a_rejection_counts_only_after_its_control_request_was_accepted() {
    let server = CannedServer::start(|_| Reply::json(400, "{}")).await;
    let report = server.run("groups.token", |_| {}).await;
    assert!(matches!(result(&report, "groups.token.single").outcome, Outcome::Inconclusive(_)));
    assert_eq!(report.verdict, Verdict::Incomplete);
}

#[tokio::test]
async fn the_budget_ends_a_run_without_a_verdict() {
    let server = groups_server(|| Reply::json(401, "{}")).await;
    let few = |options: &mut Options| {
        options.budget.requests = 3;
        // It needs addresses, for which a run would look first.
        options.selection.skip = vec![Glob::new("groups.envelope.complete")];
    };
    let report = server.run("groups.*", few).await;
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert!(report.stopped.is_some());
    assert_eq!((server.requests(), report.usage.requests), (3, 3));

    let report = server.run("groups.*", |options| options.budget.wall = Duration::ZERO).await;
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert_eq!(report.usage.requests, 0);
}

#[tokio::test]
async fn nothing_run_and_everything_skipped_are_no_success() {
    let server = groups_server(|| Reply::json(401, "{}")).await;
    for only in ["no-such-check", "groups.empty", "all.https"] {
        let report = server.run(only, |_| {}).await;
        assert_eq!(report.verdict, Verdict::Incomplete, "{only}");
    }
}

#[tokio::test]
async fn a_finding_reads_well() {
    let server = CannedServer::start(|_| Reply::groups()).await;
    let mut report = server.run("groups.token", |_| {}).await;
    steady(&mut report);
    // The matrix of known faults changes more often than the reports.
    report.diagnosis.clear();
    let text = report::failures(&report, &Screen::PLAIN) + &report::summary(&report, &Screen::PLAIN);
    insta::assert_snapshot!(text);
    insta::assert_snapshot!(report::check_text(
        &report.checks[0],
        &Screen { style: Style::Coloured, ..Screen::PLAIN }
    ));
}

/// What 2^32 or more becomes when it is read as 32 bits is accepted, with a page of that size.
#[tokio::test]
async fn an_accepted_invalid_request_is_a_finding_of_its_limit_and_of_nothing_else() {
    const SIZE: &str = "search.page-size.boundaries";
    let server = CannedServer::start(|asked| {
        let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
        let size = body["pageSize"].as_i64().unwrap_or(20);
        let is_number = body["pageSize"].is_null() || body["pageSize"].is_i64();
        if !asked.has_token() || !is_number || !(1..=1_000).contains(&(size % (1 << 32))) {
            return Reply::rejected(400, 40000, "invalid");
        }
        let (page, is_valid) = (body["page"].as_i64().unwrap_or(1), size < 1 << 32);
        let (items, total) = if is_valid { (json!([]), 0) } else { (json!([{"instanceId": 1}]), 9) };
        let data = json!({"items": items, "page": page, "pageSize": size % (1 << 32), "total": total});
        let body = json!({"code": 200, "message": "", "requestId": "r", "data": data});
        Reply::json(200, &body.to_string())
    })
    .await;
    let report = server
        .run(SIZE, |options| {
            options.selection.only.extend(["search.*.watched", "search.*.schema"].map(Glob::new))
        })
        .await;
    let found =
        report.checks.iter().flat_map(|check| check.findings.iter().map(|found| (check.id, found.clause)));
    let found: BTreeSet<_> = found.collect();
    assert_eq!(found, BTreeSet::from([(SIZE, Clause::SearchPageSize)]), "{:?}", report.checks);
}

/// The second repetition of an extraction gets other gateways, and a response without one of its fields.
#[tokio::test]
async fn a_finding_shows_every_request_in_its_order() {
    let seen = Mutex::new(BTreeMap::<String, u16>::new());
    let server = CannedServer::start(move |asked| {
        let mut seen = seen.lock().expect("whole");
        let times = seen.entry(asked.line.clone()).or_default();
        *times += 1;
        let port = if *times == 3 { r#""port": 2"# } else { r#""port": 1"# };
        let Reply::Response { status, headers, body } = Reply::gateways(2) else { unreachable!() };
        let body = body.replace(r#""port": 1"#, port);
        let body = if *times == 3 { body.replace(r#""msg": "","#, "") } else { body };
        Reply::Response { status, headers, body }
    })
    .await;
    let schema = |options: &mut Options| options.selection.only.push(Glob::new("extract.envelope.schema"));
    let report = server.run("extract.idempotent.query", schema).await;
    let watched = result(&report, "extract.envelope.schema");
    assert_eq!(watched.findings[0].exchanges, [0, 1, 2], "{:?}", watched.findings);
    assert_eq!(watched.exchanges.len(), 3);
    let check = result(&report, "extract.idempotent.query");
    let third = check.findings.iter().find(|finding| finding.expected.contains("sent a third time"));
    let shown = &third.expect("a finding of the third").exchanges;
    assert_eq!(shown.len(), 3, "{shown:?}");
    assert!(shown.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{shown:?}");
    assert!(shown.iter().all(|index| check.exchanges.iter().any(|exchange| exchange.index == *index)));
}

fn other_gateways() -> Reply {
    let Reply::Response { status, headers, body } = Reply::gateways(2) else { unreachable!() };
    Reply::Response { status, headers, body: body.replace(r#""port": 1"#, r#""port": 2"#) }
}

/// A server error, or rejections, between an extraction and its repetition with other gateways: a finding shows them, but is not
/// about them.
#[tokio::test]
async fn what_lies_between_the_responses_of_a_finding_does_not_excuse_it() {
    // Only the first id gets other gateways, so the case passes when it is run again.
    let seen = Mutex::new(Vec::<String>::new());
    let server = CannedServer::start(move |asked| {
        let mut seen = seen.lock().expect("whole");
        if asked.line.contains("request_id=") && seen.iter().all(|first| *first == asked.line) {
            seen.push(asked.line.clone());
            return match seen.len() {
                1 => Reply::gateways(2),
                2 => Reply::json(502, ""),
                _ => other_gateways(),
            };
        }
        Reply::gateways(2)
    })
    .await;
    let report = server.run("extract.idempotent.query", |_| {}).await;
    let outcome = &result(&report, "extract.idempotent.query").outcome;
    assert!(matches!(outcome, Outcome::Flaky(_)), "{outcome:?}");
    // What has no id is rejected, like the extraction that shows whether the quota is used up.
    let seen = Mutex::new(BTreeSet::<String>::new());
    let server = CannedServer::start(move |asked| {
        let has_id = asked.has_token() && asked.line.contains("request_id=") && asked.line.contains("num=");
        match has_id {
            true if seen.lock().expect("whole").insert(asked.line.clone()) => Reply::gateways(2),
            true => other_gateways(),
            false => Reply::rejected(400, 40000, "invalid"),
        }
    })
    .await;
    let report = server.run("extract.idempotent.interleaved", |_| {}).await;
    let cases = &result(&report, "extract.idempotent.interleaved").cases;
    let after = cases.iter().find(|case| case.label == "after rejections").expect("the case");
    assert_eq!(after.outcome, Outcome::Failed);
}
