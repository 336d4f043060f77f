//! Which instances an item finds, with a port and without one.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::addresses;
use super::cases::{BATCHES, batch, surveyed};
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, Instance, Survey, read, read_accepted, survey};
use crate::contract::{Clause, OperationId, Search};
use crate::quantity::quantity;
use crate::target::Fact;

pub(super) static ANY_PORT_BATCH: Check = Check {
    id: "search.match-any-port.batch",
    title: "a large batch finds what its two halves find",
    why: "Callers search their whole inventory at once. Instances that get lost in large batches look cancelled.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let halves = Case::new("halves", Cost::requests(4), |probe| Box::pin(halves(probe)));
        let places = [("first of the most", 0), ("250th of the most", 249), ("last of the most", usize::MAX)];
        let placed = surveyed(places.map(|(label, at)| (label.to_owned(), 1, at)), |probe, at| {
            Box::pin(among_most(probe, at))
        });
        let raw = [("behind as many raw items as there may be", ())];
        let raw = surveyed(raw.map(|(label, data)| (label.to_owned(), 1, data)), |probe, ()| {
            Box::pin(last_of_raw(probe))
        });
        let alike = Case::new("batches of one size with one beginning", Cost::requests(6), |probe| {
            Box::pin(alike_batches(probe))
        });
        [halves, alike].into_iter().chain(placed).chain(raw).collect()
    }),
};

pub(super) static ANY_PORT_PORTS: Check = Check {
    id: "search.match-any-port.ports",
    title: "an address without a port finds all that its ports find one by one",
    why: "A caller who knows only the address would never learn of the instances on its other ports.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(8), |probe| Box::pin(hidden_ports(probe)))),
};

pub(super) static ANY_PORT_SUBSET: Check = Check {
    id: "search.match-any-port.subset",
    title: "an address without a port finds every instance of that address and no other",
    why: "A lookup by address decides which instance is renewed or moved. Prefix matching or a missed port affects a wrong one.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let cases = FAMILIES.map(|(label, v6)| (label.to_owned(), 5, v6));
        let mut cases = surveyed(cases, |probe, v6| Box::pin(any_port(probe, v6)));
        let alike = [("addresses with a part in common".to_owned(), 1, ())];
        cases.extend(surveyed(alike, |probe, ()| Box::pin(halves_of_addresses(probe))));
        cases
    }),
};

pub(super) static PORT_BATCHES: Check = Check {
    id: "search.match-port.batches",
    title: "a batch of items with ports finds exactly those addresses and ports",
    why: "Matching addresses and ports apart from each other adds the instances of every other combination.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchPort, Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        surveyed(BATCHES.map(|name| (name.to_owned(), 1, name)), |probe, name| {
            Box::pin(reversed(probe, name))
        })
    }),
};

pub(super) static PORT_OTHER: Check = Check {
    id: "search.match-port.other-port",
    title: "an item with a port that the address does not have finds nothing",
    why: "A caller that checks whether its port still exists finds any other port of the address.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        surveyed(FAMILIES.map(|(label, v6)| (label.to_owned(), 10, v6)), |probe, v6| {
            Box::pin(other_port(probe, v6))
        })
    }),
};

pub(super) static PORT_SUBSET: Check = Check {
    id: "search.match-port.subset",
    title: "an item with a port finds exactly that address and port",
    why: "Several instances share an address and differ by port. Taking one for another changes the wrong one.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        surveyed(FAMILIES.map(|(label, v6)| (label.to_owned(), 8, v6)), |probe, v6| {
            Box::pin(own_port(probe, v6))
        })
    }),
};

pub(super) static PORT_UNION: Check = Check {
    id: "search.match-port.union",
    title: "items with and without ports of one address find together what each finds",
    why: "Lists mix both forms. If one form shadows the other, instances disappear depending on the order of the list.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchPort, Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let cases = FAMILIES.into_iter().flat_map(|(family, v6)| {
            UNIONS.map(|(label, union)| (format!("{family}, {label}"), 1, (v6, union)))
        });
        surveyed(cases, |probe, data| Box::pin(union(probe, data)))
    }),
};

