//! What extraction checks read in an answer.

use serde_json::Value;

use crate::check::Probe;
use crate::contract::{Clause, Extract};
use crate::wire::{Answer, Exchange};

/// The gateways of a JSON answer, sorted, for comparisons in which order does not matter. Fields beside address and port,
/// such as a time to live, may change from answer to answer.
pub(super) fn entries(answer: &Answer) -> Option<Vec<String>> {
    let entries = answer.at("/data")?.as_array()?;
    let gateway = |entry: &Value| match (entry.get("ip"), entry.get("port")) {
        (Some(ip), Some(port)) => format!("{ip} {port}"),
        _ => entry.to_string(),
    };
    let mut entries: Vec<String> = entries.iter().map(gateway).collect();
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
        probe.finding(Clause::ExtractCount, &expected, &format!("{came} entries"), &[exchange]);
    }
}

/// Whether the flag of a partial result says that the result is not partial.
pub(super) fn denies(flag: &str) -> bool {
    ["false", "0", "no"].contains(&flag.to_ascii_lowercase().as_str())
}

/// The separator of a text answer that is asked for without one.
pub(super) fn default_separator(extract: &Extract) -> Option<&str> {
    let default = extract.lb.schema.default.as_ref().and_then(Value::as_str);
    let separator = extract.separators.iter().find(|separator| Some(separator.code.as_str()) == default)?;
    Some(&separator.text)
}

/// The entries of a text answer with the default separator. The form of an entry is open, and so is what ends the last one.
fn lines(probe: &Probe<'_>, answer: &Answer) -> usize {
    let separator = default_separator(&probe.contract().extract).unwrap_or("\n");
    if is_envelope(answer) {
        return 0;
    }
    answer.text().split(separator).filter(|entry| !entry.trim().is_empty()).count()
}

/// Whether an answer is the JSON envelope; a single entry of a text answer may be a JSON object too.
pub(super) fn is_envelope(answer: &Answer) -> bool {
    answer.at("/code").is_some() || answer.at("/data").is_some_and(Value::is_array)
}
