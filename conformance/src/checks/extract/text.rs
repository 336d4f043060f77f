//! What separator checks read in a plain-text answer. The form of an entry is open; it only has no line break in it.

use crate::check::{Accepted, Probe, Stop};
use crate::wire::Request;

/// Entries that are asked for: enough to have a separator between them.
pub(super) const ENTRIES: usize = 3;

/// An extraction of several entries as text.
pub(super) fn request(probe: &Probe<'_>) -> Request {
    let extract = &probe.contract().extract;
    probe.extract().query(&extract.num.name, ENTRIES).query(&extract.return_type.name, &extract.text)
}

/// Reports a text answer whose entries are not separated by `separator`. One at its end is left open.
pub(super) fn judge(probe: &Probe<'_>, accepted: &Accepted, separator: &str) -> Result<(), Stop> {
    let text = accepted.answer.text();
    let pieces: Vec<&str> = text.strip_suffix(separator).unwrap_or(&text).split(separator).collect();
    let broken = pieces.iter().any(|piece| piece.is_empty() || piece.contains(['\r', '\n']));
    let returned = accepted.answer.header(&probe.contract().extract.returned_count);
    let entries = returned.and_then(|count| count.parse().ok()).unwrap_or(ENTRIES);
    if entries < 2 {
        return Err(probe.inconclusive("a single entry has no separator: supply a plentiful region"));
    }
    if broken || pieces.len() != entries {
        let expected = format!("{entries} entries separated by {separator:?}");
        let actual = format!("splitting at {separator:?} gives {} in {text:?}", pieces.len());
        probe.finding("extract.separator", &expected, &actual, &[&accepted.exchange]);
    }
    Ok(())
}
