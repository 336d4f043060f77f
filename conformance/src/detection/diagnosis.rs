//! Finds the known faults that explain the failing cases of a run.
//!
//! The matrix contains, for each fault, which cases failed when it was recorded. A recording only runs the checks that cite the
//! fault's clause, so nothing is known about other checks, and it keeps only the cheapest cases of each check. Compared with a
//! fault, the cases of a run are therefore:
//!
//! - **agreeing**: failing cases that also failed in the recording, and failing cases of a check whose list is full;
//! - **missed**: cases that failed in the recording and had a result in the run without failing;
//! - **contradicting**: failing cases that did not fail in the recording, although it ran their check and its list is not full;
//! - **unknown**: failing cases of checks that the recording did not run. They are evidence neither for nor against the fault.
//!
//! The *precision* of a fault is the share of agreeing cases among those that agree or contradict. Its *recall* is the share of
//! cases agreeing by name among those and the missed ones. A fault is only named when both are at least [`MIN_FIT`], and when a
//! finding cites its clause in the cases of a check that cites it: if the responses violate other clauses only, it is not the
//! cause. The faults are ordered by
//! `agreeing / (agreeing + missed + contradicting + unknown / 4)`: of two faults that fit, the one that explains more
//! failures is more likely. At most three are named, each of which explains at least half of the cases of the first one, with the
//! number of others that fit as well as the last; if that is more than [`MAX_ALIKE`], nothing is named. The cases that the first
//! fault explains are then removed and the rest is diagnosed in the same way, since a service can have several faults. No fault is
//! named twice, none with missed cases beside one without, and none that another record describes where one of the lab fits as well
//! and breaks the same clause: the two records have many faults in common, in other words.

use std::collections::{BTreeMap, BTreeSet};

use super::power::Results;
use super::{Cases, KnownFault, MAX_DETECTORS, Matrix};
use crate::contract::Clause;

/// Minimum precision and recall of a fault that is named.
pub const MIN_FIT: f64 = 0.8;

/// Maximum number of faults that are named for one cause, and of causes.
const MAX_SUSPECTS: usize = 3;
const MAX_CAUSES: usize = 3;

/// Maximum number of further faults that fit as well as those that are named. If there are more, the failing cases do not
/// distinguish the faults.
const MAX_ALIKE: usize = 3;

/// Weight of a failing case against a fault in whose recording its check did not run.
const UNKNOWN: f64 = 0.25;

/// A failing case, and the check with the finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailingCase<'a> {
    /// The check with the finding; it differs from the case's only for passive checks.
    pub judge: &'a str,
    /// The check whose case it is.
    pub check: &'a str,
    /// The label of the case.
    pub label: &'a str,
}

/// Failing cases with one cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause<'a> {
    /// The known faults that explain them, the most likely one first.
    pub suspects: Vec<Suspect<'a>>,
    /// Number of further known faults that fit as well as the last suspect.
    pub alike: usize,
    /// The cases that agree with the first fault.
    pub cases: BTreeSet<FailingCase<'a>>,
}

/// A known fault, and how well it fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suspect<'a> {
    /// The fault.
    pub fault: &'a KnownFault,
    /// Failing cases that agree with it.
    pub agreeing: usize,
    /// Failing cases that contradict it.
    pub contradicting: usize,
    /// Cases that failed in its recording and did not fail in the run.
    pub missed: usize,
    /// Cases that failed in its recording and in the run.
    hits: usize,
    /// Failing cases of checks that its recording did not run.
    unknown: usize,
}

