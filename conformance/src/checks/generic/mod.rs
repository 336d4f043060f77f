//! Checks that are made from the document alone, for each operation without checks of its own: its limits, and the form of
//! its successes. That it needs a token is judged beside all other operations, in `all`.

mod deprecation;
mod limits;
mod request;

use crate::check::{Check, Run};
use crate::contract::{Contract, OtherOperation};

pub(crate) use request::{refuses_to_change, token_for, valid_request, with_token, without_token};

/// The checks of every further operation of a contract, and those of deprecated parts of any operation. They live as long as the program, as all checks do.
pub(super) fn checks(contract: &Contract) -> Vec<&'static Check> {
    let deprecated = contract.operations().filter_map(deprecation::check);
    contract.others.iter().flat_map(of).chain(deprecated).map(|check| &*Box::leak(Box::new(check))).collect()
}

fn of(other: &OtherOperation) -> Vec<Check> {
    let (id, operation) = (other.operation.id, &other.operation);
    let named = |rule: &str| -> &'static str { format!("{}.{rule}.generic", id.prefix()).leak() };
    let titled =
        |what: &str| -> &'static str { format!("{} {}: {what}", operation.method, operation.path).leak() };
    let mut checks = vec![Check {
        id: named("envelope"),
        title: titled("a success fits the document"),
        why: "Clients that are generated from the document cannot read another response.",
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
            why: "A value that no limit stops ends up in the data, or makes the service work without bound.",
            operation: Some(id),
            clauses: clauses.leak(),
            needs: &[],
            run: Run::OtherCases(limits::cases),
        });
    }
    checks
}
