//! Gateways belong to the requested region and protocol. A response names neither, so only facts about the gateways or about
//! their number show it.

use std::collections::BTreeSet;

use super::supply::partial_result;
use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.region.gateways", known),
    passive("extract.region.watched", |observed| Served::observed(observed)?.gateways()),
    active("extract.region.scarce", |scope| {
        let extract = &scope.contract.extract;
        // These cases may take all gateways of the region, so forms with a request id are tested with few.
        let forms = named_region(extract).into_iter().filter(|form| !form.has_id());
        let judges = &[Judge::Response, Judge::Few(ExtractRegion)];
        let row = |form| partial_result(scope, *extract.num_range.end(), judges).in_form(form);
        cases(ExtractRegion, forms.map(row))
    }),
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

/// Gateways of a case: enough that gateways of another pool are likely to be among them.
const FEW: u32 = 4;

fn known(scope: &Scope<'_>) -> Vec<Case> {
    let (extract, facts) = (&scope.contract.extract, scope.facts);
    let (region, protocol) = (extract.regions.default_text(), extract.protocol.default_text());
    // Forms with the default region would replace the chosen one.
    let forms = || Extraction::all(extract).into_iter().filter(Extraction::names_no_region);
    let in_query = || forms().filter(|form| form.transport() == Transport::Query);
    let texts = Extraction::in_text(extract).into_iter();
    let texts = texts.filter(|form| !form.is_bare() && form.names_no_region());
    let row = |form: Extraction, name: &str, region: &Option<String>| {
        let edits = [set(NUM, FEW), set(REGIONS, region.clone().unwrap_or_default())];
        accept(name, "", edits).in_form(form).giving(FEW, Unless::Nothing, &[Judge::Response])
    };
    let plentiful = forms()
        .chain(texts)
        .map(|form| row(form, "plentiful", &facts.plentiful_region).needing(Fact::PlentifulRegion));
    let scarce = in_query().map(|form| row(form, "scarce", &facts.scarce_region).needing(Fact::ScarceRegion));
    // Every other region with known gateways, since a service may forget about the protocol in one of them.
    let taken = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region];
    let others = facts.known_gateways.iter().map(|pool| &pool.region);
    let others = others.filter(|other| **other != region && !taken.contains(&&Some((*other).clone())));
    let others: BTreeSet<_> = others.cloned().collect();
    let others = others.into_iter().take(MAX_OTHERS).enumerate().flat_map(|(at, other)| {
        let forms = in_query().filter(|form| at == 0 || !form.has_id() && !form.is_text());
        let name = if at == 0 { "other".to_owned() } else { format!("other {}", at + 1) };
        forms.map(|form| row(form, &name, &Some(other.clone()))).collect::<Vec<_>>()
    });
    // The default region, and the default protocol by its name: only the protocol is judged.
    let is_entitled = protocol_to_name(extract, facts).is_none();
    let default = forms().filter(|form| form.is_bare() && is_entitled).map(|form| {
        let label = format!("{}/default protocol", form.label());
        let form = Extraction { protocol: Some(protocol.clone()), ..form };
        row(form, "", &Some(region.clone())).labelled(label)
    });
    cases(ExtractRegion, plentiful.chain(scarce).chain(others).chain(default))
}

/// Further regions with known gateways that are asked for.
const MAX_OTHERS: usize = 12;

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
