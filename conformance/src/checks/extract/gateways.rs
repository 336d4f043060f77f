//! Gateways belong to the requested region and protocol. A response names neither, so only facts about the gateways or about
//! their number show it.

use std::collections::BTreeSet;

use super::EXTRACT;
use super::content::{self, Served, gateways, gives_gateways, matching};
use super::extraction::{Extraction, Transport, named_region};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop, accepted};
use crate::checks::State;
use crate::checks::requests::{Requests, protocol_to_name};
use crate::checks::row::{controlled_flow, flow};
use crate::contract::Clause;
use crate::contract::part::{NUM, REGIONS};
use crate::target::Fact;
use crate::wire::Request;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "extract.region.gateways",
        title: "gateways belong to the requested region and protocol",
        why: "Traffic leaves in another country than the caller chose, or reaches a gateway that does not speak its protocol.",
        clauses: &[Clause::ExtractProtocol, Clause::ExtractRegion],
        needs: &[Fact::KnownGateways],
        run: Run::Cases(known),
        ..EXTRACT
    },
    Check {
        id: "extract.region.watched",
        title: "no gateway is known to belong to another region or protocol",
        why: "Traffic leaves in another country than the caller chose, or reaches a gateway that does not speak its protocol.",
        clauses: &[Clause::ExtractProtocol, Clause::ExtractRegion],
        needs: &[Fact::KnownGateways],
        run: Run::Passive(|observed| Served::observed(observed)?.gateways()),
        ..EXTRACT
    },
    Check {
        id: "extract.region.scarce",
        title: "a region with a few gateways is not filled up with others",
        why: "Part of the traffic leaves in countries that the caller did not choose, and the response does not show which part.",
        clauses: &[Clause::ExtractProtocol, Clause::ExtractRegion],
        needs: &[Fact::ScarceRegion],
        run: Run::Cases(|scope| {
            let extract = &scope.contract.extract;
            let max = u32::try_from(*extract.num_range.end()).unwrap_or(u32::MAX);
            // These cases may take all gateways of the region, so forms with a request id are tested with few.
            let forms = named_region(extract).into_iter().filter(|form| !form.has_id());
            forms.map(flow("", Cost::extraction(1, max), scarce)).collect()
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.region.empty",
        title: "a region without gateways returns none",
        why: "Traffic leaves in countries that the caller did not choose, and the response does not show it.",
        clauses: &[Clause::ExtractRegion],
        needs: &[Fact::EmptyRegion],
        // A wrong fact is known before other checks spend gateways on it.
        run: Run::FirstCases(|scope| {
            let forms = named_region(&scope.contract.extract).into_iter();
            forms.map(controlled_flow(Cost::requests(2), empty)).collect()
        }),
        ..EXTRACT
    },
];

/// Gateways of a case: enough that gateways of another pool are likely to be among them.
const FEW: u32 = 4;

fn known(scope: &Scope<'_>) -> Vec<Case> {
    let (extract, facts) = (&scope.contract.extract, scope.facts);
    // Forms with the default region would replace the chosen one.
    let forms = || Extraction::all(extract).into_iter().filter(Extraction::names_no_region);
    let in_query = || forms().filter(|form| form.transport() == Transport::Query);
    let texts = Extraction::in_text(extract).into_iter();
    let texts = texts.filter(|form| !form.is_bare() && form.names_no_region());
    // Another region with known gateways, which other checks do not use.
    let taken = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region];
    let mut others = facts.known_gateways.iter().map(|pool| pool.region.clone());
    let other = others.find(|region| !taken.contains(&&Some(region.clone())));
    let case = |form: Extraction, named: &str, region: Option<&String>, protocol: Option<&String>| {
        let label = format!("{}/{named}", form.label());
        let form = Extraction { protocol: protocol.cloned().or(form.protocol), ..form };
        Case::for_data(label, Cost::extraction(1, FEW), (form, region.cloned()), belong)
    };
    let plentiful = forms().chain(texts).map(|form| {
        case(form, "plentiful", facts.plentiful_region.as_ref(), None).needs([Fact::PlentifulRegion])
    });
    let scarce = in_query()
        .map(|form| case(form, "scarce", facts.scarce_region.as_ref(), None).needs([Fact::ScarceRegion]));
    let others = in_query().map(|form| case(form, "other", other.as_ref(), None));
    // The default region, and the default protocol by its name: only the protocol is judged.
    let (region, protocol) = (extract.regions.default_text(), extract.protocol.default_text());
    let default = forms().filter(Extraction::is_bare);
    let default = default.map(|form| case(form, "default protocol", Some(&region), Some(&protocol)));
    plentiful.chain(scarce).chain(others).chain(default).collect()
}

