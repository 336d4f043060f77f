//! Changes that were accepted, each with a reason and the date until which that holds.

use jiff::civil::Date;
use serde_json::Value;

use super::Diff;
use crate::{
    document::{Document, join},
    problem::Problem,
};

/// An entry of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AcceptedChange {
    fingerprint: String,
    reason: String,
    expires: Date,
    line: u64,
}

/// Reads the file: a list of `fingerprint`, `reason` and `expires`.
///
/// Fails with every problem of the file; their places are in it.
pub(crate) fn read(file: &Document) -> Result<Vec<AcceptedChange>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut entries = Vec::new();
    let help = "write `- { fingerprint: …, reason: …, expires: YYYY-MM-DD }`";
    let list = match file.root() {
        Value::Null => &[],
        Value::Array(list) => list.as_slice(),
        _ => return Err(vec![file.problem("", "expected a list of accepted changes", help)]),
    };
    for (index, entry) in list.iter().enumerate() {
        let at = join("", &index.to_string());
        let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let date = text("expires").and_then(|date| date.parse::<Date>().ok());
        for (key, found) in [
            ("fingerprint", text("fingerprint").is_some()),
            ("reason", text("reason").is_some()),
            ("expires", date.is_some()),
        ] {
            if !found {
                problems.push(file.problem(join(&at, key), format!("missing or invalid `{key}`"), help));
            }
        }
        let known = ["fingerprint", "reason", "expires"];
        for key in entry.as_object().into_iter().flatten().map(|(key, _)| key) {
            if !known.contains(&key.as_str()) {
                problems.push(file.problem(join(&at, key), format!("unknown key `{key}`"), help));
            }
        }
        if let (Some(fingerprint), Some(reason), Some(expires)) = (text("fingerprint"), text("reason"), date)
        {
            let line = file.place(&at).line;
            entries.push(AcceptedChange {
                fingerprint: fingerprint.to_owned(),
                reason: reason.to_owned(),
                expires,
                line,
            });
        }
    }
    if problems.is_empty() { Ok(entries) } else { Err(problems) }
}

/// Why an entry of the file accepts nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Note {
    #[error("line {line}: no change has the fingerprint `{fingerprint}`; remove the entry")]
    Unused { line: u64, fingerprint: String },
    #[error("line {line}: the acceptance of `{fingerprint}` expired on {expires}")]
    Expired { line: u64, fingerprint: String, expires: Date },
}

/// Marks the accepted changes, and returns a note for each entry that accepts nothing.
pub(crate) fn apply(diff: &mut Diff, entries: &[AcceptedChange], today: Date) -> Vec<Note> {
    let mut notes = Vec::new();
    for AcceptedChange { fingerprint, reason, expires, line } in entries {
        let mut matching =
            diff.changes.iter_mut().filter(|change| change.fingerprint() == *fingerprint).peekable();
        if matching.peek().is_none() {
            notes.push(Note::Unused { line: *line, fingerprint: fingerprint.clone() });
        } else if *expires < today {
            notes.push(Note::Expired { line: *line, fingerprint: fingerprint.clone(), expires: *expires });
        } else {
            for change in matching {
                change.accepted = Some(reason.clone());
            }
        }
    }
    notes
}
