use serde_json::{Value, json};

use super::curl;
use super::json::pretty;
use super::terminal::throttled;
use crate::check::{Finding, Outcome, Severity};
use crate::run::{CheckResult, Report};

/// Where the clauses stand, from the root of the repository.
const DOCUMENT: &str = "openapi/openapi.yaml";

/// The report as SARIF 2.1.0: each clause is a rule, each finding a result that points at the clause's line in the OpenAPI
/// document.
///
/// # Errors
/// When it can't be serialised, which would be a fault of the suite.
pub fn sarif(report: &Report) -> Result<String, serde_json::Error> {
    let rules: Vec<Value> = report
        .clauses
        .iter()
        .map(|clause| {
            json!({
                "id": clause.id,
                "shortDescription": { "text": clause.text },
                "fullDescription": { "text": format!("{} (section {})", clause.text, clause.section) },
                "help": { "text": format!("conformance explain {}", clause.id) },
            })
        })
        .collect();
    let findings =
        report.checks.iter().flat_map(|result| result.findings.iter().map(move |finding| (result, finding)));
    let results: Vec<Value> = findings.map(|(check, finding)| result(report, check, finding)).collect();
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
                "clausesJudged": report.coverage.judged,
                "clauses": report.coverage.clauses,
                "faultsNoticed": report.detection.noticed,
                "faultsKnown": report.detection.known,
                "throttled": throttled(report),
                "unmet": report.unmet,
            },
            "artifacts": [{ "location": { "uri": DOCUMENT } }],
            "results": results,
        }],
    });
    pretty(&log)
}

fn result(report: &Report, check: &CheckResult, finding: &Finding) -> Value {
    let level = match (finding.severity, &check.outcome) {
        (Severity::Fail, Outcome::Failed | Outcome::ExpectedFailure(_)) => "error",
        (Severity::Fail | Severity::Warn, _) => "warning",
    };
    let index = report.clauses.iter().position(|clause| clause.id == finding.clause);
    let line = index.map_or(1, |index| report.clauses[index].line);
    let commands: Vec<String> = check
        .exchanges
        .iter()
        .filter(|exchange| finding.exchanges.contains(&exchange.index))
        .map(|exchange| curl::command(&report.target, exchange))
        .collect();
    let mut result = json!({
        "ruleId": finding.clause,
        "level": level,
        "message": { "text": format!(
            "{}\nRequirement: {}\nExpected: {}\nActual: {}\nWhy it matters: {}",
            check.title, finding.requirement, finding.expected, finding.actual, check.why
        ) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": DOCUMENT, "index": 0 },
            "region": { "startLine": line },
        } }],
        "partialFingerprints": { "check/v1": format!("{}:{}", check.id, finding.clause) },
        "properties": { "check": check.id, "target": report.target, "reproduce": commands, "facts": finding.facts },
    });
    if let Some(index) = index {
        result["ruleIndex"] = index.into();
    }
    if let Outcome::ExpectedFailure(reason) = &check.outcome {
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": reason }]);
    }
    result
}

/// What kept checks from a result: a reader must not take what is missing for conformance.
fn notifications(report: &Report) -> Vec<Value> {
    let stopped =
        report.stopped.iter().map(|reason| json!({ "level": "error", "message": { "text": reason } }));
    let unclear = report.checks.iter().filter_map(|check| match &check.outcome {
        Outcome::Inconclusive(reason) | Outcome::Error(reason) | Outcome::Flaky(reason) => {
            Some(json!({ "level": "warning", "message": { "text": format!("{}: {reason}", check.id) } }))
        }
        Outcome::Passed
        | Outcome::Failed
        | Outcome::Warning
        | Outcome::ExpectedFailure(_)
        | Outcome::Skipped(_) => None,
    });
    stopped.chain(unclear).collect()
}
