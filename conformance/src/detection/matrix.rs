use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::contract::Clause;

/// Known faults, each with the cases that notice it. They are recorded against servers with one fault at a time, with every fact
/// supplied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matrix {
    cases: Vec<CaseName>,
    numbers: HashMap<CaseName, usize>,
    faults: Vec<KnownFault>,
    /// The checks of these cases and faults.
    checks: HashSet<String>,
}

/// A case of a check, or a control request that the cases of a run share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseName {
    /// The check's id; [`SharedControl::SOURCE`](crate::check::SharedControl::SOURCE) for a shared control.
    pub check: String,
    /// The case's label; empty for the only case of a check.
    pub label: String,
}

/// One way to break a clause, and what notices it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFault {
    /// Unique id.
    pub id: String,
    /// The clause that it breaks.
    pub clause: Clause,
    /// What the server does wrong, in a sentence.
    pub breaks: String,
    /// What notices it; may be empty.
    pub noticed_by: Vec<Detector>,
}

/// A check that notices a fault in an exchange of a case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Detector {
    /// The check's id. It differs from the case's only for passive checks.
    pub judge: String,
    /// Index of the case in [`Matrix::cases`].
    pub case: usize,
}

/// Maximum number of cases of a fault and a judge that are kept; see [`Matrix::keep_cheapest`].
pub const MAX_DETECTORS: usize = 32;

/// The first line of a file: the cases that each check had when it was recorded.
type AllCases = BTreeMap<String, BTreeSet<String>>;

