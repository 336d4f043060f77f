//! Gateways belong to the requested region and protocol, or to the default region. Only facts about them or their number show it.

use super::*;
use crate::checks::extraction::content::matching;
use crate::target::KnownGateway;

pub(super) static PROGRAMS: &[Program] = &[
    passive("extract.region.watched", |observed| Served::observed(observed)?.gateways()),
    // A wrong fact is known before other checks spend gateways on it.
    first("extract.region.empty", |_| Vec::new()),
];

/// Neither name of the empty region returns a gateway. A shortage may have any status, so the first response counts. Others may
/// return gateways meanwhile, so a second response must agree.
pub(super) async fn empty(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let region = probe.facts().empty_region.as_deref().unwrap_or_default();
    let (form, request) = (row.form(), || row.request(probe).giving_nothing());
    let is_alias = request().query_value(COUNTRY).is_some();
    // The plain extraction decides whether the supplied region is empty, also when it runs again.
    let decides = !is_alias && form == Extraction::PLAIN && !probe.has_discovered(Fact::EmptyRegion);
    if !decides {
        State::check_empty_region(probe)?;
    }
    form.control(probe).await?;
    let (first, _) = probe.send_once(&request()).await?;
    if !gives_gateways(probe, &first) {
        return Ok(());
    }
    let (by_regions, _) = shortage::send(probe, &form.request(probe)).await?;
    let has_gateways = gives_gateways(probe, &by_regions);
    if has_gateways && !decides {
        State::note_gateway_of_empty_region(probe)?;
    }
    let mut shown = vec![first, by_regions];
    if is_alias && has_gateways {
        let variable = Fact::EmptyRegion.variable();
        return Err(probe.skip(&format!("the region of {variable} has gateways; correct {variable}")));
    } else if is_alias {
        shown.push(probe.send_once(&request()).await?.0);
    }
    if shown.last().is_some_and(|again| gives_gateways(probe, again)) {
        if decides {
            State::withdraw_empty_region(probe)?;
        }
        let (clause, name) = if is_alias { (ExtractCountryAlias, COUNTRY) } else { (ExtractRegion, REGIONS) };
        let variable = Fact::EmptyRegion.variable();
        let expected =
            format!("no gateway of {region} in `{name}`, {}, as supplied by {variable}", form.name());
        probe.finding(clause, &expected, "gateways", &shown.iter().collect::<Vec<_>>());
    }
    Ok(())
}

/// A response does not show the region of its gateways, so this compares numbers: the request without the parameter must return
/// as many as the one with the default, before and after it.
pub(super) async fn as_many(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let (form, default) = (row.form(), probe.contract().extract.regions.default_text());
    let named = || row.request(probe).query(REGIONS, &default);
    let unnamed = || row.request(probe).without_query(REGIONS);
    let (sent, with) = twice(probe, named).await?;
    let (mut absent, without) = twice(probe, unnamed).await?;
    let Some(with) = with else {
        let form = form.name();
        return Err(probe.skip(&format!("the extraction with {REGIONS}={default} is not accepted, {form}")));
    };
    if absent.result.as_ref().is_ok_and(|response| response.status == 503) {
        absent = probe.confirm_unavailable(unnamed, named).await?;
    }
    match without {
        Some(without) if without < with => {
            // Others may have extracted meanwhile, or the service lends its gateways.
            if twice(probe, unnamed).await?.1 != Some(without) || twice(probe, named).await?.1 != Some(with) {
                return Err(probe.skip("the number of gateways of the default region changes"));
            }
            let expected =
                format!("{}, as with {REGIONS}={default}, {}", quantity(with, "entry"), form.name());
            let actual = quantity(without, "entry");
            probe.finding_beside(ExtractRegionsDefault, &expected, &actual, &[&absent], &[&sent]);
        }
        None => {
            // The default still returns gateways, so there is no shortage.
            probe.control(&named()).await?;
            let expected = format!("accepted without {REGIONS}, {}", form.name());
            let clause = ExtractRegionsDefault;
            probe.finding_beside(clause, &expected, "not a success", &[&absent], &[&sent]);
        }
        Some(_) => {}
    }
    Ok(())
}

/// The region of an earlier call does not apply to a later one without `regions`: after a call for the empty region, it still gets
/// gateways, as the default by its name does.
pub(super) async fn after_empty(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let (form, default) = (row.form(), probe.contract().extract.regions.default_text());
    State::check_empty_region(probe)?;
    let mut shown = Vec::new();
    for _ in 0..2 {
        form.accepted(probe, &form.request(probe).query(REGIONS, &default)).await?;
        let (empty, _) = shortage::send(probe, &form.request(probe)).await?;
        if gives_gateways(probe, &empty) {
            return State::note_gateway_of_empty_region(probe);
        }
        let unnamed = form.request(probe).without_query(REGIONS);
        let (absent, class) = shortage::send_until_served(probe, &unnamed).await?;
        if !shortage::is_short(probe, &absent, &class)? {
            return Ok(());
        }
        shown.extend([empty, absent]);
    }
    form.accepted(probe, &form.request(probe).query(REGIONS, &default)).await?;
    let expected = format!("gateways without {REGIONS}, as {REGIONS}={default} returned, {}", form.name());
    let actual = "none, each time that the call before was for the empty region";
    probe.finding(ExtractRegionsDefault, &expected, actual, &shown.iter().collect::<Vec<_>>());
    Ok(())
}

