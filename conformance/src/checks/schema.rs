//! Holds successful JSON responses against the document's response schemas, headers included.

use serde::de::IgnoredAny;

use crate::check::{Form, ObservedExchange, PassiveFinding, ResponseClass, Severity};
use crate::contract::Clause;

/// Every constraint of the document that a successful response breaks; none for other responses.
///
/// A response that is half a success is taken too: its envelope breaks the schema or the status.
pub(super) fn judge(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let operation = observed.contract.operation(observed.operation);
    if let Some(finding) = no_json(observed) {
        return Some(vec![finding]);
    }
    let successful = matches!(observed.class, ResponseClass::Accepted | ResponseClass::Ambiguous(_));
    if !successful || observed.form != Form::Json {
        return None;
    }
    let body = match operation.success.has_body {
        true => observed.response.json()?,
        false => &serde_json::Value::Null,
    };
    let violations = operation.success.violations(body, |name| observed.response.header_values(name));
    let mut findings: Vec<_> = violations
        .into_iter()
        .map(|violation| (violation.key(), violation))
        .map(|(key, violation)| PassiveFinding {
            clause: violation.clause,
            expected: format!("a response that fits the document at {}", violation.schema_path),
            actual: format!("at {}: {}", violation.instance_path, violation.message),
            key,
            severity: Severity::Fail,
        })
        .collect();
    if observed.response.status != operation.success.status {
        findings.push(PassiveFinding {
            clause: operation.success.clause(),
            key: "status".to_owned(),
            severity: Severity::Fail,
            expected: format!("code {} under HTTP {} only", operation.success.code, operation.success.status),
            actual: observed.class.description().to_owned(),
        });
    }
    Some(findings)
}

/// A response under the status of a success that says it is JSON, and is none: no caller can read it, whatever it means.
fn no_json(observed: &ObservedExchange<'_>) -> Option<PassiveFinding> {
    let success = &observed.contract.operation(observed.operation).success;
    let response = observed.response;
    let says_json = response.header("Content-Type").is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json"
    });
    let is_broken = response.status == success.status
        && success.has_body
        && says_json
        && !response.body().is_empty()
        && !is_json(response.body());
    is_broken.then(|| PassiveFinding {
        clause: success.clause(),
        key: "no JSON".to_owned(),
        severity: Severity::Fail,
        expected: format!("JSON, as HTTP {} with Content-Type application/json says", response.status),
        actual: "a body that is no JSON".to_owned(),
    })
}

/// Whether a text is JSON, however deep: what is too deep to be read here is left alone.
fn is_json(body: &[u8]) -> bool {
    std::str::from_utf8(body).is_ok() && serde_json::from_slice::<IgnoredAny>(body).is_ok()
}

/// A successful static response whose `X-Request-Id` is there and blank; its form is open, but a blank one is none.
pub(super) fn judge_request_id(
    observed: &ObservedExchange<'_>,
    clause: Clause,
) -> Option<Vec<PassiveFinding>> {
    if *observed.class != ResponseClass::Accepted {
        return None;
    }
    let name = &observed.contract.extract.request_id_header.name;
    let id = observed.response.header(name)?;
    let finding = PassiveFinding {
        clause,
        key: "blank".to_owned(),
        severity: Severity::Fail,
        expected: format!("{name} with an id"),
        actual: format!("{name} is empty"),
    };
    Some(if id.trim().is_empty() { vec![finding] } else { Vec::new() })
}