/// Finds the likely causes of the failing cases of a run. `cites` says whether a check cites a clause, and `shows` whether a finding
/// of a case does.
pub fn diagnose<'a>(
    matrix: &'a Matrix,
    ran: &Cases<'_>,
    failing: impl IntoIterator<Item = FailingCase<'a>>,
    cites: impl Fn(&str, Clause) -> bool,
    shows: impl Fn(&FailingCase<'_>, Clause) -> bool,
) -> Vec<Cause<'a>> {
    // Faults are not recorded with the random cases of an exploration.
    let known = failing.into_iter().filter(|case| ran.knows(case.check, case.label));
    let mut failing: BTreeSet<FailingCase<'a>> = known.collect();
    let results = ran.results(matrix);
    let mut causes = Vec::new();
    let mut named = BTreeSet::new();
    while causes.len() < MAX_CAUSES && !failing.is_empty() {
        // Most faults fit none of the failing cases, which is seen at once.
        let numbers: BTreeSet<_> =
            failing.iter().filter_map(|case| matrix.number(case.check, case.label)).collect();
        let may_fit = |fault: &&KnownFault| {
            !named.contains(&fault.id) && fault.noticed_by.iter().any(|notice| numbers.contains(&notice.case))
        };
        let recordings = matrix.faults().iter().filter(may_fit).map(|fault| Recording::new(matrix, fault));
        let mut suspects: Vec<(Suspect<'a>, Recording<'a>)> = recordings
            .map(|recording| (recording.suspect(matrix, &results, &failing, &cites), recording))
            .filter(|(suspect, recording)| suspect.fits() && recording.is_shown(&failing, &cites, &shows))
            .collect();
        suspects.sort_by(|(one, _), (other, _)| {
            let ids = || one.fault.id.cmp(&other.fault.id);
            other.score().total_cmp(&one.score()).then_with(ids)
        });
        let Some((_, first)) = suspects.first() else { break };
        let cases: BTreeSet<_> =
            failing.iter().copied().filter(|case| first.agrees(case) == Some(true)).collect();
        // A fault that explains other cases is another cause.
        let shared = |recording: &Recording<'_>| {
            cases.iter().filter(|case| recording.agrees(case) == Some(true)).count()
        };
        let first_missed = suspects.first().map_or(0, |(suspect, _)| suspect.missed);
        suspects.retain(|(suspect, recording)| {
            2 * shared(recording) >= cases.len() && (first_missed > 0 || suspect.missed == 0)
        });
        let last = suspects.get(MAX_SUSPECTS - 1).map(|(suspect, _)| suspect.score());
        let rest = suspects.iter().skip(MAX_SUSPECTS);
        let alike = rest.filter(|(suspect, _)| Some(suspect.score()) == last).count();
        failing = failing.difference(&cases).copied().collect();
        if alike > MAX_ALIKE {
            continue;
        }
        let suspects: Vec<_> = suspects.into_iter().map(|(suspect, _)| suspect).collect();
        let is_described = |suspect: &Suspect<'_>| {
            let mut better = suspects.iter().filter(|of_lab| of_lab.score() >= suspect.score());
            !suspect.fault.is_of_lab()
                && better.any(|other| other.fault.is_of_lab() && other.fault.clause == suspect.fault.clause)
        };
        let shown = suspects.iter().filter(|suspect| !is_described(suspect)).take(MAX_SUSPECTS);
        let suspects: Vec<_> = shown.copied().collect();
        named.extend(suspects.iter().map(|suspect| suspect.fault.id.clone()));
        causes.push(Cause { suspects, alike, cases });
    }
    causes
}

/// The cases that noticed a fault, by the check with the finding.
struct Recording<'a> {
    fault: &'a KnownFault,
    of_judge: BTreeMap<&'a str, BTreeSet<(&'a str, &'a str)>>,
}

impl<'a> Recording<'a> {
    fn new(matrix: &'a Matrix, fault: &'a KnownFault) -> Self {
        let mut of_judge: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
        for notice in &fault.noticed_by {
            let name = &matrix.cases()[notice.case];
            of_judge.entry(&notice.judge).or_default().insert((&name.check, &name.label));
        }
        Self { fault, of_judge }
    }

    /// Whether a failing case agrees with the recording; none when that has no findings of its judge.
    fn agrees(&self, case: &FailingCase<'_>) -> Option<bool> {
        let recorded = self.of_judge.get(case.judge)?;
        Some(recorded.contains(&(case.check, case.label)) || recorded.len() >= MAX_DETECTORS)
    }

