//! Whether a service announces what the document calls deprecated. No clause requires it, so that it is a warning.

use std::collections::BTreeSet;

use crate::check::{Check, ObservedExchange, PassiveFinding, ResponseClass, Run, Severity};
use crate::contract::{Deprecation, Operation};

/// The header that announces it (RFC 9745).
const HEADER: &str = "Deprecation";

/// The check of an operation that is deprecated or has deprecated parts.
pub(super) fn check(operation: &Operation) -> Option<Check> {
    let clauses: BTreeSet<_> = operation.deprecations.iter().map(|deprecation| deprecation.clause).collect();
    (!clauses.is_empty()).then(|| Check {
        id: format!("{}.deprecation.generic", operation.id.prefix()).leak(),
        title: format!("{} {}: responses announce what is deprecated", operation.method, operation.path)
            .leak(),
        why: "Callers learn too late that something ends which they still use.",
        operation: Some(operation.id),
        clauses: clauses.into_iter().collect::<Vec<_>>().leak(),
        needs: &[],
        run: Run::Passive(judge),
    })
}

fn judge(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
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
