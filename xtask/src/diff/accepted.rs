//! Changes that were accepted, each with a reason and the date until which that holds.

use jiff::civil::Date;
use serde::Deserialize;

use super::{Diff, Verdict};

/// An entry of the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptedChange {
    fingerprint: String,
    /// For readers of the file and of a changelog.
    reason: String,
    expires: Date,
}

/// Reads the text of the file: a list of `fingerprint`, `reason` and `expires`.
///
/// Fails with what is wrong with the first invalid entry, and its line.
pub(crate) fn read(text: &str) -> Result<Vec<AcceptedChange>, String> {
    let read: Result<Option<Vec<AcceptedChange>>, _> = serde_saphyr::from_str(text);
    let help = "write `- { fingerprint: …, reason: …, expires: YYYY-MM-DD }`";
    read.map(Option::unwrap_or_default).map_err(|error| format!("{error}; {help}"))
}

/// Why an entry of the file accepts nothing.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) is_expired: bool,
    pub(crate) text: String,
}

/// Marks the accepted changes, and returns a note for each entry that accepts nothing.
pub(crate) fn apply(diff: &mut Diff, entries: &[AcceptedChange], today: Date) -> Vec<Note> {
    let mut notes = Vec::new();
    for AcceptedChange { fingerprint, reason, expires } in entries {
        let matching = diff.changes.iter_mut().filter(|change| change.fingerprint() == *fingerprint);
        let mut matching: Vec<_> = matching.collect();
        let is_needless = matching.iter().all(|change| change.rule.verdict < Verdict::Decision);
        let (is_expired, text) = match (matching.is_empty(), is_needless) {
            (true, _) => (false, format!("no change has the fingerprint `{fingerprint}`; remove the entry")),
            (_, true) => (false, format!("the change `{fingerprint}` needs no acceptance; remove the entry")),
            _ if *expires < today => {
                (true, format!("the acceptance of `{fingerprint}` expired on {expires}"))
            }
            _ => {
                matching.iter_mut().for_each(|change| change.accepted = Some(reason.clone()));
                continue;
            }
        };
        notes.push(Note { is_expired, text });
    }
    notes
}