    /// Whether a finding cites the clause of the fault, in the cases that agree and whose judge cites it. True when there is no such
    /// case.
    fn is_shown(
        &self,
        failing: &BTreeSet<FailingCase<'_>>,
        cites: &impl Fn(&str, Clause) -> bool,
        shows: &impl Fn(&FailingCase<'_>, Clause) -> bool,
    ) -> bool {
        let clause = self.fault.clause;
        let agrees = |case: &&FailingCase<'_>| self.agrees(case) == Some(true) && cites(case.judge, clause);
        let mut agreeing = failing.iter().filter(agrees).peekable();
        agreeing.peek().is_none() || agreeing.any(|case| shows(case, clause))
    }

    fn suspect(
        &self,
        matrix: &Matrix,
        results: &Results<'_, '_>,
        failing: &BTreeSet<FailingCase<'_>>,
        cites: &impl Fn(&str, Clause) -> bool,
    ) -> Suspect<'a> {
        let Self { fault, of_judge } = self;
        let mut suspect = Suspect { fault, agreeing: 0, contradicting: 0, missed: 0, hits: 0, unknown: 0 };
        for case in failing {
            match self.agrees(case) {
                Some(true) => suspect.agreeing += 1,
                Some(false) => suspect.contradicting += 1,
                None if cites(case.judge, fault.clause) => suspect.contradicting += 1,
                None => suspect.unknown += 1,
            }
        }
        for notice in fault.noticed_by.iter().filter(|notice| results.has(matrix, notice)) {
            let name = &matrix.cases()[notice.case];
            let case = FailingCase { judge: &notice.judge, check: &name.check, label: &name.label };
            match failing.contains(&case) {
                true => suspect.hits += 1,
                false => suspect.missed += 1,
            }
        }
        debug_assert!(suspect.hits <= suspect.agreeing || of_judge.is_empty());
        suspect
    }
}

impl Suspect<'_> {
    fn fits(&self) -> bool {
        self.hits > 0
            && ratio(self.agreeing, self.contradicting) >= MIN_FIT
            && ratio(self.hits, self.missed) >= MIN_FIT
    }

    fn score(&self) -> f64 {
        let Self { agreeing, contradicting, missed, unknown, .. } = *self;
        let all = (agreeing + contradicting + missed) as f64 + unknown as f64 * UNKNOWN;
        agreeing as f64 / all
    }
}

