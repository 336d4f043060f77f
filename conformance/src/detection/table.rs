//! The matrix as a text, which is small and quickly parsed:
//!
//! ```text
//! ["search.page.bounds","0page=0","5-1"]
//! ["all.no-secrets.watched"]
//!
//! search.page
//! /zero<TAB>Page 0 is the first.<TAB>/minus<TAB>Page -1 is the first.<TAB>0+1 1>0
//! ```
//!
//! First the checks, sorted, each with the labels of its cases. The first character of a label says how many bytes it shares with
//! the label before it, in base 36. Then the faults by clause, each with its id and its sentence; those that the same cases notice
//! are in one line, which ends with these cases. Of the id of a fault of the lab the clause is left out, and of the others
//! `independent/`. Cases are numbered over all checks. After `CHECK>`,
//! the index of a passive check, follow the cases in which that check notices it. A number is the distance from the one before
//! it, and `+N` means so many further cases in a row.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::matrix::{Detector, INDEPENDENT, KnownFault, Matrix};
use crate::contract::Clause;

/// Maximum number of bytes that a label can share with the one before it.
const MAX_SHARED: usize = 35;

impl Matrix {
    /// Parses the format of [`Matrix::to_text`].
    ///
    /// # Errors
    /// Names the first invalid line.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut matrix = Self::default();
        let mut checks: Vec<Arc<str>> = Vec::new();
        let mut clause: Option<Clause> = None;
        for (number, line) in text.lines().enumerate() {
            let wrong = |what: &str| format!("line {}: {what}", number + 1);
            if line.starts_with('[') {
                let names: Vec<String> =
                    serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
                let (check, labels) = names.split_first().ok_or_else(|| wrong("a check has an id"))?;
                checks.push(matrix.add_check(check));
                let mut label = String::new();
                for text in labels {
                    label = following(&label, text).ok_or_else(|| wrong("a label is invalid"))?;
                    matrix.add_case(check, &label);
                }
            } else if let Some((faults, noticed_by)) = line.rsplit_once('\t') {
                let clause = clause.ok_or_else(|| wrong("a fault breaks a clause"))?;
                let noticed_by = detectors(noticed_by, &matrix, &checks);
                let noticed_by = noticed_by.ok_or_else(|| wrong("a detector is invalid"))?;
                for fault in faults.split('\t').collect::<Vec<_>>().chunks(2) {
                    let [id, breaks] = fault else { return Err(wrong("a fault has an id and a sentence")) };
                    let prefix = if id.starts_with('/') { clause.id() } else { INDEPENDENT };
                    let (id, breaks) = (format!("{prefix}{id}"), (*breaks).to_owned());
                    matrix.faults.push(KnownFault { id, clause, breaks, noticed_by: noticed_by.clone() });
                }
            } else if !line.is_empty() {
                clause = Some(Clause::from_id(line).ok_or_else(|| wrong("unknown clause"))?);
            }
        }
        matrix.faults.sort_by(|one, other| one.order().cmp(&other.order()));
        Ok(matrix)
    }

    /// The checks and their cases, then a line for each list of cases that notices faults of a clause, for readable diffs.
    pub fn to_text(&self) -> String {
        let mut sorted: Vec<usize> = (0..self.cases().len()).collect();
        sorted.sort_by_key(|case| &self.cases()[*case]);
        let mut ranks = vec![0; sorted.len()];
        let mut text = String::new();
        let mut cases = sorted.into_iter().enumerate().peekable();
        for check in self.checks.keys() {
            let mut line = vec![check.to_string()];
            let mut last: Arc<str> = "".into();
            while let Some((rank, case)) = cases.next_if(|(_, case)| &self.cases()[*case].check == check) {
                let label = &self.cases()[case].label;
                line.push(after(&last, label));
                last = Arc::clone(label);
                ranks[case] = rank;
            }
            let _ = writeln!(text, "{}", serde_json::json!(line));
        }
        let mut faults: Vec<&KnownFault> = self.faults().iter().collect();
        faults.sort_by_key(|fault| fault.order());
        for of_clause in faults.chunk_by(|one, next| one.order().0 == next.order().0) {
            let _ = writeln!(text, "\n{}", of_clause[0].clause.id());
            let mut lines: Vec<(String, String)> = Vec::new();
            for fault in of_clause {
                let KnownFault { id, breaks, clause, .. } = fault;
                let prefix = if fault.is_of_lab() { clause.id() } else { INDEPENDENT };
                let sentence = format!("{}\t{breaks}\t", id.strip_prefix(prefix).unwrap_or(id));
                let noticed_by = self.detectors_text(fault, &ranks);
                match lines.iter_mut().find(|(_, cases)| *cases == noticed_by) {
                    Some((faults, _)) => faults.push_str(&sentence),
                    None => lines.push((sentence, noticed_by)),
                }
            }
            lines.iter().for_each(|(faults, cases)| _ = writeln!(text, "{faults}{cases}"));
        }
        text
    }

    fn detectors_text(&self, fault: &KnownFault, ranks: &[usize]) -> String {
        let mut by_judge: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for Detector { judge, case } in &fault.noticed_by {
            let is_passive = self.cases()[*case].check != *judge;
            let passive = is_passive.then(|| self.checks.keys().position(|check| check == judge)).flatten();
            by_judge.entry(passive).or_default().push(ranks[*case]);
        }
        let of_judge = |(passive, mut cases): (Option<usize>, Vec<usize>)| {
            cases.sort_unstable();
            let judge = passive.map(|check| format!("{check}>")).unwrap_or_default();
            let mut last = 0;
            let runs = cases.chunk_by(|one, next| next - one == 1).map(|run| {
                let start = run[0] - last;
                last = run[run.len() - 1];
                if run.len() > 1 { format!("{start}+{}", run.len() - 1) } else { start.to_string() }
            });
            judge + &runs.collect::<Vec<_>>().join(",")
        };
        by_judge.into_iter().map(of_judge).collect::<Vec<_>>().join(" ")
    }
}

/// A label as it is written after another one.
fn after(last: &str, label: &str) -> String {
    let shared = last.bytes().zip(label.bytes()).take_while(|(one, other)| one == other).count();
    let shared = label.floor_char_boundary(shared.min(MAX_SHARED));
    let digit = u32::try_from(shared).ok().and_then(|shared| char::from_digit(shared, 36));
    format!("{}{}", digit.unwrap_or('0'), &label[shared..])
}

/// The label that is written so after another one.
fn following(last: &str, text: &str) -> Option<String> {
    let shared = text.chars().next()?.to_digit(36)?;
    Some(last.get(..usize::try_from(shared).ok()?)?.to_owned() + &text[1..])
}

fn detectors(text: &str, matrix: &Matrix, checks: &[Arc<str>]) -> Option<Vec<Detector>> {
    let mut detectors = Vec::new();
    for of_judge in text.split(' ').filter(|text| !text.is_empty()) {
        let (passive, runs) = match of_judge.split_once('>') {
            Some((check, runs)) => (Some(checks.get(check.parse::<usize>().ok()?)?), runs),
            None => (None, of_judge),
        };
        let mut last = 0;
        for run in runs.split(',') {
            let (start, more) = run.split_once('+').unwrap_or((run, "0"));
            let start = last + start.parse::<usize>().ok()?;
            last = start + more.parse::<usize>().ok()?;
            for case in start..=last {
                let judge = passive.unwrap_or(&matrix.cases().get(case)?.check);
                detectors.push(Detector { judge: Arc::clone(judge), case });
            }
        }
    }
    Some(detectors)
}
