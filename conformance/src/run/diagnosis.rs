//! Names the known faults that a service may have: those whose recorded cases agree with the ones that failed in the run.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::CheckResult;
use crate::check::{Finding, Severity};
use crate::contract::Clause;
use crate::detection::{CaseName, Cases, KnownFault, MAX_DETECTORS, Matrix};

const MAX_CAUSES: usize = 3;

/// Maximum number of known faults that are named for one diagnosis, and that may fit: the cases do not tell more of them apart.
const MAX_NAMED: usize = 2;
const MAX_FITTING: usize = 6;

/// Findings with one likely cause: a known fault that the same cases notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The known faults that fit; at most two.
    pub faults: Vec<KnownFault>,
    /// Further known faults that fit as well.
    pub alike: usize,
    /// The failing cases. They agree with those in which each of these faults was noticed before.
    pub cases: usize,
    /// The findings of these cases. Those that cite the clause of the faults come first.
    pub findings: Vec<FindingReference>,
}

/// Identifies a finding of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct FindingReference {
    /// Its check.
    pub check: &'static str,
    /// Its index among the findings of the check, from 0.
    pub finding: usize,
}

/// Cases by the check with the finding, each by its number in the matrix; None stands for those that it does not list.
type CasesByJudge<'a> = BTreeMap<&'a str, BTreeSet<Option<usize>>>;

impl Diagnosis {
    /// The likely causes of the failing cases of a run, the one that explains most of them first. Each finding belongs to at most one.
    pub(super) fn from_results(results: &[CheckResult], ran: &Cases<'_>, matrix: &Matrix) -> Vec<Self> {
        let mut failing = CasesByJudge::new();
        for (judge, check, label) in results.iter().flat_map(CheckResult::failing_cases) {
            // Faults are not recorded with the random cases of an exploration.
            if ran.knows(check, label) {
                failing.entry(judge).or_default().insert(matrix.number(check, label));
            }
        }
        let mut fitting: BTreeMap<(Clause, CasesByJudge<'_>), Vec<&KnownFault>> = BTreeMap::new();
        for fault in matrix.faults() {
            if let Some(cases) = explained(results, fault, &failing, ran, matrix) {
                fitting.entry((fault.clause, cases)).or_default().push(fault);
            }
        }
        // Two checks may judge one case.
        let count =
            |cases: &CasesByJudge<'_>| cases.values().flatten().flatten().collect::<BTreeSet<_>>().len();
        let mut fitting: Vec<_> = fitting.into_iter().collect();
        fitting.sort_by_key(|((_, cases), _)| std::cmp::Reverse(count(cases)));
        let (mut diagnoses, mut taken) = (Vec::new(), BTreeSet::new());
        for ((clause, cases), mut faults) in fitting {
            // The two records have many faults in common, in other words.
            if faults.iter().any(|fault| fault.is_of_lab()) {
                faults.retain(|fault| fault.is_of_lab());
            }
            let mut findings = findings(results, clause, &cases, matrix);
            findings.retain(|(_, reference)| taken.insert(*reference));
            if !findings.is_empty() && faults.len() <= MAX_FITTING {
                let alike = faults.len().saturating_sub(MAX_NAMED);
                let faults = faults.into_iter().take(MAX_NAMED).cloned().collect();
                let findings = findings.into_iter().map(|(_, reference)| reference).collect();
                diagnoses.push(Self { faults, alike, cases: count(&cases), findings });
            }
        }
        diagnoses.truncate(MAX_CAUSES);
        diagnoses
    }
}

/// The failing cases that a fault explains. A recording runs the checks that cite the clause of its fault, and keeps the cheapest cases of
/// each. None when a recorded case ran and did not fail, when one of these checks failed in another case although not all of its cases are
/// kept, or when no finding cites the clause.
fn explained<'a>(
    results: &[CheckResult],
    fault: &KnownFault,
    failing: &CasesByJudge<'a>,
    ran: &Cases<'_>,
    matrix: &Matrix,
) -> Option<CasesByJudge<'a>> {
    let has_failed = |judge: &str, case| failing.get(judge).is_some_and(|cases| cases.contains(&Some(case)));
    // Most faults end here.
    if !fault.noticed_by.iter().any(|detector| has_failed(&detector.judge, detector.case)) {
        return None;
    }
    let mut recorded = CasesByJudge::new();
    for detector in &fault.noticed_by {
        let is_failing = has_failed(&detector.judge, detector.case);
        if !is_failing && ran.has_result(matrix, detector) {
            return None;
        }
        recorded.entry(&*detector.judge).or_default().insert(Some(detector.case));
    }
    let mut explained = CasesByJudge::new();
    for (judge, cases) in failing {
        let cites = || results.iter().any(|it| it.id == *judge && it.clauses.contains(&fault.clause));
        match recorded.get(judge) {
            Some(noticed) if noticed.len() >= MAX_DETECTORS || cases.is_subset(noticed) => {
                explained.insert(*judge, cases.clone());
            }
            None if !cites() => {}
            _ => return None,
        }
    }
    let shown = findings(results, fault.clause, &explained, matrix);
    shown.first().is_some_and(|(is_other, _)| !is_other).then_some(explained)
}

