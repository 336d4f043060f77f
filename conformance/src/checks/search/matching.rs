//! The instances that an item finds, with and without a port.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::SEARCH;
use super::addresses;
use super::cases::{BATCHES, batch, surveyed, surveyed_case};
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{
    CHANGED_MEANWHILE, Comparison, Instance, Survey, lacks_addresses, read, read_accepted, survey,
};
use crate::contract::{Clause, Search};
use crate::quantity::quantity;
use crate::target::Fact;

pub(super) static ANY_PORT_BATCH: Check = Check {
    id: "search.match-any-port.batch",
    title: "a large batch finds what its two halves find",
    why: "Callers search for their whole inventory. Instances that are missing from large batches look cancelled.",
    clauses: &[Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let halves = Case::new("halves", Cost::requests(4), halves);
        let places = [
            ("first of the largest batch", 0),
            ("250th of the largest batch", 249),
            ("last of the largest batch", usize::MAX),
        ];
        let placed = surveyed(places.map(|(label, at)| (label, 1, at)), among_many);
        let raw = surveyed_case("last of the maximum number of raw items", 1, last_of_raw);
        let alike = Case::new("batches of one size with one beginning", Cost::requests(6), alike_batches);
        [halves, alike].into_iter().chain(placed).chain([raw]).collect()
    }),
    ..SEARCH
};

pub(super) static ANY_PORT_PORTS: Check = Check {
    id: "search.match-any-port.ports",
    title: "an address without a port finds everything that its single ports find",
    why: "A caller who knows only the address never finds the instances on its other ports.",
    clauses: &[Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(8), hidden_ports)),
    ..SEARCH
};

pub(super) static ANY_PORT_SUBSET: Check = Check {
    id: "search.match-any-port.subset",
    title: "an address without a port finds every instance of that address and no other",
    why: "A lookup by address decides which instance is renewed or moved. Prefix matching or a missed port affects a wrong one.",
    clauses: &[Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let mut cases = surveyed(FAMILIES.map(|(label, v6)| (label, 5, v6)), any_port);
        cases.push(surveyed_case("addresses with a part in common", 1, halves_of_addresses));
        cases
    }),
    ..SEARCH
};

pub(super) static PORT_BATCHES: Check = Check {
    id: "search.match-port.batches",
    title: "a batch of items with ports finds exactly those addresses and ports",
    why: "If addresses and ports are matched independently, the result has instances of other combinations.",
    clauses: &[Clause::SearchMatchPort, Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| surveyed(BATCHES.map(|name| (name, 1, name)), reversed)),
    ..SEARCH
};

pub(super) static PORT_OTHER: Check = Check {
    id: "search.match-port.other-port",
    title: "an item with a port that the address does not have finds nothing",
    why: "A caller that checks whether its port still exists finds another port of the address.",
    clauses: &[Clause::SearchMatchPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| surveyed(FAMILIES.map(|(label, v6)| (label, 10, v6)), other_port)),
    ..SEARCH
};

pub(super) static PORT_SUBSET: Check = Check {
    id: "search.match-port.subset",
    title: "an item with a port finds exactly that address and port",
    why: "Several instances share an address and differ by port. Taking one for another changes the wrong one.",
    clauses: &[Clause::SearchMatchPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| surveyed(FAMILIES.map(|(label, v6)| (label, 8, v6)), own_port)),
    ..SEARCH
};

pub(super) static PORT_UNION: Check = Check {
    id: "search.match-port.union",
    title: "items with and without ports of one address find everything that each of them finds",
    why: "Lists mix both forms. If one form hides the other, instances are missing depending on the order of the list.",
    clauses: &[Clause::SearchMatchPort, Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let cases = FAMILIES.into_iter().flat_map(|(family, v6)| {
            UNIONS.map(|(label, union)| (format!("{family}, {label}"), 1, (v6, union)))
        });
        surveyed(cases, union)
    }),
    ..SEARCH
};

