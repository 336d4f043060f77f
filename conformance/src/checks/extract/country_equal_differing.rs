use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.country-equal.differing",
    title: "regions and country must be equal when both are sent",
    operation: Some(OperationId::Extract),
    clauses: &["extract.country-equal"],
    needs: &[Fact::PlentifulRegion],
    cost: Cost::extraction(4, 2),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let (regions, country) = (&extract.regions, &extract.country);
    let default = regions.schema.default.as_ref().and_then(|default| default.as_str()).unwrap_or_default();
    let region = probe.facts().plentiful_region.as_deref().unwrap_or_default();
    if region == default {
        return Err(probe.skip("the plentiful region is the default one: supply a country"));
    }
    let good = probe.extract().query(&regions.name, region);
    probe.ground(&good).await?;
    let equal = good.clone().query(&country.name, region);
    probe.accepts("extract.country-equal", "both are sent and equal", &equal).await?;
    let differing = good.clone().query(&country.name, default);
    probe.refuses("extract.country-equal", "both are sent and differ", &good, &differing).await?;
    let swapped = good.clone().query(&regions.name, default).query(&country.name, region);
    probe
        .refuses("extract.country-equal", "both are sent and differ, the other way round", &good, &swapped)
        .await
}
