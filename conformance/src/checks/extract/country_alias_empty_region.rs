use super::count::entries;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;
use crate::wire::Exchange;

pub(super) static CHECK: Check = Check {
    id: "extract.country-alias.empty-region",
    title: "country means the same as regions where there are no gateways",
    operation: Some(OperationId::Extract),
    clauses: &["extract.country-alias"],
    needs: &[Fact::EmptyRegion],
    cost: Cost::extraction(3, 3),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let region = probe.facts().empty_region.as_deref().unwrap_or_default();
    probe.ground(&probe.extract()).await?;
    let base = probe.extract().without_query(&extract.regions.name);
    let (by_regions, _) = probe.send_once(&base.clone().query(&extract.regions.name, region)).await?;
    let (by_country, _) = probe.send_once(&base.query(&extract.country.name, region)).await?;
    if holds_gateways(&by_regions) {
        return Err(probe.skip("the region that was supplied as empty has gateways"));
    }
    if holds_gateways(&by_country) {
        let expected = "no gateway, as for regions with the same value";
        probe.finding("extract.country-alias", expected, "gateways", &[&by_regions, &by_country]);
    }
    Ok(())
}

fn holds_gateways(exchange: &Exchange) -> bool {
    exchange.result.as_ref().ok().and_then(entries).is_some_and(|entries| !entries.is_empty())
}