/// The address families: label, and whether it is IPv6.
const FAMILIES: [(&str, bool); 2] = [("IPv4", false), ("IPv6", true)];

/// The maximum number of items, all unknown but one, which is found at any position.
async fn among_many(probe: &Probe<'_>, at: usize) -> Result<(), Stop> {
    let max = probe.contract().search.distinct_items;
    let survey = survey(probe).await?;
    let held = survey.values(|instance| Some(instance.ip));
    let address = some(probe, held)?[0];
    let own = survey.spelt(address);
    let mut items: Vec<String> =
        addresses::distinct(max).into_iter().filter(|item| *item != own).take(max - 1).collect();
    let at = at.min(items.len());
    items.insert(at, own.clone());
    let what = format!("{own}, at place {at} of {max} items");
    let mut comparison = Comparison::with(survey);
    let request = probe.search(items);
    if let Some(found) = read_accepted(probe, Clause::SearchMatchAnyPort, &what, &request).await? {
        let expected = survey.ids_where(|instance| instance.ip == address);
        let missing: Vec<_> = expected.iter().filter(|id| !found.instances.contains_key(id)).collect();
        if !missing.is_empty() {
            let (expected, actual) =
                (format!("{what}, is found"), format!("{} missing", quantity(missing.len(), "instance")));
            comparison.differs(Clause::SearchMatchAnyPort, expected, actual, &found.evidence());
        }
    }
    comparison.conclude(probe).await
}

/// The limit counts raw items before duplicates are removed, so the last of them must be searched like the first.
async fn last_of_raw(probe: &Probe<'_>) -> Result<(), Stop> {
    let max = *probe.contract().search.raw_items.end();
    let survey = survey(probe).await?;
    let held = survey.values(|instance| Some(instance.ip));
    let address = some(probe, held)?[0];
    let mut items = vec![addresses::unknown(probe.facts(), address).to_string(); max - 1];
    items.push(survey.spelt(address));
    let mut comparison = Comparison::with(survey);
    let what = format!("{}, the last of {max} raw items", survey.spelt(address));
    let request = probe.search(items);
    let expected = survey.ids_where(|instance| instance.ip == address);
    comparison.finds(probe, Clause::SearchMatchAnyPort, &what, &request, &expected).await?;
    comparison.conclude(probe).await
}

/// Batches that differ only in their last item have different results.
async fn alike_batches(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let held = survey.values(|instance| Some(instance.ip));
    let [first, second, third] = some(probe, held)?.into_iter().take(3).collect::<Vec<_>>()[..] else {
        return Err(lacks_addresses(
            probe,
            "fewer than three of the searched addresses have instances",
            "three",
        ));
    };
    let mut comparison = Comparison::with(survey);
    for last in [second, third, second] {
        let items = vec![survey.spelt(first), survey.spelt(last)];
        let expected = survey.ids_where(|instance| [first, last].contains(&instance.ip));
        finds(probe, &mut comparison, Clause::SearchMatchAnyPort, items, expected).await?;
    }
    comparison.conclude(probe).await
}

