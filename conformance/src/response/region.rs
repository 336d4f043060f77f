use std::sync::atomic::{AtomicBool, Ordering};

use super::ResponseClass;
use crate::contract::Contract;
use crate::target::{Fact, Facts};
use crate::wire::{Exchange, GatewayCount, Request};

/// Whether a run has seen gateways of the region that the tester supplied as one with many. Most extractions name it, so a
/// wrong one would show as a service that is busy or rejects everything.
#[derive(Debug, Default)]
pub(crate) struct RegionSupply {
    has_given: AtomicBool,
}

impl RegionSupply {
    /// Notes an exchange; says whether it asked for the region and got none of its gateways.
    pub(crate) fn note(
        &self,
        (contract, facts): (&Contract, &Facts),
        (request, exchange): (&Request, &Exchange),
        class: &ResponseClass,
        count: &GatewayCount,
    ) -> bool {
        if !names_it(contract, facts, request) {
            return false;
        }
        let is_given = *class == ResponseClass::Accepted && *count != GatewayCount::Counted(0);
        if is_given {
            self.has_given.store(true, Ordering::Relaxed);
        }
        let Ok(response) = &exchange.result else { return false };
        // 429 is about the caller, and a server error without a code about the service.
        let is_down = matches!(class, ResponseClass::ServerError(_)) && response.at("/code").is_none();
        !is_given && response.status != 429 && !is_down
    }

    /// What a reason begins with while no gateway of the region has come.
    pub(crate) fn doubt(&self, facts: &Facts) -> Option<String> {
        let region = facts.plentiful_region.as_ref().filter(|_| !self.has_given.load(Ordering::Relaxed))?;
        Some(format!(
            "the service has returned no gateway of the region `{region}` in this run; if it has none there, correct {}",
            Fact::PlentifulRegion.variable()
        ))
    }

    /// Whether what was found may be due to the region, since one of the exchanges names it and no gateway of it has come.
    pub(crate) fn is_in_doubt(&self, contract: &Contract, facts: &Facts, exchanges: &[&Exchange]) -> bool {
        !self.has_given.load(Ordering::Relaxed)
            && exchanges.iter().any(|exchange| names_it(contract, facts, &exchange.request))
    }
}

fn names_it(contract: &Contract, facts: &Facts, request: &Request) -> bool {
    let extract = &contract.extract;
    let Some(region) = facts.plentiful_region.as_deref() else { return false };
    [&extract.regions.name, &extract.country.name]
        .iter()
        .any(|name| request.query_value(name) == Some(region))
}
