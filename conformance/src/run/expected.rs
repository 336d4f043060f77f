use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use super::CheckResult;
use crate::check::{Outcome, Severity};

/// A clause that the target is known to break, for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedFailure {
    /// The clause.
    pub clause: String,
    /// Why it is put up with.
    pub reason: String,
    /// The last day on which it is.
    pub until: Date,
}

/// What became of an expected failure in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Expectation {
    /// The clause.
    pub clause: String,
    /// Why it was put up with.
    pub reason: String,
    /// The last day on which it is, as a date.
    pub until: String,
    /// How it stands.
    pub state: ExpectationState,
}

/// How an expected failure stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectationState {
    /// The clause is broken, as expected.
    Fails,
    /// The clause is kept now: the entry can go.
    NoLongerFails,
    /// The day has passed, so findings count again.
    Expired,
    /// No check of the clause came to a result.
    NotChecked,
}

/// Turns failures that are expected into what they are, and says how each expectation stands. A check stays a failure
/// when any of its findings cites a clause that is not expected to fail.
pub(super) fn weigh(
    results: &mut [CheckResult],
    expected: &[ExpectedFailure],
    today: Date,
) -> Vec<Expectation> {
    let expectations = expected.iter().map(|entry| Expectation {
        clause: entry.clause.clone(),
        reason: entry.reason.clone(),
        until: entry.until.to_string(),
        state: state(results, entry, today),
    });
    let expectations = expectations.collect();
    for result in results.iter_mut().filter(|result| result.outcome == Outcome::Fail) {
        let failing = result.findings.iter().filter(|finding| finding.severity == Severity::Fail);
        let entries: Option<Vec<&ExpectedFailure>> = failing
            .map(|finding| {
                expected.iter().find(|entry| entry.clause == finding.clause && today <= entry.until)
            })
            .collect();
        if let Some(entry) = entries.as_deref().and_then(<[_]>::first) {
            result.outcome = Outcome::Expected(format!("expected until {}: {}", entry.until, entry.reason));
        }
    }
    expectations
}

fn state(results: &[CheckResult], entry: &ExpectedFailure, today: Date) -> ExpectationState {
    let cites = |result: &&CheckResult| result.clauses.contains(&entry.clause.as_str());
    let mut concluded = results
        .iter()
        .filter(cites)
        .filter(|result| {
            matches!(result.outcome, Outcome::Pass | Outcome::Warn | Outcome::Fail | Outcome::Flaky(_))
        })
        .peekable();
    if concluded.peek().is_none() {
        return ExpectationState::NotChecked;
    }
    let broken = concluded.any(|result| {
        result
            .findings
            .iter()
            .any(|finding| finding.clause == entry.clause && finding.severity == Severity::Fail)
    });
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
    use crate::check::{Finding, registry};

    fn result(clause: &'static str, broken: bool) -> CheckResult {
        let check = registry().into_iter().find(|check| check.clauses.contains(&clause)).expect("cited");
        let mut result = CheckResult::not_run(check, if broken { Outcome::Fail } else { Outcome::Pass });
        if broken {
            result.findings.push(Finding {
                clause: clause.to_owned(),
                requirement: String::new(),
                expected: String::new(),
                actual: String::new(),
                severity: Severity::Fail,
                exchanges: Vec::new(),
            });
        }
        result
    }

    fn weighed(clause: &'static str, broken: bool, today: Date) -> (Outcome, ExpectationState) {
        let until = date(2030, 1, 31);
        let expected = [ExpectedFailure { clause: "groups.order".into(), reason: "ticket 7".into(), until }];
        let mut results = [result(clause, broken)];
        let expectations = weigh(&mut results, &expected, today);
        let [result] = results;
        (result.outcome, expectations[0].state)
    }

    #[test]
    fn a_failure_is_expected_up_to_its_last_day_and_no_longer() {
        let (outcome, state) = weighed("groups.order", true, date(2030, 1, 31));
        assert!(matches!(outcome, Outcome::Expected(reason) if reason.contains("ticket 7")));
        assert_eq!(state, ExpectationState::Fails);
        let expired = weighed("groups.order", true, date(2030, 2, 1));
        assert_eq!(expired, (Outcome::Fail, ExpectationState::Expired));
    }

    #[test]
    fn what_no_longer_fails_and_what_was_not_checked_are_told_apart() {
        let today = date(2030, 1, 1);
        assert_eq!(weighed("groups.order", false, today), (Outcome::Pass, ExpectationState::NoLongerFails));
        assert_eq!(weighed("search.total", true, today), (Outcome::Fail, ExpectationState::NotChecked));
    }
}
