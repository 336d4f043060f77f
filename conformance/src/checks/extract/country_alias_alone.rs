use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.country-alias.alone",
    title: "country alone chooses the region",
    operation: Some(OperationId::Extract),
    clauses: &["extract.country-alias"],
    needs: &[Fact::PlentifulRegion],
    cost: Cost::extraction(2, 2),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let good = probe.extract();
    probe.ground(&good).await?;
    let region = probe.facts().plentiful_region.as_deref().unwrap_or_default();
    let alias = good.without_query(&extract.regions.name).query(&extract.country.name, region);
    probe.accepts("extract.country-alias", "country in place of regions", &alias).await?;
    Ok(())
}
