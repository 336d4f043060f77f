use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    CheckResult, ClauseSummary, Coverage, Diagnosis, Expectation, ExpectationState, Rerun, SavedReport,
    Since, Totals,
};
use crate::check::{InferredClauses, RunLog};
use crate::contract::Contract;
use crate::detection::Detection;
use crate::explore::ExplorationResult;
use crate::names;
use crate::quantity::quantity;
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
            totals: Totals::from_outcomes(checks.iter().map(|result| &result.outcome)),
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

    /// Sets the verdict, and the sentence that says it.
    pub fn conclude(&mut self, verdict: Verdict) {
        self.verdict = verdict;
        self.conclusion = self.conclusion();
    }

    /// Says what became of the findings of an earlier report, in the sentence of the verdict too.
    pub fn compare_with(&mut self, before: &SavedReport) {
        self.since = Some(Since::new(before, self));
        self.conclude(self.verdict);
    }

    /// Violations that the tester accepts until a date.
    pub fn accepted(&self) -> impl Iterator<Item = &Expectation> {
        self.expectations.iter().filter(|expectation| expectation.state == ExpectationState::Fails)
    }

    /// The verdict with its name first, the accepted violations with their dates, and how much of the contract was judged.
    fn conclusion(&self) -> String {
        let name = self.verdict.words();
        if self.verdict.prevents_testing() {
            return format!("{name}: nothing was judged");
        }
        let violated = self.clauses.iter().filter(|clause| clause.failures > 0).count();
        let mut parts = vec![match self.verdict {
            Verdict::Findings if violated > 0 => format!("{} violated", quantity(violated, "clause")),
            Verdict::Findings => "warnings, which --fail-on-warning counts as failures".to_owned(),
            Verdict::Incomplete if !self.unmet.is_empty() => "a gate was not met".to_owned(),
            Verdict::Incomplete => "no verdict".to_owned(),
            Verdict::Accepted => "no other violation found".to_owned(),
            _ => "no violation found".to_owned(),
        }];
        let accepted: Vec<String> = self
            .accepted()
            .map(|Expectation { expected, .. }| format!("{} until {}", expected.clause, expected.until))
            .collect();
        if !accepted.is_empty() {
            let count = quantity(accepted.len(), "accepted violation");
            let at = usize::from(self.verdict != Verdict::Accepted);
            parts.insert(at, format!("{count} ({})", accepted.join(", ")));
        }
        parts.push(match self.coverage.is_complete() {
            true => format!("all {} judged", quantity(self.coverage.clauses, "clause")),
            false => {
                format!("{} of {} judged", self.coverage.judged, quantity(self.coverage.clauses, "clause"))
            }
        });
        let since = self.since.as_ref().map(|since| format!("; {}", since.words())).unwrap_or_default();
        format!("{name}: {}{since}", parts.join(", "))
    }
}

names! {
    /// The verdict of a run, which decides the exit code of the program.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict {
        /// No violation was found in the clauses that were judged, and at least one check ran.
        Conforms => "conforms",
        /// Clauses are violated, and the tester accepts each of these violations until a date.
        Accepted => "accepted",
        /// At least one clause is violated.
        Findings => "findings",
        /// The target does not respond, or the service behind it does not run.
        Unreachable => "unreachable",
        /// What responds at the base URL is not the API.
        WrongTarget => "wrong-target",
        /// The target rejects the account's token.
        TokenRejected => "token-rejected",
        /// The target accepts the account's token, and rejects each of its extractions.
        AccessDenied => "access-denied",
        /// No violation was found, but the run has no verdict, because a limit was reached, the run was stopped, a check was
        /// inconclusive, flaky or had an error, a gate was not met, or nothing ran.
        #[default]
        Incomplete => "incomplete",
    }
}

impl Verdict {
    /// Exit code of invalid usage or configuration; no run returns it.
    pub const USAGE: u8 = 2;

    /// The exit code of the program.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Conforms | Self::Accepted => 0,
            Self::Findings => 1,
            Self::Unreachable | Self::WrongTarget | Self::TokenRejected | Self::AccessDenied => 3,
            Self::Incomplete => 4,
        }
    }

    /// The verdict where something could not be written: a good one is none then.
    pub const fn if_not_written(self) -> Self {
        match self.exit_code() {
            0 => Self::Incomplete,
            _ => self,
        }
    }

    /// Whether nothing could be tested, so that the run has no checks.
    pub const fn prevents_testing(self) -> bool {
        self.exit_code() == Self::Unreachable.exit_code()
    }

    /// The verdict for these totals; `stopped` is set when the run ended early.
    pub fn from_totals(totals: Totals, stopped: bool) -> Self {
        let Totals { passed, failed, warned, flaky, expected, skipped: _, inconclusive, errors } = totals;
        if failed > 0 {
            Self::Findings
        } else if stopped || flaky + inconclusive + errors > 0 || passed + warned + expected == 0 {
            Self::Incomplete
        } else if expected > 0 {
            Self::Accepted
        } else {
            Self::Conforms
        }
    }

    /// The name in a sentence.
    pub fn words(self) -> String {
        self.name().replace('-', " ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_as_documented() {
        assert_eq!(Verdict::ALL.map(Verdict::exit_code), [0, 0, 1, 3, 3, 3, 3, 4]);
        assert_eq!(Verdict::USAGE, 2);
        let not_written = Verdict::ALL.map(|verdict| verdict.if_not_written().exit_code());
        assert_eq!(not_written, [4, 4, 1, 3, 3, 3, 3, 4]);
    }

    #[test]
    fn only_a_run_with_results_conforms() {
        let none = Totals::default();
        let passed = Totals { passed: 1, ..none };
        for (totals, stopped, verdict) in [
            (passed, false, Verdict::Conforms),
            (Totals { skipped: 9, ..passed }, false, Verdict::Conforms),
            (Totals { warned: 1, ..passed }, false, Verdict::Conforms),
            (Totals { expected: 1, ..none }, false, Verdict::Accepted),
            (Totals { expected: 1, ..passed }, false, Verdict::Accepted),
            (Totals { expected: 1, ..passed }, true, Verdict::Incomplete),
            (Totals { expected: 1, failed: 1, ..passed }, false, Verdict::Findings),
            (passed, true, Verdict::Incomplete),
            (none, false, Verdict::Incomplete),
            (Totals { skipped: 9, ..none }, false, Verdict::Incomplete),
            (Totals { inconclusive: 1, ..passed }, false, Verdict::Incomplete),
            (Totals { errors: 1, ..passed }, false, Verdict::Incomplete),
            (Totals { flaky: 1, ..passed }, false, Verdict::Incomplete),
            (Totals { failed: 1, errors: 1, ..passed }, true, Verdict::Findings),
        ] {
            assert_eq!(Verdict::from_totals(totals, stopped), verdict, "{totals:?}, stopped: {stopped}");
        }
    }
}
