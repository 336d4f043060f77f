use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use super::CheckResult;
use crate::check::{Outcome, Severity};
use crate::contract::Clause;

/// A clause that is expected to fail until a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedFailure {
    /// The clause.
    pub clause: Clause,
    /// Why the failure is accepted.
    pub reason: String,
    /// The last day on which it is accepted.
    pub until: Date,
}

/// The state of an expected failure after a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Expectation {
    /// The clause.
    pub clause: Clause,
    /// Why the failure was accepted.
    pub reason: String,
    /// The last day on which it is accepted, as a date.
    pub until: String,
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

/// The state of each expected failure after a run.
pub(super) fn expectations(
    results: &[CheckResult],
    expected: &[ExpectedFailure],
    today: Date,
) -> Vec<Expectation> {
    let expectation = |entry: &ExpectedFailure| Expectation {
        clause: entry.clause,
        reason: entry.reason.clone(),
        until: entry.until.to_string(),
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