/// A fault as a line of a file, with labels of cases by judge and by the check of the cases.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    clause: Clause,
    breaks: String,
    noticed_by: BTreeMap<String, BTreeMap<String, Labels>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Labels {
    /// All cases of the check.
    All(Star),
    Some(BTreeSet<String>),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Star {
    #[serde(rename = "*")]
    Star,
}

static EMBEDDED: LazyLock<Result<Matrix, String>> = LazyLock::new(|| {
    let mut matrix = Matrix::default();
    matrix.read(include_str!("generated/proof.jsonl"))?;
    matrix.read(include_str!("generated/independent.jsonl"))?;
    Ok(matrix)
});

impl KnownFault {
    /// Whether the lab has it, and not only the server of `tests/independent`.
    pub(super) fn is_of_lab(&self) -> bool {
        !self.id.starts_with("independent/")
    }
}

impl Matrix {
    /// The embedded matrix.
    ///
    /// # Errors
    /// A generated file is invalid, which is a bug of the suite.
    pub fn embedded() -> Result<&'static Self, &'static str> {
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
        self.checks.contains(check)
    }

    /// The index of a case in [`Matrix::cases`]; none when it was not recorded.
    pub fn number(&self, check: &str, label: &str) -> Option<usize> {
        let name = CaseName { check: check.to_owned(), label: label.to_owned() };
        self.numbers.get(&name).copied()
    }

    /// Adds a case, if it is new.
    pub fn add_case(&mut self, check: &str, label: &str) -> usize {
        self.add_check(check);
        let name = CaseName { check: check.to_owned(), label: label.to_owned() };
        *self.numbers.entry(name.clone()).or_insert_with(|| {
            self.cases.push(name);
            self.cases.len() - 1
        })
    }

    /// Adds a fault, or replaces the one with the same id.
    pub fn add_fault(&mut self, fault: KnownFault) {
        fault.noticed_by.iter().for_each(|detector| self.add_check(&detector.judge));
        self.faults.retain(|known| known.id != fault.id);
        self.faults.push(fault);
    }

    fn add_check(&mut self, check: &str) {
        if !self.knows(check) {
            self.checks.insert(check.to_owned());
        }
    }

    /// Adds a fault of another recording, without the cases that are missing in this one.
    pub fn take_over(&mut self, fault: &KnownFault, from: &Self) {
        let notice = |Detector { judge, case }: &Detector| {
            let CaseName { check, label } = &from.cases[*case];
            Some(Detector { judge: judge.clone(), case: self.number(check, label)? })
        };
        let noticed_by = fault.noticed_by.iter().filter_map(notice).collect();
        self.add_fault(KnownFault { noticed_by, ..fault.clone() });
    }

    /// Keeps only the cheapest cases of each fault and judge, the first by name among equals. An obvious fault is noticed by a
    /// thousand cases, and no plan needs all of them.
    pub fn keep_cheapest(&mut self, price: impl Fn(&CaseName) -> u32) {
        for fault in &mut self.faults {
            let mut by_judge: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for notice in &fault.noticed_by {
                by_judge.entry(&notice.judge).or_default().push(notice.case);
            }
            let mut kept = Vec::new();
            for (judge, mut cases) in by_judge {
                cases.sort_by_cached_key(|case| (price(&self.cases[*case]), self.cases[*case].clone()));
                let cheapest = cases.into_iter().take(MAX_DETECTORS);
                kept.extend(cheapest.map(|case| Detector { judge: judge.to_owned(), case }));
            }
            fault.noticed_by = kept;
        }
    }

    /// Parses the format of [`Matrix::to_text`].
    ///
    /// # Errors
    /// Names the first invalid line.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut matrix = Self::default();
        matrix.read(text)?;
        Ok(matrix)
    }

    /// The cases on the first line, then one fault per line, for readable diffs.
    pub fn to_text(&self) -> String {
        let mut all = AllCases::new();
        for CaseName { check, label } in &self.cases {
            all.entry(check.clone()).or_default().insert(label.clone());
        }
        let mut lines: Vec<Line> = self.faults.iter().map(|fault| self.line(fault, &all)).collect();
        lines.sort_by(|one, other| one.id.cmp(&other.id));
        let faults = lines.iter().map(serde_json::to_string);
        let texts = std::iter::once(serde_json::to_string(&all)).chain(faults);
        texts.map(|text| text.unwrap_or_default() + "\n").collect()
    }

    fn line(&self, fault: &KnownFault, all: &AllCases) -> Line {
        let mut noticed: BTreeMap<String, AllCases> = BTreeMap::new();
        for Detector { judge, case } in &fault.noticed_by {
            let CaseName { check, label } = &self.cases[*case];
            let of_judge = noticed.entry(judge.clone()).or_default();
            of_judge.entry(check.clone()).or_default().insert(label.clone());
        }
        let labels = |check: &str, labels: BTreeSet<String>| match all.get(check) {
            Some(every) if *every == labels && every.len() > 1 => Labels::All(Star::Star),
            _ => Labels::Some(labels),
        };
        let noticed_by = noticed.into_iter().map(|(judge, checks)| {
            let checks = checks.into_iter().map(|(check, some)| (check.clone(), labels(&check, some)));
            (judge, checks.collect())
        });
        let KnownFault { id, clause, breaks, .. } = fault;
        Line { id: id.clone(), clause: *clause, breaks: breaks.clone(), noticed_by: noticed_by.collect() }
    }

    fn read(&mut self, text: &str) -> Result<(), String> {
        let wrong = |number: usize, error: serde_json::Error| format!("line {}: {error}", number + 1);
        let mut lines = text.lines().enumerate();
        let Some((_, first)) = lines.next() else { return Ok(()) };
        let all: AllCases = serde_json::from_str(first).map_err(|error| wrong(0, error))?;
        for (check, labels) in &all {
            for label in labels {
                self.add_case(check, label);
            }
        }
        for (number, line) in lines {
            let Line { id, clause, breaks, noticed_by } =
                serde_json::from_str(line).map_err(|error| wrong(number, error))?;
            let mut notices = Vec::new();
            for (judge, checks) in noticed_by {
                for (check, labels) in checks {
                    let labels = match labels {
                        Labels::Some(labels) => labels,
                        Labels::All(Star::Star) => all.get(&check).cloned().unwrap_or_default(),
                    };
                    notices.extend(labels.iter().map(|label| {
                        let case = self.add_case(&check, label);
                        Detector { judge: judge.clone(), case }
                    }));
                }
            }
            self.faults.push(KnownFault { id, clause, breaks, noticed_by: notices });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_parsed_again_and_the_cheapest_cases_are_kept() {
        let mut matrix = Matrix::default();
        for (check, label) in
            [("search.a", "one"), ("search.a", "two"), ("search.b", ""), ("search.c", "x, y")]
        {
            matrix.add_case(check, label);
        }
        let notice = |judge: &str, case| Detector { judge: judge.to_owned(), case };
        for (id, noticed_by) in [
            ("z", vec![notice("search.a", 0), notice("search.a", 1), notice("search.c", 3)]),
            ("a", vec![notice("all.passive", 2)]),
            ("b", Vec::new()),
        ] {
            let breaks = "Says it, and does not.".to_owned();
            let fault = KnownFault { id: id.to_owned(), clause: Clause::SearchPage, breaks, noticed_by };
            matrix.add_fault(fault);
        }
        let text = matrix.to_text();
        assert_eq!(text.lines().count(), 4);
        assert!(text.contains(r#""search.a":"*""#) && text.contains(r#"{"search.b":[""]}"#), "{text}");
        let again = Matrix::from_text(&text).expect("what was written");
        assert_eq!(again.to_text(), text);
        assert_eq!(again.faults()[0].id, "a");
        let mut less = again.clone();
        for number in 0..99 {
            let label = format!("{number}");
            let case = less.add_case("search.d", &label);
            less.faults[0].noticed_by.push(notice("search.d", case));
        }
        less.keep_cheapest(|case| if case.label == "98" { 0 } else { 1 });
        let kept = &less.faults[0].noticed_by;
        assert_eq!(kept.len(), 1 + 32);
        assert!(kept.iter().any(|notice| less.cases[notice.case].label == "98"));
        assert_eq!(Matrix::from_text("{}\n{\"id\":1}").unwrap_err().split(':').next(), Some("line 2"));
    }
}
