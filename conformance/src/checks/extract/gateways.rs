//! Gateways belong to the requested region and protocol. A response names neither, so only facts about the gateways or about
//! their number show it.

use std::collections::BTreeSet;

use super::EXTRACT;
use super::content::{self, gateways};
use super::forms::{Context, Transport, says_error};
use super::row::{controlled_flow, flow};
use crate::check::{
    Case, Check, Cost, ObservedExchange, PassiveFinding, Probe, ResponseClass, Run, Scope, Stop,
};
use crate::checks::State;
use crate::checks::requests::{Requests, protocol_to_name};
use crate::contract::part::{NUM, PROTOCOL, REGIONS};
use crate::contract::{Clause, Extract, Parameter};
use crate::target::{Fact, Facts, GatewayPool, KnownGateway};
use crate::wire::{Exchange, Request, Response};

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
        run: Run::Passive(judge_watched),
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
            let forms = named_region(extract).filter(|context| !context.extra.request_id);
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
            let forms = named_region(&scope.contract.extract);
            forms.map(controlled_flow(Cost::requests(2), empty)).collect()
        }),
        ..EXTRACT
    },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RegionChoice {
    Plentiful,
    Scarce,
    /// Another region with known gateways.
    Other,
    /// The default region, and the default protocol by its name: only the protocol is judged.
    DefaultProtocol,
}

impl RegionChoice {
    const fn label(self) -> &'static str {
        match self {
            Self::Plentiful => "plentiful",
            Self::Scarce => "scarce",
            Self::Other => "other",
            Self::DefaultProtocol => "default protocol",
        }
    }

    /// The region to send.
    ///
    /// # Errors
    /// Skip when no such region is known.
    fn region(self, probe: &Probe<'_>) -> Result<String, Stop> {
        let facts = probe.facts();
        let region = match self {
            Self::Plentiful => facts.plentiful_region.clone(),
            Self::Scarce => facts.scarce_region.clone(),
            Self::Other => other_region(facts).map(str::to_owned),
            Self::DefaultProtocol => Some(probe.contract().extract.regions.default_text()),
        };
        region.ok_or_else(|| {
            probe.skip_lacking("no such region is known", "gateways of one", Fact::KnownGateways)
        })
    }
}

/// A region with known gateways that other checks do not use.
fn other_region(facts: &Facts) -> Option<&str> {
    let taken = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region];
    let regions = facts.known_gateways.iter().map(|pool| pool.region.as_str());
    regions.into_iter().find(|region| taken.iter().all(|taken| taken.as_deref() != Some(region)))
}

/// Gateways of a case: enough that gateways of another pool are likely to be among them.
const FEW: u32 = 4;

fn known(scope: &Scope<'_>) -> Vec<Case> {
    let contexts = || Context::all(&scope.contract.extract).into_iter();
    let named = |choice: RegionChoice| {
        // Forms with the default region would replace the chosen one.
        contexts().filter(|context| !context.extra.region).map(move |context| (context, choice))
    };
    let plain = |context: &Context| context.transport == Transport::Query;
    let case = |(context, choice): (Context, RegionChoice)| {
        let label = format!("{}/{}", context.label(), choice.label());
        let needs = match choice {
            RegionChoice::Plentiful => Some(Fact::PlentifulRegion),
            RegionChoice::Scarce => Some(Fact::ScarceRegion),
            RegionChoice::Other | RegionChoice::DefaultProtocol => None,
        };
        let case = Case::for_data(label, Cost::extraction(1, FEW), (context, choice), belong);
        case.needs(needs)
    };
    let some = named(RegionChoice::Scarce)
        .chain(named(RegionChoice::Other))
        .filter(|(context, _)| plain(context))
        .chain(named(RegionChoice::DefaultProtocol).filter(|(context, _)| context.extra.is_nothing()));
    let texts = Context::in_text(&scope.contract.extract).into_iter();
    let texts = texts.filter(|context| !context.extra.is_nothing() && !context.extra.region);
    let texts = texts.map(|context| (context, RegionChoice::Plentiful));
    named(RegionChoice::Plentiful).chain(texts).chain(some).map(case).collect()
}

async fn belong(probe: &Probe<'_>, (context, choice): (Context, RegionChoice)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let region = choice.region(probe)?;
    let mut request = context.request(probe).query(REGIONS, &region).query(NUM, FEW);
    if choice == RegionChoice::DefaultProtocol {
        if protocol_to_name(extract, probe.facts()).is_some() {
            return Err(probe.skip("the account is not entitled to the default protocol"));
        }
        request = request.query(PROTOCOL, extract.protocol.default_text());
    }
    let (exchange, class) = probe.send_once(&request).await?;
    let (ResponseClass::Accepted, Ok(response)) = (&class, &exchange.result) else {
        return Err(
            probe.skip(&format!("the service returned no gateways of {region}: {}", class.description()))
        );
    };
    if !judge_known(probe, &context, (&exchange, response), &region) {
        return Err(probe.skip(&format!("none of the returned gateways is among {}", Fact::KnownGateways)));
    }
    Ok(())
}

