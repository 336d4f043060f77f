//! What extraction checks read and judge in responses.

use serde_json::Value;

use crate::check::{AcceptedResponse, Decision, Probe, ResponseClass, Stop};
use crate::contract::{Clause, Extract};
use crate::quantity::quantity;
use crate::response::gateways::listed;
pub(super) use crate::response::gateways::{denies, entries};
use crate::wire::{Exchange, Request, Response, RetryAfter};

/// The gateways of the response to a request, sorted.
pub(super) fn gateways(probe: &Probe<'_>, request: &Request, response: &Response) -> Vec<String> {
    listed(&probe.contract().extract, request, response)
}

/// The number of entries of a response, in JSON or in text with the default separator.
pub(in crate::checks) fn count(probe: &Probe<'_>, response: &Response) -> usize {
    entries(response).map_or_else(|| lines(probe, response), |entries| entries.len())
}

pub(super) const THROTTLED: &str = "the service throttles; run it again later, or with a lower --rate";

/// Whether a request was neither accepted nor rejected: there is a shortage, or the service is busy or too slow.
pub(super) fn is_undecided(class: &ResponseClass) -> bool {
    class.decision() == Decision::Undecided || matches!(class, ResponseClass::Timeout(_))
}

/// Ends a case whose request was neither accepted nor rejected.
pub(super) fn undecided(probe: &Probe<'_>, class: &ResponseClass) -> Stop {
    probe.inconclusive(&format!(
        "the response neither accepts nor rejects the request: {}",
        class.description()
    ))
}

/// Sends a request that stands for the same extraction as `before`, and reports a rejection or other gateways. The contract
/// promises the same extraction and not the same text, so the order of the gateways is not compared.
pub(super) async fn judge_repeated(
    probe: &Probe<'_>,
    clause: Clause,
    why: &str,
    before: &AcceptedResponse,
    request: &Request,
) -> Result<(), Stop> {
    let gateways =
        |accepted: &AcceptedResponse| gateways(probe, &accepted.exchange.request, &accepted.response);
    let request = request.clone().giving_again(gateways(before));
    let Some(after) = probe.accepts(clause, why, &request).await? else { return Ok(()) };
    if gateways(before) != gateways(&after) {
        let expected = format!("the same gateways: {why}");
        probe.finding(clause, &expected, "other gateways", &[&before.exchange, &after.exchange]);
    }
    Ok(())
}

/// Reports more entries than requested.
pub(super) fn judge_count(probe: &Probe<'_>, exchange: &Exchange, response: &Response, requested: i64) {
    let count = count(probe, response);
    if i64::try_from(count).is_ok_and(|count| count > requested) {
        let expected = format!("at most {}", quantity(requested, "entry"));
        probe.finding(Clause::ExtractCount, &expected, &quantity(count, "entry"), &[exchange]);
    }
}

/// Whether a response is flagged as a partial result.
pub(super) fn is_partial(probe: &Probe<'_>, response: &Response) -> bool {
    response.header(&probe.contract().extract.partial_flag).is_some_and(|flag| !denies(&flag))
}

/// The separator of a text response when the request names none.
pub(super) fn default_separator(extract: &Extract) -> Option<&str> {
    let default = extract.lb.default_text();
    let separator = extract.separators.iter().find(|separator| separator.code == default)?;
    Some(&separator.text)
}

/// The number of entries of a text response with the default separator. The form of an entry and the end of the text are
/// unspecified.
fn lines(probe: &Probe<'_>, response: &Response) -> usize {
    let separator = default_separator(&probe.contract().extract).unwrap_or("\n");
    if is_envelope(response) {
        return 0;
    }
    response.text().split(separator).filter(|entry| !entry.trim().is_empty()).count()
}

/// Whether a response is the JSON envelope. A single entry of a text response may be a JSON object too.
pub(super) fn is_envelope(response: &Response) -> bool {
    response.at("/code").is_some() || response.at("/data").is_some_and(Value::is_array)
}

/// Whether a response has a valid `Retry-After`.
pub(super) fn has_retry_after(exchange: &Exchange) -> bool {
    let response = exchange.result.as_ref().ok();
    let header = response.and_then(|response| response.header("Retry-After"));
    header.is_some_and(|value| RetryAfter::parse(&value).is_some())
}
