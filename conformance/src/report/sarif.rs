use serde_json::{Value, json};

use super::cause::{CheckFinding, consequences, groups, headlines};
use super::curl;
use super::json::pretty;
use super::words::{inference, line};
use crate::check::{Finding, Outcome, Severity};
use crate::run::{FindingChange, Report, Unresolved};

/// The document with the clauses, relative to the root of the repository.
const DOCUMENT: &str = "openapi/openapi.yaml";

/// The report as SARIF 2.1.0: each clause is a rule, each finding a result that points at the clause's line in the OpenAPI
/// document.
pub(super) fn sarif(report: &Report) -> Result<String, serde_json::Error> {
    let rules: Vec<Value> = report
        .clauses
        .iter()
        .map(|clause| {
            json!({
                "id": clause.id,
                "shortDescription": { "text": clause.text },
                "fullDescription": { "text": format!("{} (section {})", clause.text, clause.section) },
                "properties": { "inferredFrom": clause.inferred_from },
                "help": { "text": format!("conformance explain {}", clause.id) },
            })
        })
        .collect();
    let mut results: Vec<Value> = Vec::new();
    for group in groups(report, false) {
        let causes = group.diagnosis.map(headlines).unwrap_or_default();
        let findings = std::iter::once(group.example).chain(group.others);
        results.extend(findings.map(|finding| result(report, finding, &causes)));
    }
    let notifications: Vec<Value> = notifications(report);
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "sallyport-conformance",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "invocations": [{
                "executionSuccessful": report.stopped.is_none(),
                "startTimeUtc": report.begun,
                "toolExecutionNotifications": notifications,
            }],
            "properties": {
                "verdict": report.verdict,
                "conclusion": report.conclusion,
                "clausesJudged": report.coverage.judged,
                "clauses": report.coverage.clauses,
                "faultsNoticed": report.detection.noticed,
                "faultsKnown": report.detection.known,
                "contract": report.contract,
                "contractSha256": report.contract_sha256,
                "implementation": report.implementation,
                "profile": report.profile,
                "budget": report.budget,
                "discovered": report.discovered,
                "explored": report.explored,
                "throttled": line(report, "throttled"),
                "unmet": report.unmet,
                "since": report.since,
            },
            "artifacts": [{ "location": { "uri": DOCUMENT } }],
            "results": results,
        }],
    });
    write(log)
}

/// A log as text. In its messages, text of others must not become links: readers take `[text](target)` for one.
fn write(mut log: Value) -> Result<String, serde_json::Error> {
    without_links(&mut log);
    pretty(&log)
}

fn without_links(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_links),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if name == "text" => *text = text.replace("](", "]\\("),
                    member => without_links(member),
                }
            }
        }
        _ => {}
    }
}

/// The line of a finding's clause in the document.
fn location(report: &Report, finding: &Finding) -> Value {
    let clause = report.clauses.iter().find(|clause| clause.id == finding.clause);
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": DOCUMENT, "index": 0 },
        "region": { "startLine": clause.map_or(1, |clause| clause.line) },
    } })
}

/// Identifies a finding across reports: the check, the clause, the case, and a number among the findings with the same three.
fn fingerprint((check, finding): CheckFinding<'_>) -> String {
    let Finding { clause, case, .. } = finding;
    let case = case.as_deref().unwrap_or_default();
    let alike = check.findings.iter().filter(|other| other.clause == *clause && other.is_of(case));
    let number = alike.take_while(|other| !std::ptr::eq(*other, finding)).count();
    format!("{}:{clause}:{case}:{number}", check.id)
}

fn result(report: &Report, (check, finding): CheckFinding<'_>, causes: &[String]) -> Value {
    let level = match (finding.severity, &check.outcome) {
        (Severity::Fail, Outcome::Failed | Outcome::ExpectedFailure(_)) => "error",
        (Severity::Fail | Severity::Warn, _) => "warning",
    };
    let index = report.clauses.iter().position(|clause| clause.id == finding.clause);
    let commands: Vec<String> = check
        .exchanges
        .iter()
        .filter(|exchange| finding.exchanges.contains(&exchange.index))
        .map(|exchange| curl::command(&report.target, &report.curl_options, exchange))
        .collect();
    let inferred = inference(finding);
    let cause = match causes {
        [] => String::new(),
        lines => format!("Likely cause: {}\n", lines.join("; ")),
    };
    let mut result = json!({
        "ruleId": finding.clause,
        "level": level,
        "message": { "text": format!(
            "{cause}{}\nRequirement: {}{inferred}\nExpected: {}\nActual: {}\nWhy it matters: {}",
            check.title, finding.requirement, finding.expected, finding.actual, check.why
        ) },
        "locations": [location(report, finding)],
        "partialFingerprints": { "finding/v2": fingerprint((check, finding)) },
        "properties": { "check": check.id, "target": report.target, "reproduce": commands, "facts": finding.facts },
    });
    if let Some(known) = report.since.as_ref().and_then(|since| since.finding(check.id, finding)) {
        let is_new = known.change == FindingChange::New;
        result["baselineState"] = if is_new { "new" } else { "unchanged" }.into();
    }
    if let Some(index) = index {
        result["ruleIndex"] = index.into();
    }
    if !causes.is_empty() {
        result["properties"]["likelyCauses"] = causes.into();
    }
    if let Some(consequences) = consequences(report, check.id) {
        result["properties"]["consequence"] = consequences.into();
    }
    if let Outcome::ExpectedFailure(reason) = &check.outcome {
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": reason }]);
    }
    result
}

/// Why checks have no result. A reader must not mistake a missing result for conformance.
fn notifications(report: &Report) -> Vec<Value> {
    let stopped =
        report.stopped.iter().map(|reason| json!({ "level": "error", "message": { "text": reason } }));
    let warning = |text: String| json!({ "level": "warning", "message": { "text": text } });
    let flaky = report.checks.iter().filter_map(|check| match &check.outcome {
        Outcome::Flaky(reason) => Some(warning(format!("{}: {reason}", check.id))),
        _ => None,
    });
    let inconclusive = Unresolved::inconclusive(&report.checks).into_iter().map(|group| {
        let ids: Vec<&str> = group.ids().collect();
        warning(format!("{}: {}: {}", group.outcome.name(), group.reason, ids.join(", ")))
    });
    stopped.chain(inconclusive).chain(flaky).collect()
}
