//! Scenarios: for each operation, what happens to its first requests, to the next ones, and so on.

mod file;
mod play;
mod step;

pub use file::ScenarioError;
pub use play::{Progress, Scenarios};

pub(super) use play::ScenarioServer;

use std::collections::BTreeMap;

use step::Step;

/// The header that selects a scenario: `NAME`, or `NAME/RUN` for a run of it that counts its requests apart from others.
pub const SCENARIO_HEADER: &str = "x-lab-scenario";

/// The scenario of requests without the header, if there is one of this name.
pub const DEFAULT: &str = "default";

/// Steps for the requests of each operation, in their order. After the last step, requests pass unchanged.
#[derive(Debug, Clone, Default)]
struct Scenario {
    /// Seed of its probabilities. Default: 0.
    seed: u64,
    /// Steps by operation, and those of `any`: of requests for which their operation has none left.
    steps: BTreeMap<&'static str, Vec<Step>>,
}
