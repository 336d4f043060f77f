//! Random searches beyond the fixed cases, judged by relations between their results. A violation is reduced to the smallest
//! requests that show it. Only searches are sent, and the same seed sends the same ones to a service with the same responses.

mod draw;
mod run;

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::{Case, Check, Cost, Run};
use crate::checks::apart;
use crate::contract::OperationId;

/// Limits and seed of an exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exploration {
    /// Maximum time.
    pub time: Duration,
    /// Maximum number of requests, in addition to the budget's.
    pub requests: u64,
    /// Seed of the random choices.
    pub seed: u64,
}

/// What an exploration did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplorationResult {
    /// Seed of the random choices.
    pub seed: u64,
    /// Maximum time, in seconds.
    pub seconds: u64,
    /// Maximum number of requests.
    pub requests: u64,
    /// Requests sent.
    pub sent: u64,
    /// Relations tested.
    pub steps: u64,
}

/// The check of explorations. It is not in the registry, because its cases are drawn while it runs.
pub(crate) static RELATIONS: LazyLock<Check> =
    LazyLock::new(|| apart(OperationId::Search, ID, Run::Cases(|_| Vec::new())));

/// The id of the check of explorations.
pub const ID: &str = "search.explore.relations";

impl Exploration {
    /// Default maximum number of requests.
    pub const REQUESTS: u64 = 1_000;

    /// The result before the first step.
    pub(crate) fn begin(self) -> Arc<Mutex<ExplorationResult>> {
        let Self { time, requests, seed } = self;
        Arc::new(Mutex::new(ExplorationResult { seed, seconds: time.as_secs(), requests, sent: 0, steps: 0 }))
    }

    /// The exploration as a case of [`RELATIONS`], which counts its steps.
    pub(crate) fn case(self, result: &Arc<Mutex<ExplorationResult>>) -> Case {
        let max = u32::try_from(self.requests).unwrap_or(u32::MAX);
        let result = Arc::clone(result);
        Case::from_closure(format!("seed {}", self.seed), Cost::requests(max), move |probe| {
            let result = Arc::clone(&result);
            Box::pin(async move { run::explore(probe, self, &result).await })
        })
    }
}
