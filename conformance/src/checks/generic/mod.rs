//! Checks that are made from the document alone: limits and responses of each operation without checks of its own, and
//! deprecated parts of any operation. The checks in `all` judge that each operation requires a token.

mod deprecation;
mod limits;
mod request;

use crate::check::{Check, Run};
use crate::contract::{Contract, OtherOperation};

pub(crate) use request::{skip_changes, token_for, valid_request, with_token, without_token};

/// The generic checks of a contract. They live as long as the program, as all checks do.
pub(super) fn checks(contract: &Contract) -> Vec<&'static Check> {
    let deprecated = contract.operations().filter_map(deprecation::check);
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
        title: titled("a success matches its schema in the OpenAPI document"),
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
