use super::count::entries;
use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.country-alias.scarce-region",
    title: "country means the same as regions where there are few gateways",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractCountryAlias],
    needs: &[Fact::ScarceRegion],
    run: Run::Cases(|_| Case::single(Cost::extraction(3, 201), |probe| Box::pin(run(probe)))),
};

/// A country that is not looked at gives as many as are asked for, where regions gives fewer or none.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let most = *extract.num_range.end();
    let region = probe.facts().scarce_region.as_deref().unwrap_or_default();
    probe.control_once(&probe.extract()).await?;
    let base = probe.extract().without_query(&extract.regions.name).query(&extract.num.name, most);
    let full = |count: usize| i64::try_from(count).is_ok_and(|count| count >= most);
    let mut came = Vec::new();
    for name in [&extract.regions.name, &extract.country.name] {
        let (exchange, class) = probe.send_once(&base.clone().query(name, region)).await?;
        let count = exchange.result.as_ref().ok().and_then(entries).map_or(0, |entries| entries.len());
        came.push((exchange, class, count));
    }
    let [(by_regions, class, few), (by_country, _, many)] = &came[..] else { return Ok(()) };
    if full(*few) {
        return Err(probe.skip("the region that was supplied as scarce gave all that was asked for"));
    }
    if full(*many) {
        // A shortage may come as 503, and so may anything from a service that is busy.
        if matches!(class, ResponseClass::Throttled(_)) {
            let named = || base.clone().query(&extract.regions.name, region);
            probe.confirm_unavailable(named, || probe.extract()).await?;
        }
        let expected = format!("about {few} entries, as for regions with the same value");
        let actual = format!("{many} entries");
        probe.finding(Clause::ExtractCountryAlias, &expected, &actual, &[by_regions, by_country]);
    }
    Ok(())
}