/// Reports gateways that are known to be of another region or protocol. Returns whether any gateway is known.
fn judge_known(
    probe: &Probe<'_>,
    context: &Context,
    (exchange, response): (&Exchange, &Response),
    region: &str,
) -> bool {
    let extract = &probe.contract().extract;
    let protocol = exchange.request.query_value(PROTOCOL);
    let protocol = protocol.map_or_else(|| extract.protocol.default_text(), str::to_owned);
    let found = matching(probe.facts(), response);
    for MisplacedGateways { clause, expected, actual } in misplaced(extract, &found, region, &protocol) {
        let expected = format!("{expected}, {}", context.name());
        probe.finding(clause, &expected, &actual, &[exchange]);
    }
    !found.is_empty()
}

/// Known gateways of another region or protocol than requested.
struct MisplacedGateways {
    clause: Clause,
    expected: String,
    actual: String,
}

/// The known gateways of a response that do not belong to the region and to the protocol.
fn misplaced(
    extract: &Extract,
    found: &[GatewayMatch<'_>],
    region: &str,
    protocol: &str,
) -> Vec<MisplacedGateways> {
    let any_region = region == extract.regions.default_text();
    let wrong = |clause: Clause, expected: String, is_right: &dyn Fn(&GatewayPool) -> bool| {
        let others: Vec<_> =
            found.iter().filter(|(_, pools)| !pools.iter().any(|pool| is_right(pool))).collect();
        let (gateway, pools) = others.first()?;
        let pool =
            pools.first().map_or_else(String::new, |pool| format!("{} {}", pool.region, pool.protocol));
        let actual = format!(
            "{} of {} known ones are of others, such as {gateway} of {pool}",
            others.len(),
            found.len()
        );
        let expected = format!("{expected}, as supplied by {}", Fact::KnownGateways.variable());
        Some(MisplacedGateways { clause, expected, actual })
    };
    let of_region = wrong(Clause::ExtractRegion, format!("gateways of the region {region}"), &|pool| {
        any_region || pool.region == region
    });
    let of_protocol = wrong(Clause::ExtractProtocol, format!("gateways that speak {protocol}"), &|pool| {
        pool.protocol == protocol
    });
    of_region.into_iter().chain(of_protocol).collect()
}

/// Does not judge invalid requests, nor regions without known gateways.
fn judge_watched(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    if *observed.class != ResponseClass::Accepted {
        return None;
    }
    let extract = &observed.contract.extract;
    let sent = |parameter: &Parameter| -> Option<Option<String>> {
        match observed.request.query_value(&parameter.name) {
            Some(_) => Some(Some(observed.request.only_query_value(&parameter.name)?.to_owned())),
            None => Some(None),
        }
    };
    let (default_region, default_protocol) =
        (extract.regions.default_text(), extract.protocol.default_text());
    let region = match (sent(&extract.regions)?, sent(&extract.country)?) {
        (Some(regions), Some(country)) if regions != country => return None,
        (regions, country) => regions.or(country).unwrap_or_else(|| default_region.clone()),
    };
    let protocol = sent(&extract.protocol)?.unwrap_or(default_protocol);
    let is_known = observed.facts.known_gateways.iter().any(|pool| pool.region == region);
    if !(is_known || region == default_region) || !extract.protocols.contains(&protocol) {
        return None;
    }
    let found = matching(observed.facts, observed.response);
    if found.is_empty() {
        return None;
    }
    let finding = |MisplacedGateways { clause, expected, actual }: MisplacedGateways| {
        PassiveFinding::fail(clause, "", expected, actual)
    };
    Some(misplaced(extract, &found, &region, &protocol).into_iter().map(finding).collect())
}

/// A gateway of a response, and the known pools that contain it.
type GatewayMatch<'a> = (KnownGateway, Vec<&'a GatewayPool>);

/// The known gateways of a response, with repetitions.
pub(super) fn matching<'a>(facts: &'a Facts, response: &Response) -> Vec<GatewayMatch<'a>> {
    let pools = &facts.known_gateways;
    let pools_of = |gateway: &KnownGateway| -> Vec<&'a GatewayPool> {
        pools.iter().filter(|pool| pool.gateways.contains(gateway)).collect()
    };
    let returned: Vec<KnownGateway> = match response.at("/data").and_then(|data| data.as_array()) {
        Some(entries) => entries.iter().filter_map(entry).collect(),
        None => {
            let text = response.text();
            let known = || pools.iter().flat_map(|pool| &pool.gateways);
            let in_line = |line: &str| known().find(|gateway| names(line, gateway)).cloned();
            text.lines().filter_map(in_line).collect()
        }
    };
    let found = returned.into_iter().map(|gateway| (pools_of(&gateway), gateway));
    found.filter(|(pools, _)| !pools.is_empty()).map(|(pools, gateway)| (gateway, pools)).collect()
}

