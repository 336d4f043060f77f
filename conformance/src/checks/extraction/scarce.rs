//! Extractions from a region with fewer gateways than one call may ask for.

use std::collections::BTreeSet;

use super::content::{count, denies, gateways};
use crate::check::{AcceptedResponse, Probe, Stop};
use crate::contract::part::{NUM, PROTOCOL, REGIONS};
use crate::contract::{Clause, Unspecified};
use crate::target::Fact;

/// Records how the target flags a partial result.
///
/// # Errors
/// Skip when the response has as many entries as were asked for.
pub(super) fn note_partial_result(
    probe: &Probe<'_>,
    AcceptedResponse { exchange, response }: &AcceptedResponse,
) -> Result<(), Stop> {
    let num = exchange.request.query_value(NUM).and_then(|num| num.parse().ok()).unwrap_or(1);
    if count(probe, &exchange.request, response) >= num {
        let variable = Fact::ScarceRegion.variable();
        return Err(probe.skip(&format!(
            "the scarce region returned no partial result of {num}; if it has as many gateways, correct {variable}"
        )));
    }
    let flag = response.header(&probe.contract().extract.partial_flag);
    if let Some(flag) = flag.filter(|flag| !denies(flag)) {
        let seen = format!("a partial result is flagged as {flag}");
        probe.observe(Unspecified::ExtractFullResultHeaders, &seen);
    }
    Ok(())
}

/// A scarce region has fewer different gateways than the maximum `num`.
pub(super) async fn judge_few(
    probe: &Probe<'_>,
    why: &str,
    AcceptedResponse { exchange, response }: &AcceptedResponse,
) -> Result<(), Stop> {
    let is_discovered = probe.has_discovered(Fact::ScarceRegion);
    if is_discovered && exchange.request.query_value(PROTOCOL).is_some() {
        return Err(probe.skip("the region that the run found has few gateways of the default protocol, and may have more of others"));
    }
    let max = usize::try_from(*probe.contract().extract.num_range.end()).unwrap_or(usize::MAX);
    let region = exchange.request.query_value(REGIONS).unwrap_or_default();
    let different: BTreeSet<_> = gateways(probe, &exchange.request, response).into_iter().collect();
    if different.len() < max {
        return Ok(());
    }
    // The region may have more gateways by now.
    if is_discovered {
        let (plain, _) = probe.send_once(&probe.extract().query(REGIONS, region).query(NUM, max)).await?;
        if plain.result.as_ref().is_ok_and(|response| count(probe, &plain.request, response) >= max) {
            return Err(probe.skip("the region that the run found has many gateways by now"));
        }
    }
    let origin = match is_discovered {
        true => "as the run found".to_owned(),
        false => format!("as supplied by {}", Fact::ScarceRegion.variable()),
    };
    let expected = format!("fewer than {max} different gateways of {region}, {why}, {origin}");
    let actual = format!("{} different gateways", different.len());
    probe.finding(Clause::ExtractRegion, &expected, &actual, &[exchange]);
    Ok(())
}
