use futures::future::BoxFuture;

use super::{Complaint, Probe, Sighting};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;
use crate::wire::{Exhausted, WireError};

/// One rule of the contract, tested one way. Lives as a `static` in a file of its own under `checks/`.
#[derive(Debug)]
pub struct Check {
    /// `operation.rule.aspect`, unique; the first part is the operation's, or `all`.
    pub id: &'static str,
    /// What a conforming service does, in a few words.
    pub title: &'static str,
    /// The operation that it tests; none when it looks at all of them.
    pub operation: Option<OperationId>,
    /// The clauses that its findings may cite.
    pub clauses: &'static [Clause],
    /// Facts without which it is skipped.
    pub needs: &'static [Fact],
    /// What it sends at most when nothing has to be repeated.
    pub cost: Cost,
    /// How it is done.
    pub run: Run,
}

/// Requests and gateways that a check may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Requests.
    pub requests: u32,
    /// Gateways that its extractions ask for.
    pub gateways: u32,
}

/// How a check is done.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// It sends requests of its own.
    Probe(for<'a> fn(&'a Probe<'a>) -> BoxFuture<'a, Result<(), Stop>>),
    /// It looks at every exchange of every check. None means that the exchange does not concern it.
    Watch(fn(&Sighting<'_>) -> Option<Vec<Complaint>>),
}

/// Why a check ends before its end.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// It does not apply here; the text says what is missing.
    #[error("{0}")]
    Skip(String),
    /// The target did not let it come to a result.
    #[error("{0}")]
    Inconclusive(String),
    /// Our own fault or the network's.
    #[error("{0}")]
    Error(String),
    /// The budget is used up.
    #[error(transparent)]
    Budget(#[from] Exhausted),
}

impl Cost {
    /// Requests that take no gateway.
    #[must_use]
    pub const fn requests(requests: u32) -> Self {
        Self { requests, gateways: 0 }
    }

    /// Extractions and the gateways they ask for together.
    #[must_use]
    pub const fn extraction(requests: u32, gateways: u32) -> Self {
        Self { requests, gateways }
    }
}

impl From<WireError> for Stop {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Budget(exhausted) => Self::Budget(exhausted),
            WireError::Setup(_) => Self::Error(error.to_string()),
        }
    }
}
