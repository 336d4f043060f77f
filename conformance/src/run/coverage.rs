use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::CheckResult;
use crate::contract::{Catalogue, Clause};

/// The clauses that a run judged, and the others with the reasons.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Coverage {
    /// Number of clauses that responses can show.
    pub clauses: usize,
    /// Number of those about which at least one check has a result.
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
    /// Coverage of all clauses that responses can show, including those whose checks were not selected.
    pub fn new(results: &[CheckResult], catalogue: &Catalogue) -> Self {
        let observable: BTreeSet<Clause> =
            catalogue.clauses().iter().filter(|clause| clause.observable).map(|clause| clause.id).collect();
        let concluded = results.iter().filter(|result| result.outcome.concluded());
        let judged: BTreeSet<Clause> = concluded.flat_map(|result| result.clauses.iter().copied()).collect();
        let open: BTreeSet<Clause> = observable.difference(&judged).copied().collect();

        let mut reasons: BTreeMap<&str, (BTreeSet<Clause>, usize)> = BTreeMap::new();
        let mut explained: BTreeSet<Clause> = BTreeSet::new();
        for result in results.iter().filter(|result| !result.outcome.concluded()) {
            let Some(reason) = result.outcome.reason() else { continue };
            let clauses = || result.clauses.iter().copied().filter(|clause| open.contains(clause));
            let (known, checks) = reasons.entry(reason).or_default();
            known.extend(clauses());
            explained.extend(clauses());
            *checks += 1;
        }
        let unselected: BTreeSet<Clause> = open.difference(&explained).copied().collect();
        if !unselected.is_empty() {
            reasons.insert(NOT_SELECTED, (unselected, 0));
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

    /// Coverage of a run that did not start, with the reason.
    pub(super) fn none(catalogue: &Catalogue, reason: &str) -> Self {
        let mut coverage = Self::new(&[], catalogue);
        for not_judged in &mut coverage.not_judged {
            reason.clone_into(&mut not_judged.reason);
        }
        coverage
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

const NOT_SELECTED: &str = "none of their checks was selected; see --only, --skip and --profile";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Outcome;
    use crate::checks::registry;
    use crate::contract::Contract;

    fn coverage(outcome: impl Fn(&str) -> Option<Outcome>) -> Coverage {
        let results: Vec<_> = registry()
            .into_iter()
            .filter_map(|check| Some(CheckResult::not_run(check, outcome(check.id)?)))
            .collect();
        Coverage::new(&results, &Contract::embedded().expect("contract").catalogue)
    }

    #[test]
    fn every_clause_is_judged_or_has_a_reason() {
        let all = coverage(|_| Some(Outcome::Passed));
        assert!(all.is_complete() && all.not_judged.is_empty(), "{all:?}");

        let some = coverage(|id| match id.split('.').next() {
            Some("groups") => Some(Outcome::Passed),
            Some("search") => Some(Outcome::Skipped("supply addresses".to_owned())),
            _ => None,
        });
        let explained: BTreeSet<Clause> =
            some.not_judged.iter().flat_map(|reason| reason.clauses.iter().copied()).collect();
        assert_eq!(some.judged + explained.len(), some.clauses);
        assert!(some.not_judged.iter().any(|reason| reason.reason == NOT_SELECTED && reason.checks == 0));
        assert!(
            some.not_judged.iter().any(|reason| reason.reason == "supply addresses" && reason.checks > 9)
        );
    }
}
