//! What separator checks read in a plain-text answer. The form of an entry is open; it only has no line break in it.

use crate::check::{Accepted, Probe, Stop};
use crate::wire::Request;

/// Entries that are asked for: enough to have a separator between them.
const ENTRIES: usize = 3;

/// An extraction of several entries as text.
pub(super) fn request(probe: &Probe<'_>) -> Request {
    let extract = &probe.contract().extract;
    probe.extract().query(&extract.num.name, ENTRIES).query(&extract.return_type.name, &extract.text)
}

/// Reports a text answer whose entries are not separated by `separator`.
pub(super) fn judge(probe: &Probe<'_>, accepted: &Accepted, separator: &str) -> Result<(), Stop> {
    let text = accepted.answer.text();
    let pieces: Vec<&str> = text.strip_suffix(separator).unwrap_or(&text).split(separator).collect();
    let broken = pieces.iter().any(|piece| piece.is_empty() || piece.contains(['\r', '\n']));
    if !broken && pieces.len() == ENTRIES {
        return Ok(());
    }
    // A single entry has no separator to look at; a partial result has fewer entries than were asked for.
    let returned =
        accepted.answer.header("X-Proxy-Returned-Count").and_then(|count| count.parse::<usize>().ok());
    if returned
        .is_some_and(|returned| returned < ENTRIES && (returned < 2 || (!broken && returned == pieces.len())))
    {
        return Err(
            probe.inconclusive("the region has too few gateways to see a separator: supply a plentiful one")
        );
    }
    let expected = format!("{ENTRIES} entries separated by {separator:?}");
    let actual = format!("splitting at {separator:?} gives {} in {text:?}", pieces.len());
    probe.finding("extract.separator", &expected, &actual, &[&accepted.exchange]);
    Ok(())
}
