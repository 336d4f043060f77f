//! The check that responses announce what is deprecated.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::check::{Check, ObservedExchange, PassiveFinding, ResponseClass, Run, Severity};
use crate::contract::{DeprecatedPart, Deprecation, Operation, Place};
use crate::wire::Request;

/// The check of an operation that is deprecated or has deprecated parts.
pub(super) fn check(operation: &Operation) -> Option<Check> {
    let clauses: BTreeSet<_> = operation.deprecations.iter().map(|deprecation| deprecation.clause).collect();
    (!clauses.is_empty()).then(|| Check {
        id: format!("{}.deprecation.generic", operation.id.prefix()).leak(),
        title: format!("{} {}: responses announce what is deprecated", operation.method, operation.path)
            .leak(),
        why: "Callers learn too late that something they use will be removed.",
        operation: Some(operation.id),
        clauses: clauses.into_iter().collect::<Vec<_>>().leak(),
        needs: &[],
        run: Run::Passive(judge),
    })
}

/// No clause requires the header, so its absence is a warning.
fn judge(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    /// RFC 9745.
    const HEADER: &str = "Deprecation";
    let operation = observed.contract.operation(observed.operation);
    let in_request = |deprecation: &&Deprecation| is_used(deprecation, observed.request);
    let used: Vec<_> = operation.deprecations.iter().filter(in_request).collect();
    if used.is_empty() || *observed.class != ResponseClass::Accepted {
        return None;
    }
    if observed.response.header(HEADER).is_some() {
        return Some(Vec::new());
    }
    let finding = |deprecation: &&Deprecation| PassiveFinding {
        clause: deprecation.clause,
        key: format!("{:?} {:?}", deprecation.part, deprecation.value),
        severity: Severity::Warn,
        expected: format!("{HEADER} (RFC 9745), because {}", deprecation.description()),
        actual: format!("a response without {HEADER}"),
    };
    Some(used.iter().map(finding).collect())
}

/// Whether a request uses the deprecated part.
fn is_used(deprecation: &Deprecation, request: &Request) -> bool {
    let value = deprecation.value.as_deref();
    let fits = |sent: &str| value.is_none_or(|value| value == sent);
    match &deprecation.part {
        DeprecatedPart::Operation => true,
        DeprecatedPart::Parameter(name, Place::Query) => {
            request.query_pairs().any(|(sent, value)| sent == Some(name) && fits(value))
        }
        DeprecatedPart::Parameter(name, Place::Header) => {
            let mut headers = request.headers().iter();
            headers
                .any(|(sent, value)| sent.eq_ignore_ascii_case(name) && fits(&String::from_utf8_lossy(value)))
        }
        // Parameters of the path are never deprecated by themselves.
        DeprecatedPart::Parameter(_, Place::Path) => false,
        DeprecatedPart::Field(path) => request
            .body_members()
            .is_some_and(|members| holds(&Value::Object(members.into_owned()), path, value)),
    }
}

fn holds(json: &Value, path: &[String], value: Option<&str>) -> bool {
    match (json, path, value) {
        (_, [], None) => true,
        (Value::String(text), [], Some(value)) => text == value,
        (Value::Array(items), ..) => items.iter().any(|item| holds(item, path, value)),
        (Value::Object(fields), [name, rest @ ..], _) => {
            fields.get(name).is_some_and(|inner| holds(inner, rest, value))
        }
        _ => false,
    }
}
