use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use super::{CaseName, Detector, Matrix};
use crate::contract::Clause;

/// How many of the known faults a run would have noticed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Detection {
    /// Known faults of the contract's clauses.
    pub known: usize,
    /// Those that at least one case with a result notices.
    pub noticed: usize,
    /// Detection by clause, sorted by id.
    pub clauses: Vec<ClauseDetection>,
    /// Why the run could not notice others, the reason with the most faults first.
    pub unlocks: Vec<Unlock>,
}

/// How many known faults of a clause a run would have noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClauseDetection {
    /// The clause.
    pub id: Clause,
    /// Known faults.
    pub known: usize,
    /// Noticed ones.
    pub noticed: usize,
    /// The others, in the order of the fault tables: what a passed clause does not rule out.
    pub unnoticed: Vec<UnnoticedFault>,
}

/// A known fault that no case with a result would have noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnnoticedFault {
    /// Its id, for example `search.page/overlapping`.
    pub id: String,
    /// What a service with this fault does wrong, in a sentence.
    pub breaks: String,
}

/// A reason why cases did not run, and how many known faults they would have noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unlock {
    /// Why the cases did not run, and what the tester can do about it.
    pub reason: String,
    /// Known faults that only cases without a result notice, at least one of them for this reason.
    pub faults: usize,
}

/// The cases of a run or a plan, each with the reason if it has no result.
#[derive(Debug, Default)]
pub struct Cases<'a> {
    of_case: HashMap<(&'a str, &'a str), Option<&'a str>>,
    judges: BTreeSet<&'a str>,
}

impl<'a> Cases<'a> {
    /// Adds a case, with the reason if it has no result; or a control request that several cases share, which has a result if one of
    /// them has.
    pub fn add(&mut self, check: &'a str, label: &'a str, without_result: Option<&'a str>) {
        let known = self.of_case.entry((check, label)).or_insert(without_result);
        if without_result.is_none() {
            *known = None;
        }
    }

    pub(crate) fn knows(&self, check: &str, label: &str) -> bool {
        self.of_case.contains_key(&(check, label))
    }

    /// `Some(None)` when a case has a result, `Some(reason)` when it has none; `None` if it was not added.
    fn of_case(&self, CaseName { check, label }: &CaseName) -> Option<Option<&'a str>> {
        self.of_case.get(&(&**check, &**label)).copied()
    }

    fn is_judged(&self, judge: &str, case: &CaseName) -> bool {
        &*case.check == judge || self.judges.contains(judge)
    }

    /// Whether the case of a detector was added with a result, and its judge too.
    pub(crate) fn has_result(&self, matrix: &Matrix, detector: &Detector) -> bool {
        let case = &matrix.cases()[detector.case];
        self.of_case(case) == Some(None) && self.is_judged(&detector.judge, case)
    }

    /// Adds a check whose findings count.
    pub fn add_judge(&mut self, check: &'a str) {
        self.judges.insert(check);
    }
}

impl Detection {
    /// How many known faults the cases notice. A case that is not in the matrix notices none.
    pub fn new(matrix: &Matrix, cases: &Cases<'_>) -> Self {
        let mut clauses: BTreeMap<Clause, ClauseDetection> = BTreeMap::new();
        let mut unlocks: BTreeMap<&str, usize> = BTreeMap::new();
        // Of each case once, since many detectors have it.
        let of_case: Vec<_> = matrix.cases().iter().map(|case| cases.of_case(case)).collect();
        for fault in matrix.faults() {
            let new = || ClauseDetection { id: fault.clause, known: 0, noticed: 0, unnoticed: Vec::new() };
            let clause = clauses.entry(fault.clause).or_insert_with(new);
            clause.known += 1;
            let reasons = fault.noticed_by.iter().filter_map(|Detector { judge, case }| {
                of_case[*case].filter(|_| cases.is_judged(judge, &matrix.cases()[*case]))
            });
            let reasons: Vec<Option<&str>> = reasons.collect();
            if reasons.contains(&None) {
                clause.noticed += 1;
                continue;
            }
            clause.unnoticed.push(UnnoticedFault { id: fault.id.clone(), breaks: fault.breaks.clone() });
            for reason in reasons.into_iter().flatten().collect::<BTreeSet<_>>() {
                *unlocks.entry(reason).or_default() += 1;
            }
        }
        let clauses: Vec<ClauseDetection> = clauses.into_values().collect();
        let unlock = |(reason, faults): (&str, _)| Unlock { reason: reason.to_owned(), faults };
        let mut unlocks: Vec<Unlock> = unlocks.into_iter().map(unlock).collect();
        unlocks.sort_by_key(|unlock| std::cmp::Reverse(unlock.faults));
        Self {
            known: clauses.iter().map(|clause| clause.known).sum(),
            noticed: clauses.iter().map(|clause| clause.noticed).sum(),
            clauses,
            unlocks,
        }
    }

    /// Noticed faults in percent of the known ones, rounded down.
    pub fn percent(&self) -> usize {
        (self.noticed * 100).checked_div(self.known).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detection::KnownFault;

    #[test]
    fn a_fault_is_noticed_by_a_case_with_a_result() {
        let mut matrix = Matrix::default();
        for label in ["one", "two", "three"] {
            matrix.add_case("search.a", label);
        }
        let fault = |id: &str, judge: &str, case| KnownFault {
            id: id.to_owned(),
            clause: Clause::SearchPage,
            breaks: "Is wrong.".to_owned(),
            noticed_by: vec![Detector { judge: judge.into(), case }],
        };
        matrix.add_fault(fault("a", "search.a", 0));
        matrix.add_fault(fault("b", "search.a", 1));
        matrix.add_fault(fault("c", "all.passive", 0));
        matrix.add_fault(fault("d", "search.a", 2));
        matrix.add_fault(KnownFault { noticed_by: Vec::new(), ..fault("e", "", 0) });

        let mut cases = Cases::default();
        cases.add("search.a", "one", None);
        cases.add("search.a", "two", Some("supply addresses"));
        let without = Detection::new(&matrix, &cases);
        assert_eq!((without.known, without.noticed, without.percent()), (5, 1, 20));
        let unnoticed: Vec<&str> =
            without.clauses[0].unnoticed.iter().map(|fault| fault.id.as_str()).collect();
        assert_eq!(unnoticed, ["b", "c", "d", "e"]);
        assert_eq!(without.unlocks, [Unlock { reason: "supply addresses".to_owned(), faults: 1 }]);
        cases.add_judge("all.passive");
        assert_eq!(Detection::new(&matrix, &cases).noticed, 2);
        assert_eq!(Detection::new(&Matrix::default(), &cases).percent(), 0);
    }
}
