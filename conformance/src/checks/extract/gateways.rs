//! Gateways belong to the requested region and protocol. A response names neither, so only facts about the gateways or about
//! their number show it.

use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    passive("extract.region.watched", |observed| Served::observed(observed)?.gateways()),
    // A wrong fact is known before other checks spend gateways on it.
    first("extract.region.empty", |scope| without_gateways(named_region(&scope.contract.extract), REGIONS)),
    active("extract.country-alias.empty-region", |scope| {
        without_gateways(Extraction::all(&scope.contract.extract), COUNTRY)
    }),
];

fn without_gateways(forms: Vec<Extraction>, name: &'static str) -> Vec<Case> {
    let case = |form: Extraction| {
        form.share(Case::for_data(form.label(), Cost::requests(2), (form.clone(), name), empty))
    };
    forms.into_iter().map(case).collect()
}

/// Neither name of the empty region returns a gateway. A shortage may have any status, so the first response counts. Others may
/// return gateways meanwhile, so a second response must agree.
async fn empty(probe: &Probe<'_>, (form, name): (Extraction, &'static str)) -> Result<(), Stop> {
    let region = probe.facts().empty_region.as_deref().unwrap_or_default();
    let is_alias = name == COUNTRY;
    // The plain extraction decides whether the supplied region is empty, also when it runs again.
    let decides = !is_alias && form == Extraction::PLAIN && !probe.has_discovered(Fact::EmptyRegion);
    if !decides {
        State::check_empty_region(probe)?;
    }
    form.control(probe).await?;
    let request = |name| form.request(probe).without_query(REGIONS).query(name, region).giving_nothing();
    let (first, _) = probe.send_once(&request(name)).await?;
    if !gives_gateways(probe, &first) {
        return Ok(());
    }
    let (by_regions, _) = shortage::send(probe, &form.request(probe)).await?;
    let has_gateways = gives_gateways(probe, &by_regions);
    if has_gateways && !decides {
        State::note_gateway_of_empty_region(probe)?;
    }
    let mut shown = vec![first, by_regions];
    if is_alias && has_gateways {
        let variable = Fact::EmptyRegion.variable();
        return Err(probe.skip(&format!("the region of {variable} has gateways; correct {variable}")));
    } else if is_alias {
        shown.push(probe.send_once(&request(name)).await?.0);
    }
    if shown.last().is_some_and(|again| gives_gateways(probe, again)) {
        if decides {
            State::withdraw_empty_region(probe)?;
        }
        let clause = if is_alias { ExtractCountryAlias } else { ExtractRegion };
        let variable = Fact::EmptyRegion.variable();
        let expected =
            format!("no gateway of {region} in `{name}`, {}, as supplied by {variable}", form.name());
        probe.finding(clause, &expected, "gateways", &shown.iter().collect::<Vec<_>>());
    }
    Ok(())
}
