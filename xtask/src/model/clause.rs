//! The rules of the contract, and unspecified behaviour.

use crate::problem::Place;

/// One rule of the contract, as `x-clauses` says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clause {
    /// For example `extract.num-range`.
    pub(crate) id: String,
    /// The part of the prose contract that it restates, such as `4.1 rule 3`.
    pub(crate) section: String,
    pub(crate) text: String,
    /// Whether responses can show that a server follows it.
    pub(crate) observable: bool,
    /// Why it is not observable.
    pub(crate) reason: Option<String>,
    pub(crate) place: Place,
}

/// Unspecified behaviour: what the contract leaves open (`x-unspecified`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unspecified {
    /// For example `open.search.order`.
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) place: Place,
}
