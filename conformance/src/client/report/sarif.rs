//! The report of a client test as SARIF 2.1.0: each duty is a rule, each finding a result.

use serde_json::{Value, json};

use super::ClientReport;
use crate::check::Severity;
use crate::client::Duty;
use crate::client::result::{CaseOutcome, ClientCaseResult, ClientFinding};
use crate::report::plain;

/// A result points at the client's file where the command names one below the working folder, else at its program: findings
/// are about what it does, so that there is no line.
pub(super) fn log(report: &ClientReport) -> Value {
    let rules: Vec<Value> = Duty::ALL.into_iter().map(rule).collect();
    let results: Vec<Value> = report
        .cases
        .iter()
        .flat_map(|case| case.findings.iter().enumerate().map(move |finding| result(report, case, finding)))
        .collect();
    let notifications: Vec<Value> = report.cases.iter().filter_map(notification).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "sallyport-client-conformance",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "invocations": [{
                "executionSuccessful": report.totals.errors == 0,
                "startTimeUtc": report.begun,
                "toolExecutionNotifications": notifications,
            }],
            "properties": {
                "client": plain(&report.client),
                "contract": report.contract,
                "contractSha256": report.contract_sha256,
                "totals": report.totals,
            },
            "artifacts": [{ "location": { "uri": uri(report) } }],
            "results": results,
        }],
    })
}

fn rule(duty: Duty) -> Value {
    json!({
        "id": duty.id(),
        "shortDescription": { "text": duty.text() },
        "fullDescription": { "text": format!("{} (section {}) {}", duty.text(), duty.section(), duty.why()) },
        "properties": { "inferredFrom": duty.inferred_from() },
        "help": { "text": format!("conformance explain {duty}") },
    })
}

/// The client's file as a relative reference.
fn uri(report: &ClientReport) -> String {
    let path = report.source.as_deref().unwrap_or(&report.client);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let escape =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.trim_start_matches("./").bytes().map(escape).collect()
}

fn result(
    report: &ClientReport,
    case: &ClientCaseResult,
    (number, finding): (usize, &ClientFinding),
) -> Value {
    let ClientFinding { duty, requirement, expected, actual, severity, same_as, inferred_from, .. } = finding;
    let inferred = inferred_from.map(|from| format!(" (inferred from {from})")).unwrap_or_default();
    json!({
        "ruleId": duty,
        "ruleIndex": Duty::ALL.iter().position(|known| known == duty),
        "level": if *severity == Severity::Fail { "error" } else { "warning" },
        "message": { "text": format!(
            "{}\nRequirement: {requirement}{inferred}\nExpected: {}\nActual: {}\nWhy it matters: {}",
            case.title, plain(expected), plain(actual), duty.why()
        ) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(report), "index": 0 },
                "region": { "startLine": 1 },
            },
            "logicalLocations": [{ "fullyQualifiedName": case.id, "kind": "case" }],
        }],
        "partialFingerprints": { "finding/v1": format!("{}:{duty}:{number}", case.id) },
        "properties": {
            "case": case.id,
            "sameAs": same_as,
            "requests": case.requests,
            "input": case.input,
            "ending": case.ending,
            "standardOutput": case.standard_output,
            "standardError": case.standard_error,
        },
    })
}

/// What kept a case from a result: a reader must not take what is missing for a duty that is kept.
fn notification(case: &ClientCaseResult) -> Option<Value> {
    let (level, reason) = match &case.outcome {
        CaseOutcome::Error(reason) => ("error", reason),
        CaseOutcome::Skipped(reason) => ("note", reason),
        CaseOutcome::Passed | CaseOutcome::Failed | CaseOutcome::Warning => return None,
    };
    let text = format!("{}: {}", case.id, plain(reason));
    Some(json!({ "level": level, "message": { "text": text } }))
}
