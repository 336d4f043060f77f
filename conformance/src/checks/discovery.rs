//! Facts that the suite finds out by itself, so that a run with a token alone judges more.

use super::extract::has_retry_after;
use crate::contract::Contract;
use crate::response::gateways;
use crate::target::{Facts, Target};
use crate::wire::{Exchange, GatewayCount, Request, ThrottlingPolicy, Wire};

/// Country codes that providers rarely have gateways for: territories without inhabitants, then the smallest countries.
const UNLIKELY_REGIONS: [&str; 16] = [
    "ATA", "BVT", "HMD", "SGS", "ATF", "UMI", "PCN", "TKL", "NIU", "NRU", "TUV", "VAT", "SMR", "LIE", "MCO",
    "ISL",
];

/// How often a shortage must repeat, so that a service which is short of gateways now and then is not taken for one that has
/// none in the region.
const REPEATS: usize = 2;

/// Looks for a region without gateways: the first of some unlikely ones that meets a shortage while another extraction is
/// served. None if there is no such region, or the service is busy.
pub(crate) async fn discover_empty_region(
    contract: &Contract,
    target: &Target,
    wire: &Wire,
) -> Option<&'static str> {
    let extract = &contract.extract;
    let from = |region: Option<&str>| {
        let request = Request::to(&extract.operation)
            .query(&extract.api_key.name, target.token.expose())
            .query(&extract.num.name, extract.num_range.start());
        region.into_iter().fold(request, |request, region| request.query(&extract.regions.name, region))
    };
    let Facts { plentiful_region, scarce_region, .. } = &target.facts;
    let supplied = [plentiful_region.as_deref(), scarce_region.as_deref()];
    for region in UNLIKELY_REGIONS.into_iter().filter(|region| !supplied.contains(&Some(region))) {
        match send(contract, wire, &from(Some(region))).await? {
            Supply::Nothing => {}
            // The service may take any code for the default region, and each further code would cost a gateway.
            Supply::Gateways | Supply::Throttled => return None,
            Supply::Shortage => {
                // A service that is short of gateways everywhere says nothing about the region.
                let control = send(contract, wire, &from(plentiful_region.as_deref())).await?;
                for _ in 0..REPEATS {
                    if send(contract, wire, &from(Some(region))).await? != Supply::Shortage {
                        return None;
                    }
                }
                return (control == Supply::Gateways).then_some(region);
            }
        }
    }
    None
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
async fn send(contract: &Contract, wire: &Wire, request: &Request) -> Option<Supply> {
    let count = |exchange: &mut Exchange| gateways::count(contract, request, &exchange.result);
    let cost = gateways::cost(contract, request);
    let exchange = wire.send(request, cost, ThrottlingPolicy::FirstResponse, count).await.ok()?;
    let response = exchange.result.as_ref().ok()?;
    Some(match gateways::count(contract, request, &exchange.result) {
        GatewayCount::Counted(0) if response.status == 429 => Supply::Throttled,
        GatewayCount::Counted(0) if has_retry_after(&exchange) => Supply::Shortage,
        GatewayCount::Counted(0) => Supply::Nothing,
        GatewayCount::Counted(_) | GatewayCount::Unknown | GatewayCount::Unbounded => Supply::Gateways,
    })
}