fn ratio(part: usize, rest: usize) -> f64 {
    part as f64 / (part + rest) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detection::Detector;

    const LABELS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

    /// A fault for each list of labels of the check `search.page.x`, with the concatenated labels as its id.
    fn matrix(faults: &[&[&'static str]]) -> Matrix {
        let mut matrix = Matrix::default();
        for noticed in faults {
            let notices = noticed.iter().map(|label| Detector {
                judge: "search.page.x".into(),
                case: matrix.add_case("search.page.x", label),
            });
            let noticed_by = notices.collect();
            let (id, breaks) = (noticed.concat(), "Is wrong.".to_owned());
            matrix.add_fault(KnownFault { id, clause: Clause::SearchPage, breaks, noticed_by });
        }
        matrix
    }

    fn causes<'a>(matrix: &'a Matrix, failing: &[(&'a str, &'a str)]) -> Vec<Cause<'a>> {
        causes_by(matrix, failing, true)
    }

    fn causes_by<'a>(matrix: &'a Matrix, failing: &[(&'a str, &'a str)], is_cited: bool) -> Vec<Cause<'a>> {
        let mut ran = Cases::default();
        LABELS.iter().for_each(|label| ran.add("search.page.x", label, None));
        ["search.page.y", "search.total.x"].iter().for_each(|check| ran.add(check, "a", None));
        let failing = failing.iter().map(|(check, label)| FailingCase { judge: check, check, label });
        let cites = |judge: &str, clause| judge.starts_with("search.page.") && clause == Clause::SearchPage;
        diagnose(matrix, &ran, failing, cites, |_, _| is_cited)
    }

    fn named(causes: &[Cause<'_>]) -> Vec<Vec<String>> {
        let ids = |cause: &Cause<'_>| cause.suspects.iter().map(|one| one.fault.id.clone()).collect();
        causes.iter().map(ids).collect()
    }

    fn of_x(labels: &[&'static str]) -> Vec<(&'static str, &'static str)> {
        labels.iter().map(|label| ("search.page.x", *label)).collect()
    }

    #[test]
    fn the_fault_that_fits_is_named_and_others_are_not() {
        let matrix = matrix(&[&["a", "b", "c"], &["a", "b", "c", "d", "e", "f"], &["e"], &[]]);
        let found = causes(&matrix, &of_x(&["a", "b", "c"]));
        assert_eq!(named(&found), [["abc"]]);
        assert_eq!((found[0].suspects[0].agreeing, found[0].cases.len(), found[0].alike), (3, 3, 0));
        assert_eq!(named(&causes(&matrix, &[])), Vec::<Vec<String>>::new());
        assert!(causes_by(&matrix, &of_x(&["a", "b", "c"]), false).is_empty());
        // Neither half of the cases of a fault nor twice as many fit it.
        assert!(causes(&matrix, &of_x(&["a", "d"])).is_empty());
        // The other check cites the clause too, and was in the recording without failing.
        assert!(causes(&matrix, &[("search.page.x", "e"), ("search.page.y", "a")]).is_empty());
    }

    #[test]
    fn checks_of_other_clauses_are_no_evidence() {
        let matrix = matrix(&[&["a", "b", "c"]]);
        let failing = [of_x(&["a", "b", "c"]), vec![("search.total.x", "a"); 1]].concat();
        let found = causes(&matrix, &failing);
        assert_eq!(named(&found), [["abc"]]);
        assert!(found[0].cases.iter().all(|case| case.judge == "search.page.x"));
    }

    #[test]
    fn two_faults_are_two_causes_and_ties_are_counted() {
        let mut two = matrix(&[&["a", "b"]]);
        let case = two.add_case("search.total.x", "a");
        for id in ["1", "2", "3", "4", "5"] {
            two.add_fault(KnownFault {
                id: id.to_owned(),
                clause: Clause::SearchTotal,
                breaks: "Counts wrongly.".to_owned(),
                noticed_by: vec![Detector { judge: "search.total.x".into(), case }],
            });
        }
        let failing = [of_x(&["a", "b"]), vec![("search.total.x", "a")]].concat();
        let found = causes(&two, &failing);
        assert_eq!(named(&found), [vec!["ab"], vec!["1", "2", "3"]]);
        assert_eq!((found[0].alike, found[1].alike), (0, 2));
    }

    #[test]
    fn a_fault_is_named_once_in_the_words_of_the_lab() {
        let mut known = matrix(&[&["a", "b", "c", "d"], &["a", "b", "c", "d", "e"]]);
        let fault = known.faults()[0].clone();
        known.add_fault(KnownFault { id: "independent/abcd".to_owned(), ..fault });
        assert_eq!(named(&causes(&known, &of_x(&["a", "b", "c", "d"]))), [["abcd"]]);
        let more = causes(&known, &of_x(&["a", "b", "c", "d", "e"]));
        assert_eq!(named(&more), [["abcde", "abcd"]]);
    }

    #[test]
    fn further_cases_do_not_contradict_a_full_list() {
        let labels: Vec<String> = (0..MAX_DETECTORS).map(|number| format!("{number:02}")).collect();
        let further: Vec<String> = (0..60).map(|number| format!("further {number}")).collect();
        let mut matrix = Matrix::default();
        let mut ran = Cases::default();
        further.iter().for_each(|label| ran.add("search.page.x", label, None));
        let noticed_by = labels.iter().map(|label| {
            ran.add("search.page.x", label, None);
            Detector { judge: "search.page.x".into(), case: matrix.add_case("search.page.x", label) }
        });
        let noticed_by = noticed_by.collect();
        let (id, breaks) = ("all".to_owned(), "Rejects everything.".to_owned());
        matrix.add_fault(KnownFault { id, clause: Clause::SearchPage, breaks, noticed_by });
        let failing = labels.iter().chain(&further);
        let failing =
            failing.map(|label| FailingCase { judge: "search.page.x", check: "search.page.x", label });
        let found = diagnose(&matrix, &ran, failing, |_, _| true, |_, _| true);
        assert_eq!(found[0].suspects[0].agreeing, MAX_DETECTORS + 60);
    }
}
