//! Extractions that are sent again with their request id.

use super::count::entries;
use crate::check::{Accepted, Probe, Stop};
use crate::checks::Requests;
use crate::contract::Clause;
use crate::wire::Request;

/// Entries that are asked for: enough that two extractions hardly choose the same by chance.
pub(super) const ENTRIES: i64 = 5;

/// The same, for costs.
pub(super) const ENTRIES_COUNT: u32 = ENTRIES as u32;

/// An extraction of several entries, without a request id.
pub(super) fn request(probe: &Probe<'_>) -> Request {
    probe.extract().query(&probe.contract().extract.num.name, ENTRIES)
}

/// Sends one request and then others that stand for the same extraction, and reports those that came to another.
///
/// Order is not compared: the contract says that it is the same extraction, not that it is the same text.
pub(super) async fn judge(
    probe: &Probe<'_>,
    clause: Clause,
    first: &Request,
    again: &[(&str, Request)],
) -> Result<(), Stop> {
    let again: Vec<_> = again.iter().map(|(why, request)| (clause, *why, request.clone())).collect();
    judge_each(probe, first, &again).await
}

/// The same, with a clause for each of the others.
pub(super) async fn judge_each(
    probe: &Probe<'_>,
    first: &Request,
    again: &[(Clause, &str, Request)],
) -> Result<(), Stop> {
    let first = probe.control(first).await?;
    for (clause, why, request) in again {
        let Some(second) = probe.accepts(*clause, why, request).await? else { continue };
        if gateways(&first) != gateways(&second) {
            let expected = format!("the same gateways: {why}");
            probe.finding(*clause, &expected, "other gateways", &[&first.exchange, &second.exchange]);
        }
    }
    Ok(())
}

/// The gateways of an answer, sorted. Text answers are asked for with the default separator, which ends a line.
fn gateways(accepted: &Accepted) -> Vec<String> {
    entries(&accepted.answer).unwrap_or_else(|| {
        let mut lines: Vec<String> = accepted.answer.text().lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    })
}
