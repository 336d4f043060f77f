//! What decides beside findings whether a run conforms: gates, and failures that the tester expects.

use clap::Args;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use super::{CheckResult, Coverage, Glob, Unresolved};
use crate::check::{Outcome, Severity};
use crate::contract::{Clause, Contract};
use crate::detection::Detection;
use crate::quantity::integer;

/// Requirements that a run must meet to conform: arguments, and keys of `[gates]`. Without gates a run without findings conforms.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(
    next_help_heading = "Gates (a run that does not meet one ends without a verdict, with exit code 4)"
)]
pub struct Gates {
    /// Require that every clause that matches is judged, for example `search.*`; may be repeated.
    #[arg(long, value_name = "CLAUSE-GLOB")]
    pub require: Vec<Glob>,
    /// Require that at least N clauses are judged, for example 50.
    #[arg(long, value_name = "N", value_parser = clauses)]
    pub min_clauses: Option<usize>,
    /// Require that the run would have noticed at least this share of the known faults, for example 80.
    #[arg(long, value_name = "PERCENT", value_parser = integer::<u8>(1..=100))]
    pub min_detection: Option<u8>,
    /// Require that no check and no case is skipped.
    #[arg(long)]
    pub fail_on_skip: bool,
    /// Treat warnings as failures (exit code 1).
    #[arg(long)]
    pub fail_on_warning: bool,
}

fn clauses(text: &str) -> Result<usize, String> {
    let max = Contract::embedded().map_err(|error| error.to_string())?.catalogue.observable().count();
    integer(1..=max as u64)(text)
}

impl Gates {
    /// These gates where they are given, and those of `under` where they are not.
    #[must_use]
    pub fn over(&self, under: Self) -> Self {
        Self {
            require: if self.require.is_empty() { under.require } else { self.require.clone() },
            min_clauses: self.min_clauses.or(under.min_clauses),
            min_detection: self.min_detection.or(under.min_detection),
            fail_on_skip: self.fail_on_skip || under.fail_on_skip,
            fail_on_warning: self.fail_on_warning || under.fail_on_warning,
        }
    }

    /// The requirements that the run does not meet, one sentence each, without warnings, which fail it; what was skipped by reason.
    pub(super) fn unmet(
        &self,
        results: &[CheckResult],
        coverage: &Coverage,
        detection: &Detection,
        expectations: &[Expectation],
    ) -> Vec<String> {
        let mut unmet = Vec::new();
        let not_judged: Vec<Clause> = coverage.open().collect();
        for glob in &self.require {
            let open: Vec<&str> =
                not_judged.iter().map(|clause| clause.id()).filter(|clause| glob.matches(clause)).collect();
            if !open.is_empty() {
                unmet.push(format!("--require {}: {} not judged", glob.as_str(), open.join(", ")));
            }
        }
        if let Some(min) = self.min_clauses.filter(|min| coverage.judged < *min) {
            unmet.push(format!("--min-clauses {min}: {} judged", coverage.judged));
        }
        let percent = detection.percent();
        if let Some(min) = self.min_detection.filter(|min| percent < usize::from(*min)) {
            unmet.push(format!(
                "--min-detection {min}: the run would have noticed {percent} % of the known faults"
            ));
        }
        if self.fail_on_skip {
            let skips = Unresolved::skipped(results);
            unmet.extend(skips.iter().map(|skips| format!("--fail-on-skip: {}", skips.line())));
        }
        let stale = expectations.iter().filter(|entry| entry.state == ExpectationState::NoLongerFails);
        for clause in stale.map(|entry| entry.expected.clause).filter(|id| is_fully_judged(results, *id)) {
            unmet.push(format!(
                "{clause} no longer fails; remove its [[expected-failure]] from the configuration"
            ));
        }
        unmet
    }
}

/// Whether every case of every check that cites a clause has a result. Only then is the clause known to hold.
fn is_fully_judged(results: &[CheckResult], clause: Clause) -> bool {
    let mut citing = results.iter().filter(|result| result.clauses.contains(&clause));
    citing
        .all(|result| result.outcome.concluded() && result.cases.iter().all(|case| case.outcome.concluded()))
}

/// A clause that is expected to fail until a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExpectedFailure {
    /// The clause.
    pub clause: Clause,
    /// Why the failure was accepted.
    pub reason: String,
    /// The last day on which it is accepted, as a date.
    #[schemars(with = "String")]
    pub until: Date,
}

/// The state of an expected failure after a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Expectation {
    /// The expected failure.
    #[serde(flatten)]
    pub expected: ExpectedFailure,
    /// Its state.
    pub state: ExpectationState,
}

/// The state of an expected failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectationState {
    /// The clause is violated, as expected.
    Fails,
    /// The clause is kept now; the entry can be removed.
    NoLongerFails,
    /// The day has passed, so findings count again.
    Expired,
    /// No check of the clause has a result.
    NotChecked,
}

/// Turns a failure into an expected failure, unless a finding cites a clause that is not, or no longer, expected to fail.
pub(super) fn apply_expectations(result: &mut CheckResult, expected: &[ExpectedFailure], today: Date) {
    if result.outcome != Outcome::Failed {
        return;
    }
    let entry = |clause: Clause| expected.iter().find(|entry| entry.clause == clause && today <= entry.until);
    let entries: Option<Vec<_>> = result.failures().map(|finding| entry(finding.clause)).collect();
    if let Some(entry) = entries.as_deref().and_then(<[_]>::first) {
        result.outcome =
            Outcome::ExpectedFailure(format!("expected until {}: {}", entry.until, entry.reason));
    }
}

pub(super) fn expectations(
    results: &[CheckResult],
    expected: &[ExpectedFailure],
    today: Date,
) -> Vec<Expectation> {
    let expectation = |entry: &ExpectedFailure| Expectation {
        expected: entry.clone(),
        state: state(results, entry, today),
    };
    expected.iter().map(expectation).collect()
}

fn state(results: &[CheckResult], entry: &ExpectedFailure, today: Date) -> ExpectationState {
    let cites = |result: &&CheckResult| result.clauses.contains(&entry.clause);
    let mut concluded = results.iter().filter(cites).filter(|result| result.outcome.concluded()).peekable();
    let is_checked = concluded.peek().is_some();
    let mut findings = concluded.flat_map(|result| &result.findings);
    let broken = findings.any(|finding| finding.clause == entry.clause && finding.severity == Severity::Fail);
    match (broken, today <= entry.until) {
        _ if !is_checked => ExpectationState::NotChecked,
        (false, _) => ExpectationState::NoLongerFails,
        (true, true) => ExpectationState::Fails,
        (true, false) => ExpectationState::Expired,
    }
}