/// The default region has other gateways than a named one. The region of an earlier call must not apply to a later one without
/// `regions`, nor may one region be the default. A service that draws neighbours of an ordered pool returns gateways of one region
/// now and then, for either request; it takes several rounds to tell the two apart.
pub(super) async fn after_another(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let (form, extract) = (row.form(), &probe.contract().extract);
    let default = extract.regions.default_text();
    let pools = probe.facts().known_gateways.iter().filter(|pool| pool.region != default);
    let largest = pools.max_by_key(|pool| pool.gateways.len()).map(|pool| &pool.region);
    let plentiful = probe.facts().plentiful_region.as_ref().filter(|region| **region != default);
    let Some(another) = plentiful.or(largest) else {
        let lacks = format!("no gateway of another region than {default} is known");
        return Err(probe.skip_lacking(&lacks, "some", Fact::KnownGateways));
    };
    let of_pool = || form.request(probe).query(NUM, i64::from(OF_POOL).min(*extract.num_range.end()));
    let of_one = |response: &Response| {
        let found = matching(probe.facts(), response);
        (found.len() >= ENOUGH_KNOWN).then(|| is_of_one_region(&default, &found))
    };
    let named = async || {
        let named = form.accepted(probe, &of_pool().query(REGIONS, &default)).await?;
        match of_one(&named.response) {
            Some(false) => Ok(named),
            _ => Err(probe.skip(&format!("{default} returned no known gateways beside those of one region"))),
        }
    };
    let (mut accepted, mut references) = (Vec::new(), Vec::new());
    for named_first in NAMED_FIRST {
        let before = if named_first { Some(named().await?) } else { None };
        form.accepted(probe, &form.request(probe).query(REGIONS, another)).await?;
        let absent = form.accepted(probe, &of_pool().without_query(REGIONS)).await?;
        if of_one(&absent.response) != Some(true) {
            return Ok(());
        }
        accepted.push(absent.exchange);
        references.push(match before {
            Some(named) => named.exchange,
            None => named().await?.exchange,
        });
    }
    let expected = format!(
        "gateways that are not of one region alone, as {REGIONS}={default} returned, {} (regions known from {})",
        form.name(),
        Fact::KnownGateways.variable()
    );
    let actual = format!("gateways of one region alone, {} times", NAMED_FIRST.len());
    let (judged, references): (Vec<_>, Vec<_>) = (accepted.iter().collect(), references.iter().collect());
    probe.finding_beside(ExtractRegionsDefault, &expected, &actual, &judged, &references);
    Ok(())
}

/// Whether there is a region, other than the default one, to which all these gateways belong.
fn is_of_one_region(default: &str, found: &[(KnownGateway, Vec<&GatewayPool>)]) -> bool {
    let is_only = |region: &str| {
        region != default && found.iter().all(|(_, pools)| pools.iter().any(|pool| pool.region == region))
    };
    found.first().is_some_and(|(_, pools)| pools.iter().any(|pool| is_only(&pool.region)))
}

/// The rounds of [`after_another`]: whether the default is named first. In turns, a service with two sets of gateways would look as
/// if it told the requests apart.
pub(crate) const NAMED_FIRST: [bool; 5] = [true, false, false, true, false];

/// Gateways of each of these extractions: some more than [`ENOUGH_KNOWN`], since not all may be known.
pub(crate) const OF_POOL: u32 = 12;

/// So many known gateways of a single region are unlikely to be a coincidence.
const ENOUGH_KNOWN: usize = 10;

/// Sends a request up to two times, since a shortage may pass. Returns the number of entries of a success.
async fn twice(probe: &Probe<'_>, request: impl Fn() -> Request) -> Result<(Exchange, Option<usize>), Stop> {
    let (mut exchange, mut class) = probe.send_until_served(&request).await?;
    if class != ResponseClass::Accepted {
        (exchange, class) = probe.send_until_served(&request).await?;
    }
    // 503 may be a shortage, but 429 shows nothing about the region.
    if exchange.result.as_ref().is_ok_and(|response| response.status == 429) {
        return Err(probe.inconclusive(THROTTLED));
    }
    let count = accepted(&exchange, &class);
    let count = count.map(|served| content::count(probe, &served.exchange));
    Ok((exchange, count))
}
