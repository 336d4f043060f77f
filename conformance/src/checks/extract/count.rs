//! What extraction checks read in an answer.

use serde_json::Value;

use crate::check::Probe;
use crate::wire::{Answer, Exchange};

/// The entries of a JSON answer, sorted, for comparisons in which order does not matter.
pub(super) fn entries(answer: &Answer) -> Option<Vec<String>> {
    let entries = answer.at("/data")?.as_array()?;
    let mut entries: Vec<String> = entries.iter().map(Value::to_string).collect();
    entries.sort_unstable();
    Some(entries)
}

/// Reports more entries than were asked for.
pub(super) fn judge(probe: &Probe<'_>, exchange: &Exchange, answer: &Answer, asked: i64) {
    let came = entries(answer).map_or(0, |entries| entries.len());
    if i64::try_from(came).is_ok_and(|came| came > asked) {
        let expected = format!("at most {asked} entries");
        probe.finding("extract.count", &expected, &format!("{came} entries"), &[exchange]);
    }
}
