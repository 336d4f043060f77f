//! Changes that were accepted, each with a reason and the date until which that holds.

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::{Diff, Verdict};
use crate::{document::Document, problem::Problem};

/// An entry of the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptedChange {
    fingerprint: String,
    reason: String,
    #[serde(deserialize_with = "date")]
    expires: Date,
    #[serde(skip)]
    line: u64,
}

fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| {
        D::Error::custom(format!("`expires`: expected a date such as 2027-01-31, found `{text}`"))
    })
}

/// Reads the file: a list of `fingerprint`, `reason` and `expires`.
///
/// Fails with a problem for each invalid entry; their places are in the file.
pub(crate) fn read(file: &Document) -> Result<Vec<AcceptedChange>, Vec<Problem>> {
    let help = "write `- { fingerprint: …, reason: …, expires: YYYY-MM-DD }`";
    if !file.root().is_array() && !file.root().is_null() {
        return Err(vec![file.problem("", "expected a list of accepted changes", help)]);
    }
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for (at, entry) in file.items("") {
        if !entry.is_object() {
            problems.push(file.problem(at, "expected an entry of an accepted change", help));
            continue;
        }
        match AcceptedChange::deserialize(entry) {
            Ok(entry) if entry.reason.trim().is_empty() => {
                problems.push(file.problem(at, "empty `reason`", help))
            }
            Ok(entry) => entries.push(AcceptedChange { line: file.place(&at).line, ..entry }),
            Err(error) => problems.push(file.problem(at, format!("invalid entry: {error}"), help)),
        }
    }
    if problems.is_empty() { Ok(entries) } else { Err(problems) }
}

/// Why an entry of the file accepts nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Note {
    #[error("line {line}: no change has the fingerprint `{fingerprint}`; remove the entry")]
    Unused { line: u64, fingerprint: String },
    #[error("line {line}: the change `{fingerprint}` needs no acceptance; remove the entry")]
    Needless { line: u64, fingerprint: String },
    #[error("line {line}: the acceptance of `{fingerprint}` expired on {expires}")]
    Expired { line: u64, fingerprint: String, expires: Date },
}

/// Marks the accepted changes, and returns a note for each entry that accepts nothing.
pub(crate) fn apply(diff: &mut Diff, entries: &[AcceptedChange], today: Date) -> Vec<Note> {
    let mut notes = Vec::new();
    for AcceptedChange { fingerprint, reason, expires, line } in entries {
        let (line, fingerprint) = (*line, fingerprint.clone());
        let mut matching: Vec<_> =
            diff.changes.iter_mut().filter(|change| change.fingerprint() == fingerprint).collect();
        if matching.is_empty() {
            notes.push(Note::Unused { line, fingerprint });
        } else if matching.iter().all(|change| change.rule.verdict < Verdict::Decision) {
            notes.push(Note::Needless { line, fingerprint });
        } else if *expires < today {
            notes.push(Note::Expired { line, fingerprint, expires: *expires });
        } else {
            matching.iter_mut().for_each(|change| change.accepted = Some(reason.clone()));
        }
    }
    notes
}
