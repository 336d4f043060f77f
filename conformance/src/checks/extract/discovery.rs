//! Facts that the suite finds out by itself: regions with few gateways or none, and a protocol that the account may use.

use std::sync::LazyLock;

use super::*;
use crate::check::Run;
use crate::checks::extraction::content::count;
use crate::checks::quota::is_served_otherwise;
use crate::checks::rule::apart;
use crate::response::is_about_caller;

/// Country codes that providers rarely have gateways for: territories without inhabitants, then the smallest countries.
const UNLIKELY_REGIONS: &str = "ATA BVT HMD SGS ATF UMI PCN TKL NIU NRU TUV VAT SMR LIE MCO ISL";

/// Country codes that providers may have a few gateways for: small countries, then others that are common in directories.
const SMALL_REGIONS: &str = "AND SMR LIE MCO ISL MLT LUX CYP BRN JPN BRA KOR SGP AUS CAN IND NLD FRA GBR DEU";

/// How many regions may turn out to have as many gateways as one call may ask for, each of which costs that many.
const MAX_PLENTIFUL: usize = 5;

/// How often a shortage must repeat: a service may be short of gateways now and then.
const REPEATS: usize = 2;

/// Stands for the requests below, whose responses passive checks judge as all others.
pub(crate) static DISCOVERY: LazyLock<Check> =
    LazyLock::new(|| apart(OperationId::Extract, "extract.discovery", Run::Cases(|_| Vec::new())));

/// Looks for the facts that the run lacks. Errors are the rejection of a plain extraction in words, when every extraction is rejected, and
/// cases of the run are `extracting`.
pub(crate) async fn discover(
    probe: &Probe<'_>,
    lacks: impl Fn(Fact) -> bool,
    extracting: &[&Case],
) -> Result<Facts, String> {
    let mut found = Facts::default();
    let mut plain = probe.extract();
    if lacks(Fact::EmptyRegion) {
        let mut empty = empty_region(probe, &plain).await;
        if empty == Some(EmptyRegion::NothingIsServed) {
            if lacks(Fact::EntitledProtocols)
                && let Some((protocol, request)) = served_protocol(probe, &plain).await
            {
                found.entitled_protocols.push(protocol);
                empty = empty_region(probe, &request).await;
                plain = request;
            } else if !extracting.is_empty() {
                nothing_is_served(probe, &plain).await.map_or(Ok(()), Err)?;
            }
        }
        if let Some(EmptyRegion::Found(region)) = empty {
            found.empty_region = Some(region.to_owned());
        }
    } else if let Some(region) = probe.facts().empty_region.as_deref().filter(|_| !extracting.is_empty()) {
        // A service may keep the first region that it is asked for, and an extraction shows it only if that one has gateways. So the
        // control request of most checks comes first. An extraction from the supplied region takes no gateway.
        let request = plain.clone().query(REGIONS, region).giving_nothing();
        let is_planned = extracting.iter().any(|case| Extraction::PLAIN.is_control_of(case));
        let is_served = is_planned && Extraction::PLAIN.control(probe).await.is_ok();
        if !is_served && supply(probe, &request).await == Some(Supply::Nothing) {
            nothing_is_served(probe, &plain).await.map_or(Ok(()), Err)?;
        }
    }
    if lacks(Fact::ScarceRegion) {
        found.scarce_region = scarce_region(probe, &plain).await.map(str::to_owned);
    }
    Ok(found)
}