fn entry(entry: &serde_json::Value) -> Option<KnownGateway> {
    let port = entry.get("port")?.as_u64().and_then(|port| u16::try_from(port).ok())?;
    Some(KnownGateway { host: entry.get("ip")?.as_str()?.to_owned(), port })
}

/// Whether an entry of a text names a gateway: its host and its port, each as a whole word.
fn names(entry: &str, gateway: &KnownGateway) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    has_word(entry, &gateway.host, part) && has_word(entry, &gateway.port.to_string(), part)
}

fn has_word(text: &str, word: &str, part: impl Fn(char) -> bool) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(&part) && !after.is_some_and(&part)
    })
}

/// The region to which all known gateways of a response belong, if there is one. The default region may contain gateways of all
/// others, so one that is known to be of it belongs to none of them.
pub(super) fn only_region<'a>(probe: &Probe<'a>, response: &Response) -> Option<&'a str> {
    let default = probe.contract().extract.regions.default_text();
    let found = matching(probe.facts(), response);
    let is_of = |pools: &[&GatewayPool], region: &str| pools.iter().any(|pool| pool.region == region);
    let (_, first) = found.first()?;
    first
        .iter()
        .map(|pool| pool.region.as_str())
        .find(|region| found.iter().all(|(_, pools)| is_of(pools, region) && !is_of(pools, &default)))
}

fn named_region(extract: &Extract) -> impl Iterator<Item = Context> {
    Context::in_query(extract).into_iter().filter(|context| !context.extra.region)
}

/// A scarce region has fewer different gateways than the maximum `num`.
async fn scarce(probe: &Probe<'_>, context: Context) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let region = probe.facts().scarce_region.as_deref().unwrap_or_default();
    let max = *extract.num_range.end();
    if probe.has_discovered(Fact::ScarceRegion) && context.extra.protocol.is_some() {
        return Err(probe.skip("the region that the run found has few gateways of the default protocol, and may have more of others"));
    }
    let request = context.request(probe).query(REGIONS, region).query(NUM, max);
    let (exchange, class) = probe.send_once(&request).await?;
    let (ResponseClass::Accepted, Ok(response)) = (&class, &exchange.result) else {
        return context.control(probe).await;
    };
    if !context.is_text && content::entries(response).is_none() {
        return Ok(());
    }
    judge_known(probe, &context, (&exchange, response), region);
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
        let expected =
            format!("fewer than {max} different gateways of {region}, {}, {origin}", context.name());
        let actual = format!("{} different gateways", different.len());
        probe.finding(Clause::ExtractRegion, &expected, &actual, &[&exchange]);
    }
    Ok(())
}

/// A shortage may have any status, so the first response counts. Others may return gateways meanwhile, so a second response
/// must agree.
async fn empty(probe: &Probe<'_>, context: Context) -> Result<(), Stop> {
    let region = probe.facts().empty_region.as_deref().unwrap_or_default();
    // The plain extraction decides whether the supplied region is empty, also when it runs again.
    let decides = context == Context::PLAIN && !probe.has_discovered(Fact::EmptyRegion);
    if !decides {
        State::check_empty_region(probe)?;
    }
    context.control(probe).await?;
    let request = || -> Request { context.request(probe).query(REGIONS, region).giving_nothing() };
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
        let expected = format!("no gateway of {region}, {}, as supplied by {variable}", context.name());
        probe.finding(Clause::ExtractRegion, &expected, "gateways", &[&first, &second]);
    }
    Ok(())
}

/// Whether a response contains gateways: in JSON the entries of a success, in text anything but JSON and error messages.
pub(in crate::checks) fn gives_gateways(probe: &Probe<'_>, exchange: &Exchange) -> bool {
    let Ok(response) = &exchange.result else { return false };
    let success = probe.contract().extract.operation.success.status;
    let is_text = response.status == success && response.json().is_none() && !response.body().is_empty();
    let is_text = is_text && !says_error(response);
    content::entries(response).map_or(is_text, |entries| !entries.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_names_a_gateway_by_whole_words() {
        let gateway = KnownGateway { host: "203.0.113.1".to_owned(), port: 80 };
        for (entry, expected) in [
            ("203.0.113.1:80", true),
            ("http://203.0.113.1:80/", true),
            ("ip=203.0.113.1;port=80", true),
            ("80 203.0.113.1", true),
            ("203.0.113.1:8080", false),
            ("203.0.113.12:80", false),
            ("1.203.0.113.1:80", false),
            ("203.0.113.1", false),
        ] {
            assert_eq!(names(entry, &gateway), expected, "{entry}");
        }
    }
}