/// Labels of both address families, and whether it is IPv6.
const FAMILIES: [(&str, bool); 2] = [("IPv4", false), ("IPv6", true)];

/// The maximum number of items, all unknown but one, which is found at any position.
async fn among_most(probe: &Probe<'_>, at: usize) -> Result<(), Stop> {
    let most = probe.contract().search.distinct_items;
    let survey = survey(probe).await?;
    let held = survey.values(|instance| Some(instance.ip));
    let address = some(probe, held)?[0];
    let own = survey.spelt(address);
    let mut items: Vec<String> =
        addresses::distinct(most).into_iter().filter(|item| *item != own).take(most - 1).collect();
    let at = at.min(items.len());
    items.insert(at, own.clone());
    let what = format!("{own}, at place {at} of {most} items");
    let mut comparison = Comparison::with(survey);
    let request = probe.search(items);
    if let Some(found) = read_accepted(probe, Clause::SearchMatchAnyPort, &what, &request).await? {
        let expected = survey.where_(|instance| instance.ip == address);
        let missing: Vec<_> = expected.iter().filter(|id| !found.instances.contains_key(id)).collect();
        if !missing.is_empty() {
            let (expected, actual) =
                (format!("{what}, is found"), format!("{} of its instances are missing", missing.len()));
            comparison.differs(Clause::SearchMatchAnyPort, expected, actual, &found.evidence());
        }
    }
    comparison.conclude(probe).await
}

/// Items count before duplicates are removed, so that the last of the most raw items is searched as the first is.
async fn last_of_raw(probe: &Probe<'_>) -> Result<(), Stop> {
    let most = *probe.contract().search.raw_items.end();
    let survey = survey(probe).await?;
    let held = survey.values(|instance| Some(instance.ip));
    let address = some(probe, held)?[0];
    let mut items = vec![addresses::unknown(probe.facts(), address).to_string(); most - 1];
    items.push(survey.spelt(address));
    let mut comparison = Comparison::with(survey);
    let what = format!("{}, the last of {most} raw items", survey.spelt(address));
    let request = probe.search(items);
    if let Some(found) = read_accepted(probe, Clause::SearchMatchAnyPort, &what, &request).await? {
        let expected = survey.where_(|instance| instance.ip == address);
        comparison.same(Clause::SearchMatchAnyPort, &what, &expected, &found);
    }
    comparison.conclude(probe).await
}

/// Two batches that differ in their last item alone are two questions.
async fn alike_batches(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let held = survey.values(|instance| Some(instance.ip));
    let [first, second, third] = some(probe, held)?.into_iter().take(3).collect::<Vec<_>>()[..] else {
        return Err(probe.skip_lacking(
            "fewer than three addresses were surveyed",
            "three",
            Fact::OwnAddresses,
        ));
    };
    let mut comparison = Comparison::with(survey);
    for last in [second, third, second] {
        let items = vec![survey.spelt(first), survey.spelt(last)];
        let expected = survey.where_(|instance| [first, last].contains(&instance.ip));
        finds(probe, &mut comparison, Clause::SearchMatchAnyPort, items, expected).await?;
    }
    comparison.conclude(probe).await
}

