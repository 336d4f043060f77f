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
    let concluded = || results.iter().filter(cites).filter(|result| result.outcome.concluded());
    if concluded().next().is_none() {
        return ExpectationState::NotChecked;
    }
    let mut findings = concluded().flat_map(|result| &result.findings);
    let broken = findings.any(|finding| finding.clause == entry.clause && finding.severity == Severity::Fail);
    match (broken, today <= entry.until) {
        (false, _) => ExpectationState::NoLongerFails,
        (true, true) => ExpectationState::Fails,
        (true, false) => ExpectationState::Expired,
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::check::Finding;
    use crate::checks::registry;
    use crate::contract::Contract;

    fn result(clause: Clause, broken: bool) -> CheckResult {
        let check = registry().into_iter().find(|check| check.clauses.contains(&clause)).expect("cited");
        let mut result = CheckResult::not_run(check, if broken { Outcome::Failed } else { Outcome::Passed });
        if broken {
            let catalogue = &Contract::embedded().expect("contract").catalogue;
            let finding = Finding::new(catalogue.clause(clause), None, Severity::Fail, Default::default());
            result.findings.push(finding);
        }
        result
    }

    fn weighed(clause: Clause, broken: bool, today: Date) -> (Outcome, ExpectationState) {
        let until = date(2030, 1, 31);
        let expected = [ExpectedFailure { clause: Clause::GroupsOrder, reason: "ticket 7".into(), until }];
        let mut result = result(clause, broken);
        apply_expectations(&mut result, &expected, today);
        let state = expectations(std::slice::from_ref(&result), &expected, today)[0].state;
        (result.outcome, state)
    }

    #[test]
    fn a_failure_is_expected_up_to_its_last_day_and_no_longer() {
        let (outcome, state) = weighed(Clause::GroupsOrder, true, date(2030, 1, 31));
        assert!(matches!(outcome, Outcome::ExpectedFailure(reason) if reason.contains("ticket 7")));
        assert_eq!(state, ExpectationState::Fails);
        let expired = weighed(Clause::GroupsOrder, true, date(2030, 2, 1));
        assert_eq!(expired, (Outcome::Failed, ExpectationState::Expired));
    }

    #[test]
    fn a_clause_that_no_longer_fails_differs_from_one_that_was_not_checked() {
        let today = date(2030, 1, 1);
        let kept = weighed(Clause::GroupsOrder, false, today);
        assert_eq!(kept, (Outcome::Passed, ExpectationState::NoLongerFails));
        let other = weighed(Clause::SearchTotal, true, today);
        assert_eq!(other, (Outcome::Failed, ExpectationState::NotChecked));
    }
}
