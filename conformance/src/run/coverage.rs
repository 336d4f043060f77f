use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::CheckResult;
use crate::contract::{Catalogue, Clause};
use crate::detection::{Detection, Matrix};

/// The clauses that a run judged, and the others with the reasons.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Coverage {
    /// Number of clauses that responses can show.
    pub clauses: usize,
    /// Number of those that are violated, or about which a check has a result that would have noticed a known fault. For a clause
    /// without known faults, and for a check that was never run against one, any result counts.
    pub judged: usize,
    /// Why the others were not judged, the reason with the most clauses first.
    pub not_judged: Vec<NotJudged>,
}

/// Clauses that were not judged for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotJudged {
    /// Why, and what the tester can do about it.
    pub reason: String,
    /// The clauses, sorted by id. A clause whose checks have different reasons is listed for each of them.
    pub clauses: Vec<Clause>,
    /// Checks without a result for this reason.
    pub checks: usize,
}

impl Coverage {
    /// Coverage of all clauses that responses can show, including those whose checks were not selected. A check may cite several
    /// clauses, and some of its cases may lack a result: without a case that notices a known fault of a clause, its result says
    /// nothing about that clause. `obstructed` says why no check ran at all.
    pub fn new(
        results: &[CheckResult],
        catalogue: &Catalogue,
        detection: &Detection,
        matrix: &Matrix,
        obstructed: Option<&str>,
    ) -> Self {
        let observable: BTreeSet<Clause> = catalogue.observable().map(|clause| clause.id).collect();
        let without_power = detection.clauses.iter().filter(|clause| clause.known > 0 && clause.noticed == 0);
        let without_power: BTreeSet<Clause> = without_power.map(|clause| clause.id).collect();
        let concluded = || results.iter().filter(|result| result.outcome.concluded());
        let cited: BTreeSet<Clause> = concluded().flat_map(|result| result.clauses.iter().copied()).collect();
        let violated = results.iter().flat_map(CheckResult::failures).map(|finding| finding.clause);
        let judged: BTreeSet<Clause> = cited
            .difference(&without_power)
            .copied()
            .chain(violated)
            .chain(unrecorded(concluded(), matrix))
            .collect();
        let open: BTreeSet<Clause> = observable.difference(&judged).copied().collect();

        let mut reasons: BTreeMap<&str, (BTreeSet<Clause>, usize)> = BTreeMap::new();
        for result in results.iter().filter(|result| !result.outcome.concluded()) {
            let clauses = || result.clauses.iter().copied().filter(|clause| open.contains(clause));
            for reason in result.reasons() {
                let (known, checks) = reasons.entry(reason).or_default();
                known.extend(clauses());
                *checks += 1;
            }
        }
        let explained: BTreeSet<Clause> =
            reasons.values().flat_map(|(clauses, _)| clauses.iter().copied()).collect();
        for clause in open.difference(&explained) {
            let is_cited = cited.contains(clause);
            let reason = if is_cited { WITHOUT_POWER } else { obstructed.unwrap_or(NOT_SELECTED) };
            reasons.entry(reason).or_default().0.insert(*clause);
        }
        let mut not_judged: Vec<NotJudged> = reasons
            .into_iter()
            .map(|(reason, (clauses, checks))| NotJudged {
                reason: reason.to_owned(),
                clauses: clauses.into_iter().collect(),
                checks,
            })
            .collect();
        not_judged.sort_by_key(|reason| std::cmp::Reverse((reason.clauses.len(), reason.checks)));
        Self { clauses: observable.len(), judged: observable.len() - open.len(), not_judged }
    }

    /// Clauses that were not judged, sorted by id.
    pub fn open(&self) -> impl Iterator<Item = Clause> {
        let open: BTreeSet<Clause> =
            self.not_judged.iter().flat_map(|reason| reason.clauses.iter().copied()).collect();
        open.into_iter()
    }

    /// Whether every clause that responses can show was judged.
    pub const fn is_complete(&self) -> bool {
        self.judged == self.clauses
    }
}

/// Clauses with a result that no record covers: of a check of the caller's own, or of a case that depends on the supplied data.
fn unrecorded<'a>(
    concluded: impl Iterator<Item = &'a CheckResult>,
    matrix: &'a Matrix,
) -> impl Iterator<Item = Clause> {
    concluded.flat_map(|result| {
        let cited: &[Clause] = if matrix.knows(result.id) { &[] } else { result.clauses };
        let cases = result.cases.iter().filter(|case| case.outcome.concluded());
        cases.flat_map(|case| cited.iter().copied().chain(case.clause))
    })
}

