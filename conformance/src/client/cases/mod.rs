//! The cases, by duty.

mod results;
mod retries;
mod token;
mod tolerance;

use serde_json::{Map, Value, json};

use super::case::ClientCase;
use super::protocol::{Call, Operation};
use crate::contract::Contract;

/// Addresses that cases search for.
#[derive(Debug, Clone)]
pub(super) struct Addresses {
    /// Some that hold several instances.
    pub(super) own: Vec<String>,
}

/// Every case. `addresses` are those that searches ask for: some that hold instances of the account.
#[must_use]
pub fn all(contract: &Contract, addresses: &[String]) -> Vec<ClientCase> {
    let calls = Calls { contract, addresses: Addresses { own: addresses.to_vec() } };
    [results::cases(&calls), retries::cases(&calls), token::cases(&calls), tolerance::cases(&calls)].concat()
}

/// Makes calls by the names of the document.
pub(super) struct Calls<'a> {
    contract: &'a Contract,
    addresses: Addresses,
}

impl Calls<'_> {
    /// Extracts three gateways.
    fn extract(&self) -> Call {
        call(Operation::Extract, [(self.contract.extract.num.name.as_str(), json!(3))])
    }

    /// Extracts four gateways as text with a separator.
    fn text(&self, lb: &str, sb: Option<&str>) -> Call {
        let extract = &self.contract.extract;
        let sb = sb.map(|sb| (extract.sb.name.as_str(), json!(sb)));
        let arguments = [(extract.num.name.as_str(), json!(4)), (extract.lb.name.as_str(), json!(lb))];
        call(Operation::ExtractText, arguments.into_iter().chain(sb))
    }

    fn groups(&self) -> Call {
        call(Operation::Groups, [])
    }

    /// Searches for all addresses, with this page size.
    fn search(&self, page_size: usize) -> Call {
        self.search_for(self.addresses.own.clone(), page_size)
    }

    fn search_for(&self, ips: Vec<String>, page_size: usize) -> Call {
        let search = &self.contract.search;
        let arguments =
            [(search.ips.name.as_str(), json!(ips)), (search.page_size.name.as_str(), json!(page_size))];
        call(Operation::Search, arguments)
    }
}

fn call<'a>(operation: Operation, arguments: impl IntoIterator<Item = (&'a str, Value)>) -> Call {
    let arguments: Map<String, Value> =
        arguments.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Call { operation, arguments }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_title() {
        let contract = Contract::embedded().expect("the embedded contract");
        assert!(all(contract, &[]).iter().all(|case| !case.title.is_empty()));
    }
}
