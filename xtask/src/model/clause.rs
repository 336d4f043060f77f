//! The rules of the contract, and unspecified behaviour.

/// One rule of the contract, as `x-clauses` says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clause {
    /// For example `extract.num-range`.
    pub(crate) id: String,
    pub(crate) text: String,
    /// Whether responses can show that a server follows it.
    pub(crate) observable: bool,
    /// Line of the document.
    pub(crate) line: u64,
}

/// Unspecified behaviour: what the contract leaves open (`x-unspecified`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unspecified {
    /// For example `open.search.order`.
    pub(crate) id: String,
    pub(crate) text: String,
    /// Line of the document.
    pub(crate) line: u64,
}