/// S(a ∪ b) = S(a) ∪ S(b), for as many addresses as one search takes.
async fn halves(probe: &Probe<'_>) -> Result<(), Stop> {
    let max = probe.contract().search.distinct_items;
    let mut seen = BTreeSet::new();
    let items: Vec<_> = probe.own_addresses(max).into_iter().filter(|item| seen.insert(*item)).collect();
    let everything = probe.search(items.clone());
    let (first, second) = items.split_at(items.len() / 2);
    if first.is_empty() {
        return Err(lacks_addresses(
            probe,
            "one address cannot be split into two searches",
            "more addresses",
        ));
    }
    let whole = read(probe, &everything).await?;
    let mut parts = BTreeSet::new();
    let mut evidence = whole.evidence();
    let halves = [
        read(probe, &probe.search(first.to_vec())).await?,
        read(probe, &probe.search(second.to_vec())).await?,
    ];
    for half in &halves {
        parts.extend(half.ids());
        evidence.extend(half.evidence());
    }
    if parts == whole.ids() {
        return Ok(());
    }
    if read(probe, &everything).await?.instances != whole.instances {
        return Err(probe.inconclusive(CHANGED_MEANWHILE));
    }
    let lost: Vec<_> = parts.difference(&whole.ids()).take(5).copied().collect();
    let added: Vec<_> = whole.ids().difference(&parts).take(5).copied().collect();
    let expected = format!(
        "one search for {} addresses finds what two searches for its halves find: {}",
        items.len(),
        quantity(parts.len(), "instance")
    );
    let actual =
        format!("{}; missing {lost:?}…, too many {added:?}…", quantity(whole.instances.len(), "instance"));
    probe.finding(Clause::SearchMatchAnyPort, &expected, &actual, &evidence);
    Ok(())
}

/// If an item without a port does not find some ports, they can only be guessed: this tries ports of other addresses, the ports
/// next to them, and the first and the last port.
async fn hidden_ports(probe: &Probe<'_>) -> Result<(), Stop> {
    const MAX_KNOWN: usize = 6;
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let known = survey.values(|instance| Some(instance.port)).into_iter().take(MAX_KNOWN);
    // A service may return any number for a port.
    let near = known.flat_map(|port| [port, port.saturating_add(1), port.saturating_add(2)]);
    let ends = [*search.ports.start(), *search.ports.end()];
    let ports: BTreeSet<u16> = near
        .chain(ends)
        .filter(|port| search.ports.contains(port))
        .filter_map(|port| u16::try_from(port).ok())
        .collect();
    let items = survey.addresses.iter().flat_map(|ip| ports.iter().map(|port| survey.spelt_with(*ip, *port)));
    let items: Vec<String> = items.collect();
    for chunk in items.chunks(search.distinct_items) {
        let found = read(probe, &probe.search(chunk.to_vec())).await?;
        let hidden: Vec<_> = found
            .instances
            .values()
            .filter(|instance| !survey.instances.contains_key(&instance.id))
            .collect();
        if let Some(instance) = hidden.first() {
            let expected = format!("{} without a port finds its port {}", instance.ip, instance.port);
            let actual =
                format!("not found; {} found only by address with port", quantity(hidden.len(), "instance"));
            comparison.differs(Clause::SearchMatchAnyPort, expected, actual, &found.evidence());
        }
    }
    comparison.conclude(probe).await
}

/// Addresses that share a half with an own address are other addresses.
async fn halves_of_addresses(probe: &Probe<'_>) -> Result<(), Stop> {
    const MAX_ADDRESSES: usize = 20;
    let survey = survey(probe).await?;
    let like = |ip: &IpAddr| match ip {
        IpAddr::V4(ip) => [0x0001_0000_u32, 0x1].map(|bit| Ipv4Addr::from_bits(ip.to_bits() ^ bit).into()),
        IpAddr::V6(ip) => [1_u128 << 96, 1 << 32].map(|bit| Ipv6Addr::from_bits(ip.to_bits() ^ bit).into()),
    };
    let alike: BTreeSet<IpAddr> = survey.addresses.iter().take(MAX_ADDRESSES).flat_map(like).collect();
    let found = read(probe, &probe.search(alike.iter().map(ToString::to_string))).await?;
    if let Some(other) = found.instances.values().find(|instance| !alike.contains(&instance.ip)) {
        let expected = "instances of the requested addresses";
        let actual = format!("an instance of {}, which shares a part with one of them", other.ip);
        probe.finding(Clause::SearchMatchAnyPort, expected, &actual, &found.evidence());
    }
    Ok(())
}

