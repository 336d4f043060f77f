use std::sync::atomic::{AtomicBool, Ordering};

use super::ResponseClass;
use crate::contract::Contract;
use crate::target::{Fact, Facts};
use crate::wire::{Exchange, GatewayCount, Request};

/// Whether a run has seen gateways of the plentiful region. With a wrong one a service would look busy or reject everything.
#[derive(Debug, Default)]
pub(crate) struct RegionSupply(AtomicBool);

impl RegionSupply {
    /// Notes an exchange; returns whether it requested the region and got no gateway.
    pub(crate) fn note(
        &self,
        (contract, facts): (&Contract, &Facts),
        (request, exchange): (&Request, &Exchange),
        class: &ResponseClass,
        count: &GatewayCount,
    ) -> bool {
        if !requests_it(contract, facts, request) {
            return false;
        }
        let has_some = *class == ResponseClass::Accepted && *count != GatewayCount::Counted(0);
        if has_some {
            self.0.store(true, Ordering::Relaxed);
        }
        let Ok(response) = &exchange.result else { return false };
        // 429 is about the caller, and a server error without a code about the service.
        let is_down = matches!(class, ResponseClass::ServerError(_)) && response.at("/code").is_none();
        !has_some && response.status != 429 && !is_down
    }

    /// The beginning of a reason while the region may have no gateways.
    pub(crate) fn doubt(&self, facts: &Facts) -> Option<String> {
        let region = facts.plentiful_region.as_ref().filter(|_| !self.0.load(Ordering::Relaxed))?;
        Some(format!(
            "the service has returned no gateway of the region `{region}` in this run; if it has none there, correct {}",
            Fact::PlentifulRegion.variable()
        ))
    }

    /// Whether a finding may be due to the region, because an exchange requests it and it may have no gateways.
    pub(crate) fn is_in_doubt(&self, contract: &Contract, facts: &Facts, exchanges: &[&Exchange]) -> bool {
        !self.0.load(Ordering::Relaxed)
            && exchanges.iter().any(|exchange| requests_it(contract, facts, &exchange.request))
    }
}

fn requests_it(contract: &Contract, facts: &Facts, request: &Request) -> bool {
    let extract = &contract.extract;
    let Some(region) = facts.plentiful_region.as_deref() else { return false };
    let names = [&extract.regions.name, &extract.country.name];
    names.iter().any(|name| request.query_value(name) == Some(region))
}
