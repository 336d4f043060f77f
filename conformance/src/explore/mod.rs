//! Random searches beyond the fixed cases, judged by relations between results. What breaks a relation is shrunk to the
//! smallest requests that still do. Nothing is sent but searches, and the same seed sends the same ones to a service that
//! responds alike.

mod explorer;
mod query;
mod relation;
mod run;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::check::{Case, Check, Cost, Run};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

/// How an exploration is bounded, and where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exploration {
    /// Longest time that it takes.
    pub time: Duration,
    /// Most requests, on top of the budget's.
    pub requests: u64,
    /// What the random choices are made from.
    pub seed: u64,
}

/// What an exploration did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExplorationResult {
    /// What the random choices were made from.
    pub seed: u64,
    /// Longest time that it could take, in seconds.
    pub seconds: u64,
    /// Most requests that it could send.
    pub requests: u64,
    /// Requests that it sent.
    pub sent: u64,
    /// Relations that were tried.
    pub steps: u64,
}

/// The check that explorations are findings of. It is not in the registry: its cases are drawn while it runs.
pub(crate) static RELATIONS: Check = Check {
    id: ID,
    title: "random searches keep the relations between their results",
    why: "Faults that need two filters, a port and a page at once are in no list of cases, and in the requests of users.",
    operation: Some(OperationId::Search),
    clauses: &[
        Clause::SearchActivatedRange,
        Clause::SearchCity,
        Clause::SearchCountry,
        Clause::SearchGroup,
        Clause::SearchIntersection,
        Clause::SearchIpsFirstText,
        Clause::SearchMatchAnyPort,
        Clause::SearchMatchPort,
        Clause::SearchOrderNumber,
        Clause::SearchPaging,
        Clause::SearchStatus,
        Clause::SearchTotal,
    ],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Vec::new()),
};

/// The id of the check that explorations are findings of.
pub const ID: &str = "search.explore.relations";

/// How far an exploration is.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    sent: AtomicU64,
    steps: AtomicU64,
}

impl Exploration {
    /// Most requests unless the tester says otherwise.
    pub const REQUESTS: u64 = 1_000;

    /// The exploration as a case of [`RELATIONS`].
    pub(crate) fn case(self, progress: &Arc<Progress>) -> Case {
        let most = u32::try_from(self.requests).unwrap_or(u32::MAX);
        let progress = Arc::clone(progress);
        Case::from_closure(format!("seed {}", self.seed), Cost::requests(most), move |probe| {
            let progress = Arc::clone(&progress);
            Box::pin(async move { run::explore(probe, self, &progress).await })
        })
    }

    /// What it did.
    pub(crate) fn done(self, progress: &Progress) -> ExplorationResult {
        ExplorationResult {
            seed: self.seed,
            seconds: self.time.as_secs(),
            requests: self.requests,
            sent: progress.sent.load(Ordering::Relaxed),
            steps: progress.steps.load(Ordering::Relaxed),
        }
    }
}