/// The rejection of the plain extraction, if extractions of other forms and protocols are not served either, and the token is
/// accepted. None where the rejection is not about the caller.
async fn nothing_is_served(probe: &Probe<'_>, plain: &Request) -> Option<String> {
    let (exchange, class) = probe.send_once(plain).await.ok()?;
    let ResponseClass::Rejected(rejection) = class else { return None };
    // A rejection of the request is for the checks: a service may require a parameter that is optional.
    if !exchange.result.is_ok_and(|response| is_about_caller(&response)) {
        return None;
    }
    let (_, listing) = probe.send_once(&probe.groups()).await.ok()?;
    let is_explained = listing != ResponseClass::Accepted
        || is_served_otherwise(probe).await
        || served_protocol(probe, plain).await.is_some();
    (!is_explained).then_some(rejection)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EmptyRegion {
    Found(&'static str),
    /// Other extractions are rejected as well.
    NothingIsServed,
}

/// Looks for a region without gateways: the first of some unlikely ones that meets a shortage while the plain extraction is
/// served. None if there is no such region, or the service is busy.
async fn empty_region(probe: &Probe<'_>, plain: &Request) -> Option<EmptyRegion> {
    let Facts { plentiful_region, scarce_region, .. } = probe.facts();
    let supplied = [plentiful_region.as_deref(), scarce_region.as_deref()];
    let mut control = None;
    for region in UNLIKELY_REGIONS.split(' ').filter(|region| !supplied.contains(&Some(region))) {
        let request = plain.clone().query(REGIONS, region);
        let shown = supply(probe, &request).await?;
        // The service may take any code for the default region, and each further code would cost a gateway.
        if matches!(shown, Supply::Gateways | Supply::Throttled) {
            return None;
        }
        // The region may be unknown, and a service may be short of gateways everywhere, or serve nothing at all.
        let served = match control {
            Some(served) => served,
            None => *control.insert(supply(probe, plain).await?),
        };
        match (shown, served) {
            (Supply::Nothing, Supply::Nothing) => return Some(EmptyRegion::NothingIsServed),
            (Supply::Nothing, _) => continue,
            _ => {}
        }
        for _ in 0..REPEATS {
            if supply(probe, &request).await? != Supply::Shortage {
                return None;
            }
        }
        return (served == Supply::Gateways).then_some(EmptyRegion::Found(region));
    }
    None
}

/// Looks for a protocol that the account may use, when it may not use the default one. Returns the extraction of it, too.
async fn served_protocol(probe: &Probe<'_>, plain: &Request) -> Option<(String, Request)> {
    let extract = &probe.contract().extract;
    for protocol in &extract.protocols {
        let request = plain.clone().query(PROTOCOL, protocol);
        if supply(probe, &request).await? == Supply::Gateways {
            return Some((protocol.clone(), request));
        }
    }
    None
}

/// Looks for a region with a few gateways: the first of some small ones that twice returns fewer than the maximum of a call, and not
/// none. Takes up to [`MAX_PLENTIFUL`] times that maximum, and a few more.
async fn scarce_region(probe: &Probe<'_>, plain: &Request) -> Option<&'static str> {
    let extract = &probe.contract().extract;
    let max = usize::try_from(*extract.num_range.end()).ok()?;
    let Facts { plentiful_region, empty_region, .. } = probe.facts();
    let supplied = [plentiful_region.as_deref(), empty_region.as_deref()];
    let mut plentiful = 0;
    for region in SMALL_REGIONS.split(' ').filter(|region| !supplied.contains(&Some(region))) {
        let request = plain.clone().query(REGIONS, region).query(NUM, max);
        match returned(probe, &request).await? {
            0 => {}
            few if few < max => {
                let again = returned(probe, &request).await?;
                return (1..max).contains(&again).then_some(region);
            }
            _ => plentiful += 1,
        }
        if plentiful == MAX_PLENTIFUL {
            return None;
        }
    }
    None
}

/// The number of gateways that an extraction returns. None when the service is busy, does not respond, or the budget is used up.
async fn returned(probe: &Probe<'_>, request: &Request) -> Option<usize> {
    let (exchange, _) = probe.send_once(request).await.ok()?;
    let response = exchange.result.as_ref().ok()?;
    (response.status != 429)
        .then(|| if gives_gateways(probe, &exchange) { count(probe, &exchange) } else { 0 })
}

/// What an extraction shows about the gateways of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Supply {
    Gateways,
    /// A rejection that says when to try again.
    Shortage,
    /// 429, which may come for any request.
    Throttled,
    /// Any other response.
    Nothing,
}

/// None when there is no response, or the budget is used up.
async fn supply(probe: &Probe<'_>, request: &Request) -> Option<Supply> {
    let (exchange, _) = probe.send_once(request).await.ok()?;
    let response = exchange.result.as_ref().ok()?;
    Some(match gives_gateways(probe, &exchange) {
        true => Supply::Gateways,
        false if response.status == 429 => Supply::Throttled,
        // Another check judges its form.
        false if response.header("Retry-After").is_some() => Supply::Shortage,
        false => Supply::Nothing,
    })
}
