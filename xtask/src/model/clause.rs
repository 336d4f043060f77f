//! The rules of the contract, unspecified behaviour, and the checks of the suite.

use serde::{Deserialize, Serialize};

/// One rule of the contract, as `x-clauses` says it. The suite reads it in this form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Clause {
    /// For example `extract.num-range`.
    pub(crate) id: String,
    /// The part of the prose contract that it restates, such as `4.1 rule 3`.
    pub(crate) section: String,
    pub(crate) text: String,
    /// Whether responses can show that a server follows it.
    pub(crate) observable: bool,
    /// Line of the document.
    pub(crate) line: u64,
    /// Why it is not observable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The sentences that presuppose it, where the contract does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) inferred: Option<String>,
    /// The same for what it says of null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) inferred_null: Option<String>,
}

impl Clause {
    /// In words, which part of it is inferred and from what; none for a clause that is stated.
    pub(crate) fn inference(&self) -> Option<String> {
        let whole = self.inferred.as_ref().map(|from| format!("Inferred from {from}."));
        let null =
            self.inferred_null.as_ref().map(|from| format!("What it says of null is inferred from {from}."));
        whole.or(null)
    }
}

/// Unspecified behaviour: what the contract leaves open (`x-unspecified`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Unspecified {
    /// For example `open.search.order`.
    pub(crate) id: String,
    pub(crate) text: String,
    /// Line of the document.
    pub(crate) line: u64,
}

/// A check of the suite, as `conformance list --format json` prints it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Check {
    pub(crate) id: String,
    pub(crate) title: String,
    /// Ids of the clauses that it proves.
    pub(crate) clauses: Vec<String>,
    /// The `operationId` of the one operation that it runs for; none when it runs for all.
    #[serde(default, rename = "operationId")]
    pub(crate) operation: Option<String>,
}
