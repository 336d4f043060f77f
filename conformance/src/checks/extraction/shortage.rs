//! Extractions from the region without gateways, and from one with fewer than one call may ask for.

use std::collections::BTreeSet;
use std::time::Duration;

use super::content::{count, denies, gateways, gives_gateways, has_retry_after};
use super::*;
use crate::checks::token::rejected_alike;

/// Maximum number of times that a throttled extraction is sent, and the step by which the pause between them grows.
const MAX_TRIES: u32 = 8;
const PAUSE: Duration = Duration::from_millis(7);

/// Sends an extraction from the empty region. One that names its region by the alias alone gets it there.
pub(crate) async fn send(probe: &Probe<'_>, request: &Request) -> Result<Sent, Stop> {
    let has_alias = request.query_value(COUNTRY).is_some() && request.query_value(REGIONS).is_none();
    let region = probe.facts().empty_region.as_deref().unwrap_or_default();
    let request = request.clone().query(if has_alias { COUNTRY } else { REGIONS }, region).giving_nothing();
    send_until_served(probe, &request).await
}

/// Sends an extraction that may be answered as one from the empty region is.
pub(crate) async fn send_until_served(probe: &Probe<'_>, request: &Request) -> Result<Sent, Stop> {
    for tries in 1..MAX_TRIES {
        let sent = probe.send_once(request).await?;
        // A shortage may have status 503, so only 429 is waited out.
        if !is_throttled(&sent.0) {
            return Ok(sent);
        }
        tokio::time::sleep(PAUSE * tries).await;
    }
    probe.send_once(request).await
}

/// Shows once in a run that a plain extraction gets a shortage with `Retry-After`. Skips when it does not: the region may be unknown to the
/// service, or the shortage may look like throttling.
pub(crate) async fn control(probe: &Probe<'_>) -> Result<(), Stop> {
    State::check_empty_region(probe)?;
    let known = &probe.state::<State>()?.is_short;
    let find_out = async {
        let (plain, _) = send(probe, &Extraction::PLAIN.request(probe)).await?;
        Ok::<_, Stop>(is_told(&plain))
    };
    if *known.get_or_try_init(|| probe.as_control(CONTROL, find_out)).await? {
        return Ok(());
    }
    let variable = Fact::EmptyRegion.variable();
    Err(probe.skip(&format!(
        "an extraction from the region without gateways gets no Retry-After, or gets it with HTTP 429, which may be throttling; \
         if the region has gateways, correct {variable}"
    )))
}

/// Throttling has `Retry-After` too, and 503 may be throttling or a shortage, so only 429 counts.
fn is_throttled(exchange: &Exchange) -> bool {
    exchange.result.as_ref().is_ok_and(|response| response.status == 429)
}

/// Whether a response says when there are gateways again.
fn is_told(exchange: &Exchange) -> bool {
    has_retry_after(exchange) && !is_throttled(exchange)
}

