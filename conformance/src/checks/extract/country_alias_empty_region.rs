use super::count::entries;
use super::shape;
use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;
use crate::wire::Exchange;

pub(super) static CHECK: Check = Check {
    id: "extract.country-alias.empty-region",
    title: "country means the same as regions where there are no gateways",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractCountryAlias],
    needs: &[Fact::EmptyRegion],
    run: Run::Cases(|_| Case::single(Cost::extraction(20, 16), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let region = probe.facts().empty_region.as_deref().unwrap_or_default();
    for shape in shape::usable(probe).await? {
        let base = || shape.anew(probe).without_query(&extract.regions.name);
        // A shortage may come under any status, so the first answer is taken.
        let (by_regions, _) = probe.send_once(&base().query(&extract.regions.name, region)).await?;
        let (by_country, class) = probe.send_once(&base().query(&extract.country.name, region)).await?;
        if gives_gateways(probe, &by_regions) {
            return Err(probe.skip("the region that was supplied as empty has gateways"));
        }
        if class == ResponseClass::Accepted && gives_gateways(probe, &by_country) {
            // Nor may the service just have been busy.
            probe.control(&shape.anew(probe)).await?;
            let named = || base().query(&extract.regions.name, region);
            let (mut again, class) = probe.send_until_served(named).await?;
            if matches!(class, ResponseClass::Throttled(_)) {
                again = probe.confirm_unavailable(named, || shape.anew(probe)).await?;
            }
            if gives_gateways(probe, &again) {
                return Err(probe.skip("the region that was supplied as empty has gateways"));
            }
            let expected = format!("no gateway, as for regions with the same value, {}", shape.name);
            probe.finding(Clause::ExtractCountryAlias, &expected, "gateways", &[&by_regions, &by_country]);
        }
    }
    Ok(())
}

/// In JSON an entry, in text anything that is no JSON object.
fn gives_gateways(probe: &Probe<'_>, exchange: &Exchange) -> bool {
    let Ok(answer) = &exchange.result else { return false };
    let success = probe.contract().extract.operation.success.status;
    let text = answer.status == success && answer.json().is_none() && !answer.body().is_empty();
    entries(answer).map_or(text, |entries| !entries.is_empty())
}
