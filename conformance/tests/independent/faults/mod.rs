//! The faults: what an implementer of the contract may get wrong, clause by clause. An id is the name of a rule in the
//! server, with `@circumstance` when it is broken there alone.

mod access;
mod extract_input;
mod extract_output;
mod groups;
mod search_batch;
mod search_fields;
mod search_filters;
mod search_output;
mod search_paging;
mod static_response;

use std::sync::LazyLock;

/// One fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) id: &'static str,
    /// The clause that it breaks.
    pub(crate) clause: &'static str,
    /// What the server does.
    pub(crate) text: &'static str,
    /// Whether the clause is inferred, so that a warning counts.
    pub(crate) is_inferred: bool,
}

/// Faults by the clauses that they break.
type Rows = &'static [FaultsOfClause];

/// The faults that break one clause.
struct FaultsOfClause {
    clause: &'static str,
    /// Id and sentence of each.
    faults: &'static [(&'static str, &'static str)],
}

const fn clause(clause: &'static str) -> FaultsOfClause {
    FaultsOfClause { clause, faults: &[] }
}

impl FaultsOfClause {
    const fn faults(self, faults: &'static [(&'static str, &'static str)]) -> Self {
        Self { faults, ..self }
    }
}

/// Clauses that the catalogue calls inferred.
const INFERRED: [&str; 3] = ["extract.idempotent", "extract.region", "search.paging"];
/// Faults of a stated clause that break what is inferred about it: null for an absent capability.
const INFERRED_FAULTS: [&str; 6] = [
    "search-purchase-null",
    "search-trial-days-null",
    "search-change-ip-null",
    "search-max-batch-null",
    "search-max-days-null",
    "search-allowed-days-null",
];

/// All faults, in the order of the lists.
pub(crate) static ALL: LazyLock<Vec<Fault>> = LazyLock::new(|| {
    let lists = [
        access::ROWS,
        extract_input::ROWS,
        extract_output::ROWS,
        static_response::ROWS,
        groups::ROWS,
        search_batch::ROWS,
        search_fields::ROWS,
        search_filters::ROWS,
        search_output::ROWS,
        search_paging::ROWS,
    ];
    let faults = lists.into_iter().flatten().flat_map(|FaultsOfClause { clause, faults }| {
        faults.iter().map(|(id, text)| {
            let is_inferred = INFERRED.contains(clause) || INFERRED_FAULTS.contains(id);
            Fault { id, clause, text, is_inferred }
        })
    });
    faults.collect()
});
