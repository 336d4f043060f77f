//! Compares successful responses with the document: status, body and headers.

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::check::{Form, ObservedExchange, PassiveFinding, Probe, ResponseClass, Stop};
use crate::contract::{Clause, OperationId};

/// Every constraint of the document that a successful JSON response breaks, or an ambiguous one, whose envelope breaks the schema or the
/// status; `None` for other responses.
pub(super) fn judge(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let operation = observed.contract.operation(observed.operation);
    if let Some(finding) = malformed_json(observed) {
        return Some(vec![finding]);
    }
    let successful = observed.success().is_some() || matches!(observed.class, ResponseClass::Ambiguous(_));
    if !successful || observed.form != Form::Json {
        return None;
    }
    let body = observed.response.json()?;
    let violations = operation.success.violations(body, |name| observed.response.header_values(name));
    let mut findings: Vec<_> = violations
        .into_iter()
        .map(|violation| {
            let expected = format!(
                "a response that matches the schema of the OpenAPI document at {}",
                violation.schema_path
            );
            let actual = format!("at {}: {}", violation.instance_path, violation.message);
            PassiveFinding::fail(violation.clause, violation.key(), expected, actual)
        })
        .collect();
    if observed.response.status != operation.success.status {
        let success = &operation.success;
        let expected = format!("code {} under HTTP {} only", success.code, success.status);
        let actual = observed.class.description();
        findings.push(PassiveFinding::fail(success.clause, "status", expected, actual));
    }
    Some(findings)
}

/// A response with the status of a success whose `Content-Type` says JSON and whose body is not JSON. No caller can read it.
fn malformed_json(observed: &ObservedExchange<'_>) -> Option<PassiveFinding> {
    let success = &observed.contract.operation(observed.operation).success;
    let response = observed.response;
    let says_json = response.header("Content-Type").is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json"
    });
    let is_broken = response.status == success.status
        && says_json
        && !response.body().is_empty()
        && !is_json(response.body());
    is_broken.then(|| {
        let expected = format!("JSON, as HTTP {} with Content-Type application/json says", response.status);
        PassiveFinding::fail(success.clause, "no JSON", expected, "a body that is not JSON")
    })
}

/// Whether a text is JSON of any depth; JSON that is too deep to be parsed here is not judged.
fn is_json(body: &[u8]) -> bool {
    std::str::from_utf8(body).is_ok() && serde_json::from_slice::<IgnoredAny>(body).is_ok()
}

/// A successful static response with a blank id in its header or its body, each with its clause. The form of an id is unspecified,
/// but a blank one identifies nothing.
pub(super) fn judge_request_id(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let [of_body, of_header] = observed.contract.operation(observed.operation).success.request_id?;
    let header = &observed.contract.extract.request_id_header.name;
    let response = observed.success()?;
    let body = response.at("/requestId").and_then(Value::as_str).map(str::to_owned);
    let ids = [(of_header, header.as_str(), response.header(header)), (of_body, "requestId", body)];
    let blank = ids.into_iter().filter(|(.., id)| id.as_ref().is_some_and(|id| id.trim().is_empty()));
    let finding = |(clause, name, _): (Clause, &str, _)| {
        PassiveFinding::fail(clause, "blank", format!("{name} with an id"), format!("{name} is empty"))
    };
    Some(blank.map(finding).collect())
}

/// Sends a valid request, and reports an ambiguous response. A rejection may have reasons that the suite can't know.
pub(super) async fn succeeds(probe: &Probe<'_>, operation: OperationId) -> Result<(), Stop> {
    let (exchange, class) = probe.send(&probe.valid(operation)).await?;
    let clause = probe.contract().operation(operation).success.clause;
    match &class {
        ResponseClass::Accepted => Ok(()),
        ResponseClass::Ambiguous(what) => {
            probe.finding(clause, "the HTTP status and the code of a success together", what, &[&exchange]);
            Ok(())
        }
        rejected => {
            Err(probe.inconclusive(&format!("a valid request was rejected: {}", rejected.description())))
        }
    }
}