const WITHOUT_POWER: &str = "no case with a result can notice a known fault of such a clause; run more checks, supply more facts, or raise the limits";

const NOT_SELECTED: &str = "no selected check is about this; see --only, --skip and --profile";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{CaseResult, Check, Outcome};
    use crate::checks::registry;
    use crate::contract::{Contract, OperationId};
    use crate::detection::ClauseDetection;

    fn results(outcome: impl Fn(&Check) -> Option<Outcome>) -> Vec<CheckResult> {
        let registry = registry().into_iter();
        registry.filter_map(|check| Some(CheckResult::not_run(check, outcome(check)?))).collect()
    }

    fn of(results: &[CheckResult], detection: &Detection) -> Coverage {
        let matrix = Matrix::embedded().expect("the matrix");
        Coverage::new(results, &Contract::embedded().expect("contract").catalogue, detection, matrix, None)
    }

    #[test]
    fn a_clause_is_not_judged_if_no_case_with_a_result_notices_a_fault_of_it() {
        let results = results(|check| check.clauses.contains(&Clause::SearchCity).then_some(Outcome::Passed));
        let of_city = |noticed| {
            let clause = ClauseDetection { id: Clause::SearchCity, known: 2, noticed, unnoticed: Vec::new() };
            of(&results, &Detection { clauses: vec![clause], ..Detection::default() })
        };
        let is_open = |coverage: &Coverage| coverage.open().any(|clause| clause == Clause::SearchCity);
        assert!(is_open(&of_city(0)) && !is_open(&of_city(1)));
        assert_eq!(of_city(0).judged + 1, of_city(1).judged);
        let reason = of_city(0).not_judged.into_iter().find(|why| why.clauses == [Clause::SearchCity]);
        assert_eq!(reason.map(|why| why.reason).as_deref(), Some(WITHOUT_POWER));
    }

    /// No fault was ever tried on these, so nothing says that they would have noticed none.
    #[test]
    fn a_check_or_a_case_without_a_record_judges_what_it_is_about() {
        let id = "extract.whitelist.rejected-tokens";
        let [rejected] = &*results(|check| (check.id == id).then_some(Outcome::Passed)) else {
            panic!("{id}")
        };
        let clause = |id| ClauseDetection { id, known: 2, noticed: 0, unnoticed: Vec::new() };
        let clauses = [Clause::SearchCity, Clause::ExtractRealName, Clause::ExtractEntitlement].map(clause);
        let detection = Detection { clauses: clauses.into(), ..Detection::default() };
        let case = CaseResult::not_run("not-verified 2/json", Outcome::Passed);
        let case = CaseResult { clause: Some(Clause::ExtractRealName), ..case };
        let results = [
            CheckResult {
                id: "own.search",
                clauses: &[Clause::SearchCity],
                cases: vec![CaseResult { clause: None, ..case.clone() }],
                ..rejected.clone()
            },
            CheckResult { cases: vec![case], ..rejected.clone() },
        ];
        let open: Vec<_> = of(&results, &detection).open().collect();
        assert!(!open.contains(&Clause::SearchCity) && !open.contains(&Clause::ExtractRealName));
        assert!(open.contains(&Clause::ExtractEntitlement));
    }

    #[test]
    fn every_clause_is_judged_or_has_a_reason() {
        let coverage = |results: Vec<CheckResult>| of(&results, &Detection::default());
        let all = coverage(results(|_| Some(Outcome::Passed)));
        assert!(all.is_complete() && all.not_judged.is_empty(), "{all:?}");

        let some = coverage(results(|check| match check.operation? {
            OperationId::Groups => Some(Outcome::Passed),
            OperationId::Search => Some(Outcome::Skipped("supply addresses".to_owned())),
            _ => None,
        }));
        let explained: BTreeSet<Clause> =
            some.not_judged.iter().flat_map(|reason| reason.clauses.iter().copied()).collect();
        assert_eq!(some.judged + explained.len(), some.clauses);
        assert!(some.not_judged.iter().any(|reason| reason.reason == NOT_SELECTED && reason.checks == 0));
        assert!(
            some.not_judged.iter().any(|reason| reason.reason == "supply addresses" && reason.checks > 9)
        );
    }
}
