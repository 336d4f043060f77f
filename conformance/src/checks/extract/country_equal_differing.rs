use super::shape;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.country-equal.differing",
    title: "regions and country must be equal when both are sent",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractCountryEqual],
    needs: &[Fact::PlentifulRegion],
    run: Run::Cases(|_| Case::single(Cost::extraction(36, 12), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let (regions, country) = (&extract.regions.name, &extract.country.name);
    let default = extract.regions.schema.default.as_ref().and_then(|default| default.as_str());
    let region = probe.facts().plentiful_region.as_deref().unwrap_or_default();
    // Others of the same length, as codes are, and one of another.
    let others = [probe.facts().scarce_region.as_deref(), probe.facts().empty_region.as_deref(), default];
    let others: Vec<_> = others.into_iter().flatten().filter(|other| *other != region).collect();
    if others.is_empty() {
        return Err(probe.skip("the plentiful region is the default one: supply a country"));
    }
    for shape in shape::usable(probe).await? {
        let good = shape.good(probe).query(regions, region);
        probe.control_once(&good).await?;
        let both = |first: &str, second: &str| shape.anew(probe).query(regions, first).query(country, second);
        let equal = format!("both are sent and equal, {}", shape.name);
        probe.accepts(Clause::ExtractCountryEqual, &equal, &both(region, region)).await?;
        for other in &others {
            for (first, second) in [(region, *other), (*other, region)] {
                let why = format!("{regions}={first} and {country}={second} differ, {}", shape.name);
                probe
                    .rejects_after_control(Clause::ExtractCountryEqual, &why, &good, &both(first, second))
                    .await?;
            }
        }
    }
    Ok(())
}
