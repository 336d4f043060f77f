//! What a clause asks for, what breaking it means, and how to see it for oneself.

mod meaning;

use crate::check::{Check, Probe, registry};
use crate::contract::{Clause, Contract, OperationId};
use crate::report::curl;
use crate::target::Secret;
use crate::wire::{Exchange, FailureKind, Recorded, Redactor, Request, WireFailure};

/// A clause, explained.
#[derive(Debug)]
pub struct Explanation {
    /// The clause.
    pub clause: &'static Clause,
    /// What goes wrong for a client when a service breaks it.
    pub meaning: &'static str,
    /// A command that sends a request to the operation, which a conforming service accepts.
    pub sample: String,
    /// The checks that cite it.
    pub checks: Vec<&'static Check>,
}

impl Explanation {
    /// Explains a clause; none when there is no such clause.
    #[must_use]
    pub fn of(contract: &'static Contract, id: &str) -> Option<Self> {
        let clause = contract.catalogue.clause(id)?;
        let meaning = meaning::of(id)?;
        let mut checks = registry();
        checks.retain(|check| check.clauses.contains(&id));
        Some(Self { clause, meaning, sample: sample(contract, id), checks })
    }
}

/// Clauses of all operations are shown by the one that costs nothing.
fn sample(contract: &Contract, id: &str) -> String {
    let token = Secret::new("API_KEY", "the-token-stands-here");
    let operation = OperationId::ALL.into_iter().find(|operation| id.starts_with(operation.prefix()));
    let operation = operation.unwrap_or(OperationId::Groups);
    let request = Request::to(contract.operation(operation));
    let (extract, groups, search) = (&contract.extract, &contract.groups, &contract.search);
    let request = match operation {
        OperationId::Extract => request
            .query(&extract.api_key.name, token.expose())
            .query(&extract.num.name, extract.num_range.start()),
        OperationId::Groups => request.query(&groups.api_key.name, token.expose()),
        OperationId::Search => request
            .query(&search.api_key.name, token.expose())
            .field(&search.ips.name, vec![Probe::NOBODYS_ADDRESS]),
    };
    let unsent = WireFailure { kind: FailureKind::Request, detail: String::new() };
    let exchange = Exchange { index: 0, request, result: Err(unsent), elapsed: std::time::Duration::ZERO };
    let redactor = Redactor::new([&token]);
    curl("$BASE_URL", &Recorded::new(&exchange, &redactor)).replace("'$BASE_URL", "\"$BASE_URL\"'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clause_is_explained_and_nothing_else_is() {
        let contract = Contract::embedded().expect("contract");
        for clause in contract.catalogue.clauses() {
            let explanation = Explanation::of(contract, &clause.id);
            let explanation = explanation.unwrap_or_else(|| panic!("{} is not explained", clause.id));
            assert!(explanation.sample.starts_with("curl ") && explanation.sample.contains("$API_KEY"));
            assert!(explanation.meaning.ends_with('.'), "{}", clause.id);
            assert!(!explanation.sample.contains("the-token"), "{}", explanation.sample);
        }
        for id in meaning::ids() {
            assert!(contract.catalogue.clause(id).is_some(), "{id} is no clause");
        }
    }
}