async fn belong(probe: &Probe<'_>, (form, region): (Extraction, Option<String>)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let region = region.ok_or_else(|| {
        probe.skip_lacking("no such region is known", "gateways of one", Fact::KnownGateways)
    })?;
    if form.protocol == Some(extract.protocol.default_text())
        && protocol_to_name(extract, probe.facts()).is_some()
    {
        return Err(probe.skip("the account is not entitled to the default protocol"));
    }
    let request = form.request(probe).query(REGIONS, &region).query(NUM, FEW);
    let (exchange, class) = probe.send_once(&request).await?;
    let Some(served) = accepted(&exchange, &class) else {
        return Err(
            probe.skip(&format!("the service returned no gateways of {region}: {}", class.description()))
        );
    };
    content::judge(probe, &form.name(), &exchange, &served.response);
    if matching(probe.facts(), &served.response).is_empty() {
        return Err(probe.skip(&format!("none of the returned gateways is among {}", Fact::KnownGateways)));
    }
    Ok(())
}

/// A scarce region has fewer different gateways than the maximum `num`.
async fn scarce(probe: &Probe<'_>, form: Extraction) -> Result<(), Stop> {
    let region = probe.facts().scarce_region.as_deref().unwrap_or_default();
    let max = *probe.contract().extract.num_range.end();
    if probe.has_discovered(Fact::ScarceRegion) && form.protocol.is_some() {
        return Err(probe.skip("the region that the run found has few gateways of the default protocol, and may have more of others"));
    }
    let request = form.request(probe).query(REGIONS, region).query(NUM, max);
    let (exchange, class) = probe.send_once(&request).await?;
    let Some(served) = accepted(&exchange, &class) else { return form.control(probe).await };
    let response = &served.response;
    if !form.is_text() && content::entries(response).is_none() {
        return Ok(());
    }
    content::judge(probe, &form.name(), &exchange, response);
    let different: BTreeSet<_> = gateways(probe, &exchange.request, response).into_iter().collect();
    let is_full = |count: usize| i64::try_from(count).is_ok_and(|count| count >= max);
    if is_full(different.len()) {
        // The region may have more gateways by now.
        if probe.has_discovered(Fact::ScarceRegion) {
            let plain = probe.extract().query(REGIONS, region).query(NUM, max);
            let (plain, _) = probe.send_once(&plain).await?;
            if plain.result.as_ref().is_ok_and(|response| is_full(content::count(probe, response))) {
                return Err(probe.skip("the region that the run found has many gateways by now"));
            }
        }
        let origin = match probe.has_discovered(Fact::ScarceRegion) {
            true => "as the run found".to_owned(),
            false => format!("as supplied by {}", Fact::ScarceRegion.variable()),
        };
        let expected = format!("fewer than {max} different gateways of {region}, {}, {origin}", form.name());
        let actual = format!("{} different gateways", different.len());
        probe.finding(Clause::ExtractRegion, &expected, &actual, &[&exchange]);
    }
    Ok(())
}

/// A shortage may have any status, so the first response counts. Others may return gateways meanwhile, so a second response
/// must agree.
async fn empty(probe: &Probe<'_>, form: Extraction) -> Result<(), Stop> {
    let region = probe.facts().empty_region.as_deref().unwrap_or_default();
    // The plain extraction decides whether the supplied region is empty, also when it runs again.
    let decides = form == Extraction::PLAIN && !probe.has_discovered(Fact::EmptyRegion);
    if !decides {
        State::check_empty_region(probe)?;
    }
    form.control(probe).await?;
    let request = || -> Request { form.request(probe).query(REGIONS, region).giving_nothing() };
    let (first, _) = probe.send_once(&request()).await?;
    if !gives_gateways(probe, &first) {
        return Ok(());
    }
    if !decides {
        State::note_gateway_of_empty_region(probe)?;
    }
    let (second, _) = probe.send_once(&request()).await?;
    if gives_gateways(probe, &second) {
        if decides {
            State::withdraw_empty_region(probe)?;
        }
        let variable = Fact::EmptyRegion.variable();
        let expected = format!("no gateway of {region}, {}, as supplied by {variable}", form.name());
        probe.finding(Clause::ExtractRegion, &expected, "gateways", &[&first, &second]);
    }
    Ok(())
}
