//! What extraction checks read in a response.

use serde_json::Value;

use super::forms::default_of;
use crate::check::Probe;
use crate::contract::{Clause, Extract};
use crate::quantity::quantity;
use crate::response::gateways::listed;
pub(super) use crate::response::gateways::{denies, entries};
use crate::wire::{Exchange, Request, Response};

/// The gateways of the response to a request, in an order of their own.
pub(super) fn gateways(probe: &Probe<'_>, request: &Request, response: &Response) -> Vec<String> {
    listed(&probe.contract().extract, request, response)
}

/// How many entries a response holds, in JSON or in text with the default separator.
pub(super) fn count(probe: &Probe<'_>, response: &Response) -> usize {
    entries(response).map_or_else(|| lines(probe, response), |entries| entries.len())
}

/// Why a case that the service throttles has no result.
pub(super) const THROTTLED: &str = "the service throttles; run it again later, or with --rate";

/// Reports more entries than were asked for.
pub(super) fn judge_count(probe: &Probe<'_>, exchange: &Exchange, response: &Response, asked: i64) {
    let count = count(probe, response);
    if i64::try_from(count).is_ok_and(|count| count > asked) {
        let expected = format!("at most {}", quantity(asked, "entry"));
        probe.finding(Clause::ExtractCount, &expected, &quantity(count, "entry"), &[exchange]);
    }
}

/// Whether a response says that it holds fewer gateways than were asked for.
pub(super) fn is_partial(probe: &Probe<'_>, response: &Response) -> bool {
    response.header(&probe.contract().extract.partial_flag).is_some_and(|flag| !denies(&flag))
}

/// The separator of a text response that is asked for without one.
pub(super) fn default_separator(extract: &Extract) -> Option<&str> {
    let default = default_of(&extract.lb);
    let separator = extract.separators.iter().find(|separator| separator.code == default)?;
    Some(&separator.text)
}

/// The entries of a text response with the default separator. The form of an entry is open, and so is what ends the last one.
fn lines(probe: &Probe<'_>, response: &Response) -> usize {
    let separator = default_separator(&probe.contract().extract).unwrap_or("\n");
    if is_envelope(response) {
        return 0;
    }
    response.text().split(separator).filter(|entry| !entry.trim().is_empty()).count()
}

/// Whether a response is the JSON envelope; a single entry of a text response may be a JSON object too.
pub(super) fn is_envelope(response: &Response) -> bool {
    response.at("/code").is_some() || response.at("/data").is_some_and(Value::is_array)
}
