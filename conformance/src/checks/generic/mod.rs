//! Checks that are made from the document alone: limits and responses of each operation without checks of its own, and
//! deprecated parts of any operation. The checks in `all` judge that each operation requires a token.

mod limits;
mod request;

use std::collections::BTreeSet;

use crate::check::{Check, ObservedExchange, PassiveFinding, ResponseClass, Run, Severity};
use crate::contract::{Contract, Deprecation, Operation, OtherOperation};

pub(crate) use request::{skip_changes, token_for, valid_request, with_token, without_token};

/// The generic checks of a contract. They live as long as the program, as all checks do.
pub(super) fn checks(contract: &Contract) -> Vec<&'static Check> {
    let deprecated = contract.operations().filter_map(deprecation);
    contract
        .others
        .iter()
        .flat_map(checks_of)
        .chain(deprecated)
        .map(|check| &*Box::leak(Box::new(check)))
        .collect()
}

fn checks_of(other: &OtherOperation) -> Vec<Check> {
    let (id, operation) = (other.operation.id, &other.operation);
    let named = |rule: &str| -> &'static str { format!("{}.{rule}.generic", id.prefix()).leak() };
    let titled =
        |what: &str| -> &'static str { format!("{} {}: {what}", operation.method, operation.path).leak() };
    let mut checks = vec![Check {
        id: named("envelope"),
        title: titled("a success fits the document"),
        why: "Clients that are generated from the document can't read a response that differs from it.",
        operation: Some(id),
        clauses: other.response_clauses.clone().leak(),
        needs: &[],
        run: Run::Passive(super::schema::judge),
    }];
    let clauses = other.limit_clauses();
    if !clauses.is_empty() {
        checks.push(Check {
            id: named("limits"),
            title: titled("values beyond the limits are rejected"),
            why: "Values beyond the limits corrupt data, or let one request use unbounded resources.",
            operation: Some(id),
            clauses: clauses.leak(),
            needs: &[],
            run: Run::OtherCases(limits::cases),
        });
    }
    checks
}

/// The check of an operation that is deprecated or has deprecated parts.
fn deprecation(operation: &Operation) -> Option<Check> {
    let clauses: BTreeSet<_> = operation.deprecations.iter().map(|deprecation| deprecation.clause).collect();
    (!clauses.is_empty()).then(|| Check {
        id: format!("{}.deprecation.generic", operation.id.prefix()).leak(),
        title: format!("{} {}: responses announce what is deprecated", operation.method, operation.path)
            .leak(),
        why: "Callers learn too late that something they use will be removed.",
        operation: Some(operation.id),
        clauses: clauses.into_iter().collect::<Vec<_>>().leak(),
        needs: &[],
        run: Run::Passive(judge_deprecation),
    })
}

/// No clause requires the header, so its absence is a warning.
fn judge_deprecation(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    /// RFC 9745.
    const HEADER: &str = "Deprecation";
    let operation = observed.contract.operation(observed.operation);
    let is_used = |deprecation: &&Deprecation| deprecation.is_used_by(observed.request);
    let used: Vec<_> = operation.deprecations.iter().filter(is_used).collect();
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
