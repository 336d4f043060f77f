use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::Serialize;

use crate::contract::Clause;

/// Known faults, each with the cases that notice it, as recorded against servers with one fault and with every fact supplied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matrix {
    cases: Vec<CaseName>,
    pub(super) faults: Vec<KnownFault>,
    /// The checks of these cases and faults, with the index of each case by its label.
    pub(super) checks: BTreeMap<Arc<str>, HashMap<Arc<str>, usize>>,
}

/// A case of a check, or a control request that the cases of a run share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseName {
    /// The check's id; [`SharedControl::SOURCE`](crate::check::SharedControl::SOURCE) for a shared control.
    pub check: Arc<str>,
    /// The case's label; empty for the only case of a check.
    pub label: Arc<str>,
}

/// One way to break a clause, and what notices it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
// In the schema of reports only likely faults are of this type.
#[schemars(rename = "LikelyFault", description = "A known fault that fits the failing cases of the run.")]
pub struct KnownFault {
    /// Unique among the known faults.
    pub id: String,
    /// The clause that it breaks.
    pub clause: Clause,
    /// What a service with this fault does wrong, in a sentence.
    pub breaks: String,
    /// What notices it; may be empty. Reports leave it out.
    #[serde(skip)]
    pub noticed_by: Vec<Detector>,
}

/// A check that notices a fault in an exchange of a case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Detector {
    /// The check's id. It differs from the case's only for passive checks.
    pub judge: Arc<str>,
    /// Index of the case in [`Matrix::cases`].
    pub case: usize,
}

/// Maximum number of cases of a fault and a judge that are kept; see [`Matrix::keep_cheapest`].
pub const MAX_DETECTORS: usize = 32;

/// What the ids of the faults of the independent server begin with.
pub(super) const INDEPENDENT: &str = "independent/";

impl KnownFault {
    /// Whether the lab has it, and not only the independent server.
    pub fn is_of_lab(&self) -> bool {
        !self.id.starts_with(INDEPENDENT)
    }

    /// Its place among all: those of the lab come first, by their clauses.
    pub(super) fn order(&self) -> ((bool, &'static str), &str) {
        ((!self.is_of_lab(), self.clause.id()), &self.id)
    }
}

impl Matrix {
    /// The embedded matrix.
    ///
    /// # Errors
    /// The generated file is invalid, which is a bug of the suite.
    pub fn embedded() -> Result<&'static Self, &'static str> {
        static EMBEDDED: LazyLock<Result<Matrix, String>> =
            LazyLock::new(|| Matrix::from_text(include_str!("generated/matrix.txt")));
        EMBEDDED.as_ref().map_err(String::as_str)
    }

    /// Every case that was recorded.
    pub fn cases(&self) -> &[CaseName] {
        &self.cases
    }

    /// Every known fault.
    pub fn faults(&self) -> &[KnownFault] {
        &self.faults
    }

    /// Whether it knows what a check notices. Of the checks of a caller it does not.
    pub fn knows(&self, check: &str) -> bool {
        self.checks.contains_key(check)
    }

    /// The index of a case in [`Matrix::cases`]; none when it was not recorded.
    pub fn number(&self, check: &str, label: &str) -> Option<usize> {
        self.checks.get(check)?.get(label).copied()
    }

    /// Adds a case, if it is new.
    pub fn add_case(&mut self, check: &str, label: &str) -> usize {
        self.number(check, label).unwrap_or_else(|| {
            let (check, label, number) = (self.add_check(check), Arc::<str>::from(label), self.cases.len());
            self.checks.entry(Arc::clone(&check)).or_default().insert(Arc::clone(&label), number);
            self.cases.push(CaseName { check, label });
            number
        })
    }

    /// Adds a fault, or replaces the one with the same id.
    pub fn add_fault(&mut self, mut fault: KnownFault) {
        for detector in &mut fault.noticed_by {
            detector.judge = self.add_check(&detector.judge);
        }
        self.faults.retain(|known| known.id != fault.id);
        self.faults.push(fault);
    }

    /// Adds a check, if it is new; returns its id.
    pub(super) fn add_check(&mut self, id: &str) -> Arc<str> {
        if let Some((known, _)) = self.checks.get_key_value(id) {
            return Arc::clone(known);
        }
        let id = Arc::<str>::from(id);
        self.checks.insert(Arc::clone(&id), HashMap::new());
        id
    }

    /// Adds a fault of another recording, without the cases that are missing in this one.
    pub fn take_over(&mut self, fault: &KnownFault, from: &Self) {
        let notice = |Detector { judge, case }: &Detector| {
            let CaseName { check, label } = &from.cases[*case];
            Some(Detector { judge: Arc::clone(judge), case: self.number(check, label)? })
        };
        let noticed_by = fault.noticed_by.iter().filter_map(notice).collect();
        self.add_fault(KnownFault { noticed_by, ..fault.clone() });
    }

    /// Keeps only the cheapest cases of each fault and judge, the first by name among equals: no plan needs a thousand of them.
    pub fn keep_cheapest(&mut self, price: impl Fn(&CaseName) -> u32) {
        for fault in &mut self.faults {
            let mut by_judge: BTreeMap<&Arc<str>, Vec<usize>> = BTreeMap::new();
            for notice in &fault.noticed_by {
                by_judge.entry(&notice.judge).or_default().push(notice.case);
            }
            let mut kept = Vec::new();
            for (judge, mut cases) in by_judge {
                cases.sort_by_cached_key(|case| (price(&self.cases[*case]), self.cases[*case].clone()));
                let cheapest = cases.into_iter().take(MAX_DETECTORS);
                kept.extend(cheapest.map(|case| Detector { judge: Arc::clone(judge), case }));
            }
            fault.noticed_by = kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_matrix_is_small_and_as_it_would_be_written() {
        let text = include_str!("generated/matrix.txt");
        assert!(text.len() <= 300_000, "{} bytes", text.len());
        assert_eq!(Matrix::embedded().expect("a matrix").to_text(), text);
        for (wrong, line) in [
            ("[]", 1),
            ("[\"a\",\"9x\"]", 1),
            ("no.clause", 1),
            ("/b\tIs wrong.\t0", 1),
            ("search.page\n/b\t", 2),
            ("[\"a\",\"0x\"]\nsearch.page\n/b\tIs wrong.\t0+1", 3),
        ] {
            let error = Matrix::from_text(wrong).unwrap_err();
            assert!(error.starts_with(&format!("line {line}: ")), "{wrong}: {error}");
        }
    }

    #[test]
    fn the_cheapest_cases_are_kept() {
        let mut matrix = Matrix::default();
        let mut noticed_by = Vec::new();
        for (judge, label) in (0..99).map(|number| ("search.d", number)).chain([("search.a", 99)]) {
            let case = matrix.add_case(judge, &label.to_string());
            noticed_by.push(Detector { judge: judge.into(), case });
        }
        let (id, breaks) = ("search.page/b".to_owned(), "Is wrong.".to_owned());
        matrix.add_fault(KnownFault { id, clause: Clause::SearchPage, breaks, noticed_by });
        matrix.keep_cheapest(|case| if &*case.label == "98" { 0 } else { 1 });
        let kept: Vec<_> = matrix.faults[0].noticed_by.iter().map(|kept| &matrix.cases[kept.case]).collect();
        assert_eq!(kept.len(), 1 + MAX_DETECTORS);
        assert!(kept.iter().any(|case| &*case.label == "98") && kept.iter().any(|case| &*case.label == "99"));
    }
}