/// S(a ∪ b) = S(a) ∪ S(b), for as many addresses as one search takes.
async fn halves(probe: &Probe<'_>) -> Result<(), Stop> {
    let most = probe.contract().search.distinct_items;
    let mut seen = BTreeSet::new();
    let items: Vec<_> = probe.own_addresses(most).into_iter().filter(|item| seen.insert(*item)).collect();
    let everything = probe.search(items.clone());
    let (first, second) = items.split_at(items.len() / 2);
    if first.is_empty() {
        return Err(probe.skip_lacking(
            "one address cannot be split into two searches",
            "more addresses",
            Fact::OwnAddresses,
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
        return Err(probe.inconclusive("the instances changed while they were compared; run it again"));
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

/// Ports that the service hides from items without a port can only be guessed: those that other addresses show, those next to
/// them, and the first and the last.
async fn hidden_ports(probe: &Probe<'_>) -> Result<(), Stop> {
    /// Ports that are known from other addresses and tried.
    const MOST_KNOWN: usize = 6;
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let known = survey.values(|instance| Some(instance.port)).into_iter().take(MOST_KNOWN);
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
                format!("not found; {} found only with their ports", quantity(hidden.len(), "instance"));
            comparison.differs(Clause::SearchMatchAnyPort, expected, actual, &found.evidence());
        }
    }
    comparison.conclude(probe).await
}

/// Addresses that share a half with one of the account are others.
async fn halves_of_addresses(probe: &Probe<'_>) -> Result<(), Stop> {
    const MOST_ADDRESSES: usize = 20;
    let survey = survey(probe).await?;
    let like = |ip: &IpAddr| match ip {
        IpAddr::V4(ip) => [0x0001_0000_u32, 0x1].map(|bit| Ipv4Addr::from_bits(ip.to_bits() ^ bit).into()),
        IpAddr::V6(ip) => [1_u128 << 96, 1 << 32].map(|bit| Ipv6Addr::from_bits(ip.to_bits() ^ bit).into()),
    };
    let alike: BTreeSet<IpAddr> = survey.addresses.iter().take(MOST_ADDRESSES).flat_map(like).collect();
    let found = read(probe, &probe.search(alike.iter().map(ToString::to_string))).await?;
    if let Some(other) = found.instances.values().find(|instance| !alike.contains(&instance.ip)) {
        let expected = "instances of the addresses that were asked for";
        let actual = format!("an instance of {}, which shares a part with one of them", other.ip);
        probe.finding(Clause::SearchMatchAnyPort, expected, &actual, &found.evidence());
    }
    Ok(())
}

async fn any_port(probe: &Probe<'_>, is_v6: bool) -> Result<(), Stop> {
    const MOST_ADDRESSES: usize = 5;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    // Those with most ports come first.
    let addresses = survey.values(|instance| (instance.ip.is_ipv6() == is_v6).then_some(instance.ip));
    for address in some(probe, addresses)?.into_iter().take(MOST_ADDRESSES) {
        let expected = survey.where_(|instance| instance.ip == address);
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
    if let Some(found) = read_accepted(probe, Clause::SearchMatchPort, &what, &probe.search(items)).await? {
        comparison.same(Clause::SearchMatchPort, &what, &batch.ids, &found);
    }
    comparison.conclude(probe).await
}

/// Each absent port alone, and all of them in one batch.
async fn other_port(probe: &Probe<'_>, is_v6: bool) -> Result<(), Stop> {
    const MOST_ADDRESSES: usize = 3;
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let addresses = survey.values(|instance| (instance.ip.is_ipv6() == is_v6).then_some(instance.ip));
    let mut all = Vec::new();
    for address in some(probe, addresses)?.into_iter().take(MOST_ADDRESSES) {
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

/// Ports that the address does not have: next to one that it has, one that another address has, and one that begins alike.
fn absent(survey: &Survey, search: &Search, address: IpAddr) -> Vec<u16> {
    let held = held_ports(survey, address);
    let beside = held.iter().flat_map(|port| [port.saturating_add(1), port.saturating_sub(1)]);
    let elsewhere = survey.values(|instance| Some(instance.port));
    let wanted = |port: &i64| search.ports.contains(port) && !held.contains(port);
    let first = beside.clone().find(wanted);
    let other = elsewhere.into_iter().find(wanted);
    // The beginning of a port is another port.
    let beginning = held.iter().map(|port| port / 10).find(wanted);
    let ports: BTreeSet<i64> = first.into_iter().chain(other).chain(beginning).collect();
    ports.into_iter().filter_map(|port| u16::try_from(port).ok()).collect()
}

/// Ports that the address does not have, and that become one that it has when a bit is lost.
fn wrapped(survey: &Survey, search: &Search, address: IpAddr) -> Vec<String> {
    let held = held_ports(survey, address);
    let port = held.first().copied().unwrap_or_default();
    let others = [port ^ (1 << 8), port ^ (1 << 15)].into_iter();
    let absent = others.filter(|port| search.ports.contains(port) && !held.contains(port));
    absent.filter_map(|port| Some(survey.spelt_with(address, u16::try_from(port).ok()?))).collect()
}

/// S(ip:port) is the part of S(ip) with that port, for a few ports from the most frequent to the rarest.
async fn own_port(probe: &Probe<'_>, is_v6: bool) -> Result<(), Stop> {
    const MOST: usize = 8;
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let usable = survey.values(|instance| {
        let item = survey.item(search, instance).filter(|_| instance.ip.is_ipv6() == is_v6);
        item.map(|item| (instance.ip, item, instance.port))
    });
    let usable = some(probe, usable)?;
    let step = usable.len().div_ceil(MOST).max(1);
    for (ip, item, port) in usable.into_iter().step_by(step) {
        let expected = survey.where_(|instance| (instance.ip, instance.port) == (ip, port));
        finds(probe, &mut comparison, Clause::SearchMatchPort, vec![item], expected).await?;
    }
    comparison.conclude(probe).await
}

/// Chooses items of one address from the one without a port and those with ports.
type Union = fn(bare: String, ported: &[String]) -> (Vec<String>, ExpectedMatches);

/// What the items of an address must find.
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
        (addresses::nobodys(180).chain(both).chain(again).collect(), ExpectedMatches::Everything)
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
    // The search for all of its ports has the address itself, too.
    let fits = |address: &IpAddr| {
        survey.with_ports(search, "ports", |instance| instance.ip == *address).items.len()
            < search.distinct_items
    };
    let Some(address) = some(probe, addresses)?.into_iter().find(fits) else {
        return Err(probe.skip("each surveyed address has more ports than one search takes items"));
    };
    let of_address = |instance: &Instance| instance.ip == address;
    let ported = survey.with_ports(search, "ports", of_address);
    let (items, expected) = choose(survey.spelt(address), &ported.items);
    let clause = match expected {
        ExpectedMatches::Everything => Clause::SearchMatchAnyPort,
        ExpectedMatches::AllPorts | ExpectedMatches::AllPortsButTheFirst => Clause::SearchMatchPort,
    };
    let expected = match expected {
        ExpectedMatches::Everything => survey.where_(of_address),
        ExpectedMatches::AllPorts => ported.ids,
        ExpectedMatches::AllPortsButTheFirst => survey.where_(|instance| {
            of_address(instance) && survey.item(search, instance).is_some_and(|item| item != ported.items[0])
        }),
    };
    if items.is_empty() {
        return Err(probe.skip_lacking(
            "no surveyed address has several ports",
            "one with several",
            Fact::OwnAddresses,
        ));
    }
    finds(probe, &mut comparison, clause, items, expected).await?;
    comparison.conclude(probe).await
}

/// The items must find exactly these instances.
async fn finds(
    probe: &Probe<'_>,
    comparison: &mut Comparison<'_>,
    clause: Clause,
    items: Vec<String>,
    expected: BTreeSet<i64>,
) -> Result<(), Stop> {
    let what = items.join(" and ");
    if let Some(found) = read_accepted(probe, clause, &what, &probe.search(items)).await? {
        comparison.same(clause, &what, &expected, &found);
    }
    Ok(())
}

/// What was chosen from the survey, when there is something.
fn some<T>(probe: &Probe<'_>, chosen: Vec<T>) -> Result<Vec<T>, Stop> {
    if chosen.is_empty() {
        return Err(probe.skip_lacking(
            "no such address with an instance was surveyed",
            "one",
            Fact::OwnAddresses,
        ));
    }
    Ok(chosen)
}