async fn any_port(probe: &Probe<'_>, is_v6: bool) -> Result<(), Stop> {
    const MAX_ADDRESSES: usize = 5;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    // Addresses with the most ports come first.
    let addresses = survey.values(|instance| (instance.ip.is_ipv6() == is_v6).then_some(instance.ip));
    for address in some(probe, addresses)?.into_iter().take(MAX_ADDRESSES) {
        let expected = survey.ids_where(|instance| instance.ip == address);
        finds(probe, &mut comparison, Clause::SearchMatchAnyPort, vec![survey.spelt(address)], expected)
            .await?;
    }
    comparison.conclude(probe).await
}

async fn reversed(probe: &Probe<'_>, name: &str) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let batch = batch(probe, survey, name)?;
    let mut comparison = Comparison::with(survey);
    let what = format!("a batch of {name}");
    let items = batch.items.iter().rev().map(String::as_str);
    comparison.finds(probe, Clause::SearchMatchPort, &what, &probe.search(items), &batch.ids).await?;
    comparison.conclude(probe).await
}

/// Each absent port alone, and all of them in one batch.
async fn other_port(probe: &Probe<'_>, is_v6: bool) -> Result<(), Stop> {
    const MAX_ADDRESSES: usize = 3;
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let addresses = survey.values(|instance| (instance.ip.is_ipv6() == is_v6).then_some(instance.ip));
    let mut all = Vec::new();
    for address in some(probe, addresses)?.into_iter().take(MAX_ADDRESSES) {
        for port in absent(survey, search, address) {
            let item = survey.spelt_with(address, port);
            finds(probe, &mut comparison, Clause::SearchMatchPort, vec![item.clone()], BTreeSet::new())
                .await?;
            all.push(item);
        }
        all.extend(wrapped(survey, search, address));
    }
    if all.len() > 1 {
        finds(probe, &mut comparison, Clause::SearchMatchPort, all, BTreeSet::new()).await?;
    }
    comparison.conclude(probe).await
}

fn held_ports(survey: &Survey, address: IpAddr) -> BTreeSet<i64> {
    let held = survey.instances.values().filter(|instance| instance.ip == address);
    held.map(|instance| instance.port).collect()
}

/// Ports that the address does not have: one next to its ports, one of another address, and one with a prefix of its digits.
fn absent(survey: &Survey, search: &Search, address: IpAddr) -> Vec<u16> {
    let held = held_ports(survey, address);
    let beside = held.iter().flat_map(|port| [port.saturating_add(1), port.saturating_sub(1)]);
    let elsewhere = survey.values(|instance| Some(instance.port));
    let wanted = |port: &i64| search.ports.contains(port) && !held.contains(port);
    let first = beside.clone().find(wanted);
    let other = elsewhere.into_iter().find(wanted);
    let beginning = held.iter().map(|port| port / 10).find(wanted);
    let ports: BTreeSet<i64> = first.into_iter().chain(other).chain(beginning).collect();
    ports.into_iter().filter_map(|port| u16::try_from(port).ok()).collect()
}

/// Ports that differ in one bit from a port of the address.
fn wrapped(survey: &Survey, search: &Search, address: IpAddr) -> Vec<String> {
    let held = held_ports(survey, address);
    let port = held.first().copied().unwrap_or_default();
    let others = [port ^ (1 << 8), port ^ (1 << 15)].into_iter();
    let absent = others.filter(|port| search.ports.contains(port) && !held.contains(port));
    absent.filter_map(|port| Some(survey.spelt_with(address, u16::try_from(port).ok()?))).collect()
}

/// S(ip:port) is the part of S(ip) with that port, for a few ports from the most frequent to the rarest.
async fn own_port(probe: &Probe<'_>, is_v6: bool) -> Result<(), Stop> {
    const MAX: usize = 8;
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let usable = survey.values(|instance| {
        let item = survey.item(search, instance).filter(|_| instance.ip.is_ipv6() == is_v6);
        item.map(|item| (instance.ip, item, instance.port))
    });
    let usable = some(probe, usable)?;
    let step = usable.len().div_ceil(MAX).max(1);
    for (ip, item, port) in usable.into_iter().step_by(step) {
        let expected = survey.ids_where(|instance| (instance.ip, instance.port) == (ip, port));
        finds(probe, &mut comparison, Clause::SearchMatchPort, vec![item], expected).await?;
    }
    comparison.conclude(probe).await
}

