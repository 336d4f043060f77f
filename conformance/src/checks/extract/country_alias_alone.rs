use super::shape;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.country-alias.alone",
    title: "country alone chooses the region",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractCountryAlias],
    needs: &[Fact::PlentifulRegion],
    run: Run::Cases(|_| Case::single(Cost::extraction(20, 20), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let default = extract.regions.schema.default.as_ref().and_then(|default| default.as_str());
    let region = probe.facts().plentiful_region.as_deref();
    for shape in shape::usable(probe).await? {
        for value in [region, default].into_iter().flatten() {
            let regions = shape.anew(probe).query(&extract.regions.name, value);
            probe.control_once(&regions).await?;
            let alias =
                shape.anew(probe).without_query(&extract.regions.name).query(&extract.country.name, value);
            let why = format!(
                "{}={value} in place of {}, {}",
                extract.country.name, extract.regions.name, shape.name
            );
            probe.accepts(Clause::ExtractCountryAlias, &why, &alias).await?;
        }
    }
    Ok(())
}
