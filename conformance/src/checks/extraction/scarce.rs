//! Extractions from a region with fewer gateways than one call may ask for.

use std::collections::BTreeSet;

use super::content::{count, denies, gateways};
use super::*;

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

/// A scarce region has fewer different gateways than the maximum `num`, under either name.
pub(super) async fn judge_few(
    probe: &Probe<'_>,
    clause: Clause,
    why: &str,
    AcceptedResponse { exchange, response }: &AcceptedResponse,
) -> Result<(), Stop> {
    let is_discovered = probe.has_discovered(Fact::ScarceRegion);
    if is_discovered && exchange.request.query_value(PROTOCOL).is_some() {
        return Err(probe.skip("the region that the run found has few gateways of the default protocol, and may have more of others"));
    }
    let max = usize::try_from(*probe.contract().extract.num_range.end()).unwrap_or(usize::MAX);
    let named = [REGIONS, COUNTRY].into_iter().find_map(|name| exchange.request.query_value(name));
    let region = named.unwrap_or_default();
    let different: BTreeSet<_> = gateways(probe, &exchange.request, response).into_iter().collect();
    if different.len() < max {
        return Ok(());
    }
    // The region may have more gateways by now. Under its alias, it has as few as under its name.
    if is_discovered || clause == ExtractCountryAlias {
        let (plain, _) = probe.send_once(&probe.extract().query(REGIONS, region).query(NUM, max)).await?;
        if plain.result.as_ref().is_ok_and(|response| count(probe, &plain.request, response) >= max) {
            return Err(probe.skip("the region has many gateways by now"));
        }
    }
    let origin = match is_discovered {
        true => "as the run found".to_owned(),
        false => format!("as supplied by {}", Fact::ScarceRegion.variable()),
    };
    let expected = format!("fewer than {max} different gateways of {region}, {why}, {origin}");
    let actual = format!("{} different gateways", different.len());
    probe.finding(clause, &expected, &actual, &[exchange]);
    Ok(())
}