/// Selects items of one address, from the item without a port and those with ports.
type Union = fn(bare: String, ported: &[String]) -> (Vec<String>, ExpectedMatches);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedMatches {
    Everything,
    AllPorts,
    AllPortsButTheFirst,
}

const UNIONS: [(&str, Union); 7] = [
    ("every port", |_, ported| (ported.to_vec(), ExpectedMatches::AllPorts)),
    ("every port but one", |_, ported| (ported[1..].to_vec(), ExpectedMatches::AllPortsButTheFirst)),
    ("a port before no port", |bare, ported| (vec![ported[0].clone(), bare], ExpectedMatches::Everything)),
    ("a port after no port", |bare, ported| (vec![bare, ported[0].clone()], ExpectedMatches::Everything)),
    ("every port after no port", |bare, ported| ([&[bare], ported].concat(), ExpectedMatches::Everything)),
    ("a port after no port, among others", |bare, ported| {
        let both = [bare.clone(), ported[0].clone()];
        let again = both.clone();
        (addresses::unused(180).chain(both).chain(again).collect(), ExpectedMatches::Everything)
    }),
    ("a port twice", |_, ported| {
        let again = ported.iter().chain(ported.last()).cloned();
        (again.collect(), ExpectedMatches::AllPorts)
    }),
];

async fn union(probe: &Probe<'_>, (is_v6, choose): (bool, Union)) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let addresses = survey.values(|instance| {
        (instance.ip.is_ipv6() == is_v6 && survey.item(search, instance).is_some()).then_some(instance.ip)
    });
    // A search for all of its ports also contains the address itself.
    let fits = |address: &IpAddr| {
        survey.with_ports(search, "ports", |instance| instance.ip == *address).items.len()
            < search.distinct_items
    };
    let Some(address) = some(probe, addresses)?.into_iter().find(fits) else {
        return Err(probe.skip("each searched address has more ports than one search takes items"));
    };
    let of_address = |instance: &Instance| instance.ip == address;
    let ported = survey.with_ports(search, "ports", of_address);
    let (items, expected) = choose(survey.spelt(address), &ported.items);
    let clause = match expected {
        ExpectedMatches::Everything => Clause::SearchMatchAnyPort,
        ExpectedMatches::AllPorts | ExpectedMatches::AllPortsButTheFirst => Clause::SearchMatchPort,
    };
    let expected = match expected {
        ExpectedMatches::Everything => survey.ids_where(of_address),
        ExpectedMatches::AllPorts => ported.ids,
        ExpectedMatches::AllPortsButTheFirst => survey.ids_where(|instance| {
            of_address(instance) && survey.item(search, instance).is_some_and(|item| item != ported.items[0])
        }),
    };
    if items.is_empty() {
        return Err(lacks_addresses(probe, "no searched address has several ports", "one with several"));
    }
    finds(probe, &mut comparison, clause, items, expected).await?;
    comparison.conclude(probe).await
}

async fn finds(
    probe: &Probe<'_>,
    comparison: &mut Comparison<'_>,
    clause: Clause,
    items: Vec<String>,
    expected: BTreeSet<i64>,
) -> Result<(), Stop> {
    let what = items.join(" and ");
    comparison.finds(probe, clause, &what, &probe.search(items), &expected).await
}

/// What was selected from the survey; skips the case when that is nothing.
fn some<T>(probe: &Probe<'_>, chosen: Vec<T>) -> Result<Vec<T>, Stop> {
    if chosen.is_empty() {
        return Err(lacks_addresses(
            probe,
            "no suitable one of the searched addresses has an instance",
            "one",
        ));
    }
    Ok(chosen)
}
