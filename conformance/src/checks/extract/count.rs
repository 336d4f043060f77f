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

/// How many entries an answer holds, in JSON or in text with the default separator.
pub(super) fn came(probe: &Probe<'_>, answer: &Answer) -> usize {
    entries(answer).map_or_else(|| lines(probe, answer), |entries| entries.len())
}

/// Reports more entries than were asked for.
pub(super) fn judge(probe: &Probe<'_>, exchange: &Exchange, answer: &Answer, asked: i64) {
    let came = came(probe, answer);
    if i64::try_from(came).is_ok_and(|came| came > asked) {
        let expected = format!("at most {asked} entries");
        probe.finding("extract.count", &expected, &format!("{came} entries"), &[exchange]);
    }
}

/// The entries of a text answer with the default separator; the form of an entry is open, but one is not empty.
fn lines(probe: &Probe<'_>, answer: &Answer) -> usize {
    let extract = &probe.contract().extract;
    let default = extract.lb.schema.default.as_ref().and_then(Value::as_str);
    let separator = extract.separators.iter().find(|separator| Some(separator.code.as_str()) == default);
    let separator = separator.map_or("\n", |separator| separator.text.as_str());
    if answer.json().is_some_and(Value::is_object) {
        return 0;
    }
    answer.text().split(separator).filter(|entry| !entry.is_empty()).count()
}
