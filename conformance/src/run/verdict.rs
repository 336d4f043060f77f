use schemars::JsonSchema;
use serde::Serialize;

use super::{Expectation, ExpectationState, Report, SavedReport, Since, Totals};
use crate::names::names;
use crate::quantity::quantity;

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

impl Report {
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
            .map(|Expectation { clause, until, .. }| format!("{clause} until {until}"))
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
