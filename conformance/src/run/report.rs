use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::{CheckResult, ClauseSummary, Coverage, Diagnosis, Expectation, Rerun, Since, Totals, Verdict};
use crate::check::{InferredClauses, RunLog};
use crate::contract::Contract;
use crate::detection::Detection;
use crate::explore::ExplorationResult;
use crate::target::DiscoveredFact;
use crate::wire::{Budget, Throttling, Usage};

/// The complete result of a run, redacted.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Report {
    /// Version of this format.
    pub schema_version: u32,
    /// Name and version of the suite.
    pub suite: String,
    /// The base URL.
    pub target: String,
    /// Name and version of the tested implementation, as supplied by the tester.
    pub implementation: Option<String>,
    /// Options of curl for the way to the target, which its commands in reports have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub curl_options: Vec<String>,
    /// Version of the contract.
    pub contract: String,
    /// SHA-256 of the contract's document (`openapi/openapi.yaml`), in hexadecimal digits.
    pub contract_sha256: String,
    /// Id of the run, which each of its requests carries in `User-Agent`.
    pub run: String,
    /// Start of the run, RFC 3339.
    pub begun: String,
    /// In milliseconds.
    pub elapsed_ms: u64,
    /// Milliseconds in which the checks themselves were busy, apart from waiting for the target.
    pub busy_ms: u64,
    /// The profile of the run.
    pub profile: &'static str,
    /// The limits of the run.
    pub budget: Budget,
    /// Severity of findings on inferred clauses.
    pub inferred: InferredClauses,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict in the words of every report, with the accepted violations and their dates.
    pub conclusion: String,
    /// Why the target could not be tested, or why the run ended early.
    pub stopped: Option<String>,
    /// Number of checks by outcome.
    pub totals: Totals,
    /// What the run used.
    pub usage: Usage,
    /// Whether the target throttled, and what the suite did about it.
    pub throttling: Throttling,
    /// How often the command of the token gave another one because the service rejected the last.
    pub token_renewals: u64,
    /// Facts that the tester did not supply and the run found out by itself.
    pub discovered: Vec<DiscoveredFact>,
    /// Inconclusive checks that were run again at the end, alone.
    pub run_again: Rerun,
    /// The exploration beyond the fixed cases, if one was requested.
    pub explored: Option<ExplorationResult>,
    /// The state of each expected failure, in the order of the configuration.
    pub expectations: Vec<Expectation>,
    /// The clauses that were judged, and the others with the reasons.
    pub coverage: Coverage,
    /// How many known faults the run would have noticed.
    pub detection: Detection,
    /// The known faults that explain the failing cases, the one with the most evidence first.
    pub diagnosis: Vec<Diagnosis>,
    /// Gates that are not met; the run has no verdict then.
    pub unmet: Vec<String>,
    /// What became of the findings of an earlier report, if the run was compared with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default)]
    pub since: Option<Since>,
    /// Each check, sorted by id.
    pub checks: Vec<CheckResult>,
    /// Each clause that a selected check cites, sorted by id.
    pub clauses: Vec<ClauseSummary>,
    /// Every exchange of the checks, if [`Options::keep_exchanges`](super::Options::keep_exchanges) was set.
    #[serde(skip)]
    pub log: RunLog,
}

impl Report {
    /// Version of the JSON report; it increases with incompatible changes.
    pub const VERSION: u32 = 2;

    /// Replaces the profile in a report on recorded traffic, for which nothing was sent.
    pub const RECORDED: &'static str = "recorded";

    /// A report of these results, for which nothing was sent.
    pub(crate) fn recorded(
        contract: &Contract,
        target: String,
        checks: Vec<CheckResult>,
        clauses: Vec<ClauseSummary>,
        coverage: Coverage,
    ) -> Self {
        let budget =
            Budget { requests: 0, gateways: 0, bytes: 0, wall: Duration::ZERO, rate: None, concurrency: 1 };
        Self {
            schema_version: Self::VERSION,
            suite: concat!("sallyport-conformance ", env!("CARGO_PKG_VERSION")).to_owned(),
            target,
            contract: contract.version.clone(),
            contract_sha256: contract.sha256.clone(),
            profile: Self::RECORDED,
            budget,
            totals: Totals::from_results(&checks),
            coverage,
            checks,
            clauses,
            ..Self::default()
        }
    }

    /// The failing cases: the check with the finding, then check and label of the case that shows it, of another check for passive ones.
    pub fn failing_cases(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.checks.iter().flat_map(CheckResult::failing_cases)
    }
}