/// Whether the response to a request may be the shortage of a region that it names; the empty one comes first.
pub(super) async fn explains(probe: &Probe<'_>, regions: &[&str], exchange: &Exchange) -> Result<bool, Stop> {
    let empty = probe.facts().empty_region.as_deref();
    if has_retry_after(exchange) && regions.first().copied().is_some_and(|first| Some(first) == empty) {
        return Ok(true);
    }
    for region in regions.iter().filter(|_| is_told(exchange)) {
        if is_of_region(probe, region).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a valid extraction from a region gets a shortage, too, and not because the service is busy: a plain one just after it is
/// served. Found out once in a run.
async fn is_of_region(probe: &Probe<'_>, region: &str) -> Result<bool, Stop> {
    let mut known = probe.state::<State>()?.short_regions.lock().await;
    if let Some(is_short) = known.get(region) {
        return Ok(*is_short);
    }
    let request = probe.extract().query(REGIONS, region).giving_nothing();
    let (exchange, _) = send_until_served(probe, &request).await?;
    let is_short = is_told(&exchange);
    let is_busy = is_throttled(&exchange)
        || is_short && probe.send_once(&probe.extract()).await?.1 != ResponseClass::Accepted;
    if is_busy {
        return Ok(false);
    }
    known.insert(region.to_owned(), is_short);
    Ok(is_short)
}

/// Whether a response is that of a region without gateways: a shortage with `Retry-After`, or a success without gateways. Inconclusive when
/// the service is busy or broken.
pub(crate) fn is_short(probe: &Probe<'_>, exchange: &Exchange, class: &ResponseClass) -> Result<bool, Stop> {
    if is_throttled(exchange) {
        return Err(probe.inconclusive("the service was busy; run it again later, or with a lower --rate"));
    }
    match class.decision() {
        _ if gives_gateways(probe, exchange) => Ok(false),
        _ if has_retry_after(exchange) => Ok(true),
        Decision::Accepted => Ok(true),
        Decision::Failed => Err(undecided(class)),
        Decision::Rejected | Decision::Undecided => Ok(false),
    }
}

/// The label of its request as a shared control.
pub(crate) const CONTROL: &str = "extract without gateways";

/// A valid extraction must get the same response as that of a simpler form: the shortage with `Retry-After`, and no gateways.
pub(crate) async fn must_be_short(
    probe: &Probe<'_>,
    clause: Clause,
    why: &str,
    base: &Extraction,
    request: &Request,
) -> Result<(), Stop> {
    control(probe).await?;
    let (exchange, class) = send(probe, request).await?;
    if is_short(probe, &exchange, &class)? {
        return Ok(());
    }
    let is_filled = gives_gateways(probe, &exchange);
    // Others may return gateways meanwhile, and a service may fail: a second response must agree.
    let (again, class) = send(probe, request).await?;
    let (plain, _) = send(probe, &base.request(probe)).await?;
    let is_unsure = is_throttled(&again) || is_throttled(&plain) || !has_retry_after(&plain);
    if is_filled || gives_gateways(probe, &again) || gives_gateways(probe, &plain) {
        State::note_gateway_of_empty_region(probe)?;
    }
    if is_unsure || gives_gateways(probe, &again) != is_filled {
        return Err(probe.inconclusive("the region has gateways at times, or the service was busy"));
    }
    if is_filled {
        let expected = format!("no gateway of the empty region, as for an extraction {}: {why}", base.name());
        // Where the alias is sent, it is the alias that has no effect.
        let is_alias = clause == ExtractCountryAlias;
        let clause = if is_alias { clause } else { ExtractRegion };
        probe.finding_beside(clause, &expected, "gateways", &[&exchange, &again], &[&plain]);
        return Ok(());
    }
    let status = again.result.as_ref().map_or(0, |response| response.status);
    match class.decision() {
        _ if has_retry_after(&again) => {}
        Decision::Rejected
            if clause == ExtractNumRange
                && (matches!(status, 402 | 403) || probe.has_discovered(Fact::EmptyRegion)) =>
        {
            return Err(probe.skip("perhaps the account has fewer gateways left than `num`"));
        }
        Decision::Rejected | Decision::Undecided if rejected_alike(&plain, &again) => {
            let expected = format!("Retry-After, as for an extraction {}: {why}", base.name());
            let clause = ExtractShortageRetryAfter;
            probe.finding_beside(clause, &expected, "no such header", &[&again], &[&plain]);
        }
        Decision::Rejected => {
            let expected = format!("accepted, and so the shortage of an extraction {}: {why}", base.name());
            probe.finding_beside(clause, &expected, class.description(), &[&again], &[&plain]);
        }
        _ => return Err(undecided(&class)),
    }
    Ok(())
}

/// Records how the target flags a partial result. Skips when the response has as many entries as were asked for.
pub(super) fn note_partial_result(probe: &Probe<'_>, served: &AcceptedResponse) -> Result<(), Stop> {
    let num = served.exchange.request.query_value(NUM).and_then(|num| num.parse().ok()).unwrap_or(1);
    if count(probe, &served.exchange) >= num {
        let variable = Fact::ScarceRegion.variable();
        return Err(probe.skip(&format!(
            "the scarce region returned no partial result of {num}; if it has as many gateways, correct {variable}"
        )));
    }
    let flag = served.response.header(&probe.contract().extract.partial_flag);
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
    exchange: &Exchange,
) -> Result<(), Stop> {
    let is_discovered = probe.has_discovered(Fact::ScarceRegion);
    if is_discovered && exchange.request.query_value(PROTOCOL).is_some() {
        return Err(probe.skip("the region that the run found has few gateways of the default protocol, and may have more of others"));
    }
    let max = usize::try_from(*probe.contract().extract.num_range.end()).unwrap_or(usize::MAX);
    let named = [REGIONS, COUNTRY].into_iter().find_map(|name| exchange.request.query_value(name));
    let region = named.unwrap_or_default();
    let different: BTreeSet<_> = gateways(probe, exchange).into_iter().collect();
    if different.len() < max {
        return Ok(());
    }
    // The region may have more gateways by now. Under its alias, it has as few as under its name.
    if is_discovered || clause == ExtractCountryAlias {
        let (plain, _) = probe.send_once(&probe.extract().query(REGIONS, region).query(NUM, max)).await?;
        if count(probe, &plain) >= max {
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