/// The failures of these cases, each with whether it cites another clause; those that cite this one come first.
fn findings(
    results: &[CheckResult],
    clause: Clause,
    cases: &CasesByJudge<'_>,
    matrix: &Matrix,
) -> Vec<(bool, FindingReference)> {
    let mut found = Vec::new();
    for result in results {
        let Some(cases) = cases.get(result.id) else { continue };
        let is_of = |finding: &Finding, case: &CaseName| match finding.seen_in.as_slice() {
            [] => finding.is_of(&case.label),
            seen => seen.iter().any(|(check, label)| **check == *case.check && **label == *case.label),
        };
        for (number, finding) in result.findings.iter().enumerate() {
            let mut named = cases.iter().flatten().map(|case| &matrix.cases()[*case]);
            if finding.severity == Severity::Fail && named.any(|case| is_of(finding, case)) {
                let reference = FindingReference { check: result.id, finding: number };
                found.push((finding.clause != clause, reference));
            }
        }
    }
    found.sort_by_key(|(is_other, _)| *is_other);
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::{CaseResult, Outcome};
    use crate::checks::registry;
    use crate::detection::Detector;

    /// The cases of [`CHECK`] in the matrix; `-` is one that the matrix does not list, and `?` a random one. Capitals are cases of [`OTHER`].
    const LABELS: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
    const CHECK: &str = "search.page.boundaries";
    const OTHER: &str = "search.total.filters";

    fn check_of(label: char) -> &'static str {
        if label.is_uppercase() { OTHER } else { CHECK }
    }

    /// The diagnoses of a run in which these cases failed, with a known fault for each of the lists of labels.
    fn named(known: &[&str], failing: &str, clause: Clause) -> Vec<String> {
        let (mut matrix, mut ran) = (Matrix::default(), Cases::default());
        let labels: Vec<String> = LABELS.chars().chain("A-".chars()).map(String::from).collect();
        for (label, of) in labels.iter().zip(LABELS.chars().chain("A-".chars()).map(check_of)) {
            ran.add(of, label, None);
            if label != "-" {
                matrix.add_case(of, label);
            }
        }
        for id in known {
            let labels = id.trim_start_matches("independent/").split('+').next().unwrap_or_default();
            let detector = |label: char| {
                let (check, label) = (check_of(label), label.to_string());
                Detector { judge: check.into(), case: matrix.add_case(check, &label) }
            };
            let noticed_by = labels.chars().map(detector).collect();
            let clause = if labels == "A" { Clause::SearchTotal } else { Clause::SearchPage };
            let (id, breaks) = ((*id).to_owned(), "Is wrong.".to_owned());
            matrix.add_fault(KnownFault { id, clause, breaks, noticed_by });
        }
        let result = |(of, clause): (&str, Clause)| {
            let check = registry().into_iter().find(|check| check.id == of).expect("the check");
            let mut result = CheckResult::not_run(check, Outcome::Failed);
            for label in failing.chars().filter(|label| check_of(*label) == of).map(String::from) {
                result.cases.push(CaseResult::not_run(&label, Outcome::Failed));
                let finding = json!({"clause": clause.id(), "requirement": "", "expected": "", "actual": "",
                                     "severity": "fail", "exchanges": [], "case": label});
                result.findings.push(serde_json::from_value(finding).expect("a finding"));
            }
            result
        };
        let results = [(CHECK, clause), (OTHER, Clause::SearchTotal)].map(result);
        let found = Diagnosis::from_results(&results, &ran, &matrix);
        let ids = |one: &Diagnosis| one.faults.iter().map(|fault| fault.id.clone() + " ").collect::<String>();
        found.iter().map(|one| format!("{}{}", ids(one), one.alike)).collect()
    }

    #[test]
    fn the_faults_that_fit_are_named_and_others_are_not() {
        let (page, full) = (Clause::SearchPage, &LABELS[..MAX_DETECTORS]);
        for (known, failing, expected) in [
            (&["abc", "abcdef", "e", ""][..], "abc", &["abc 0"][..]),
            (&["abc"], "", &[]),
            // Fewer cases than those of a fault, or others.
            (&["abc"], "ab", &[]),
            (&["abc"], "abcd", &[]),
            (&["abc"], "abc-", &[]),
            (&["abc"], "abc?", &["abc 0"]),
            // Failures beside a full list, of a check of another clause, and of another fault.
            (&[full], LABELS, &[&format!("{full} 0")]),
            (&["abc"], "abcA", &["abc 0"]),
            (&["ab", "A"], "abA", &["ab 0", "A 0"]),
            (&["ab+1", "ab+2", "ab+3"], "ab", &["ab+1 ab+2 1"]),
            (&["ab+1", "ab+2", "ab+3", "ab+4", "ab+5", "ab+6", "ab+7"], "ab", &[]),
            (&["ab", "independent/ab"], "ab", &["ab 0"]),
        ] {
            assert_eq!(named(known, failing, page), expected, "{known:?} {failing}");
        }
        assert!(named(&["abc"], "abc", Clause::SearchTotal).is_empty(), "the findings cite another clause");
    }
}
