//! The instances that an item finds, with and without a port.

use super::surveyed::alone;
use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.match-any-port.batch", |_| {
        let places = [
            ("first of the largest batch", 1, 0),
            ("250th of the largest batch", 1, 249),
            ("last of the largest batch", 1, usize::MAX),
        ];
        let alike = "batches of one size with one beginning";
        let halves = row(Relation::Union, "halves", 3, halves);
        let alike = alone(Relation::Survey, alike, 6, same_beginning);
        let placed = rows(Relation::Contains, places, |account, place| {
            let own = account.survey.spelt(account.held(None)?[0]);
            let mut items = account.fill(std::slice::from_ref(&own));
            items.insert(place.min(items.len()), own);
            Ok(vec![Query::new(items)])
        });
        // The limit counts raw items before duplicates are removed, so the last of them must be searched like the first.
        let last = row(Relation::Survey, "last of the maximum number of raw items", 1, |account, ()| {
            let own = account.held(None)?[0];
            let other = addresses::unknown(account.probe.facts(), own).to_string();
            let mut items = vec![other; account.search.raw_items.end() - 1];
            items.push(account.survey.spelt(own));
            Ok(vec![Query::new(items)])
        });
        [halves, vec![alike], placed, last].concat()
    }),
    active("search.match-any-port.subset", |_| {
        let each = rows(Relation::Survey, FAMILIES.map(|(label, v6)| (label, 5, v6)), |account, v6| {
            Ok(account.held(v6)?.into_iter().take(5).map(|ip| account.at([ip])).collect())
        });
        let alike = row(Relation::Matching, "addresses with a part in common", 1, |account, ()| {
            const MAX_ADDRESSES: usize = 20;
            let alike: BTreeSet<IpAddr> =
                account.survey.addresses.iter().take(MAX_ADDRESSES).flat_map(with_same_half).collect();
            Ok(vec![Query::new(alike.iter().map(ToString::to_string))])
        });
        [each, alike].concat()
    }),
    active("search.match-port.batches", |_| {
        rows(Relation::Survey, BATCHES.map(|name| (name, 1, name)), |account, name| {
            let mut batch = account.batch(name)?;
            batch.items.reverse();
            // One with items of both kinds is about those with ports.
            let are_bare = batch.items.iter().all(|item| item.parse::<IpAddr>().is_ok());
            let clause = if are_bare { SearchMatchAnyPort } else { SearchMatchPort };
            Ok(vec![batch.citing(clause)])
        })
    }),
    active("search.match-port.subset", |_| {
        rows(Relation::Survey, FAMILIES.map(|(label, v6)| (label, 8, v6)), |account, v6| {
            const MAX: usize = 8;
            let ported = account.survey.values(|instance| {
                let item = account.survey.item(account.search, instance);
                Some((instance.ip, item.filter(|_| instance.ip.is_ipv6() == v6)?))
            });
            let ported = account.some(ported)?;
            // From the most frequent to the rarest.
            let step = ported.len().div_ceil(MAX);
            Ok(ported.into_iter().step_by(step).map(|(_, item)| Query::new([item])).collect())
        })
    }),
    active("search.match-port.union", |_| {
        let unions = FAMILIES.into_iter().flat_map(|(family, v6)| {
            UNIONS.map(|(label, union)| (format!("{family}, {label}"), 1, (v6, union)))
        });
        rows(Relation::Survey, unions, |account, (v6, union)| {
            let (bare, ported) = with_all_ports(account, v6)?;
            let items = union(bare, &ported);
            let lacks = || account.lacks("no searched address has several ports", "one with several");
            if items.is_empty() { Err(lacks()) } else { Ok(vec![Query::new(items)]) }
        })
    }),
];

const FAMILIES: [(&str, bool); 2] = [("IPv4", false), ("IPv6", true)];

/// Selects items of one address, from the item without a port and those with ports.
type Union = fn(bare: String, ported: &[String]) -> Vec<String>;

const UNIONS: [(&str, Union); 7] = [
    ("every port", |_, ported| ported.to_vec()),
    ("every port but one", |_, ported| ported[1..].to_vec()),
    ("a port before no port", |bare, ported| vec![ported[0].clone(), bare]),
    ("a port after no port", |bare, ported| vec![bare, ported[0].clone()]),
    ("every port after no port", |bare, ported| [&[bare], ported].concat()),
    ("a port after no port, among others", |bare, ported| {
        let both = [bare, ported[0].clone()];
        addresses::unused(180).chain(both.clone()).chain(both).collect()
    }),
    ("a port twice", |_, ported| ported.iter().chain(ported.last()).cloned().collect()),
];

/// S(a ∪ b) = S(a) ∪ S(b), for as many addresses as one search takes.
fn halves(Account { probe, search, .. }: Account<'_>, (): ()) -> Result<Vec<Query>, Stop> {
    let items: BTreeSet<&str> = probe.own_addresses(search.distinct_items).into_iter().collect();
    if items.len() < 2 {
        let lacks = "one address cannot be split into two searches";
        return Err(lacks_addresses(probe, lacks, "more addresses"));
    }
    let query = Query::new(items.into_iter().map(str::to_owned));
    Ok(vec![query.citing(SearchMatchAnyPort)])
}

/// Batches that differ only in their last item have different results.
fn same_beginning(account: Account<'_>, (): ()) -> Result<Vec<Query>, Stop> {
    let held = account.held(None)?;
    let [first, second, third, ..] = held[..] else {
        return Err(account.lacks("fewer than three of the searched addresses have instances", "three"));
    };
    Ok([second, third, second].map(|last| account.at([first, last])).into())
}

/// Addresses that share a half with this one are other addresses.
fn with_same_half(ip: &IpAddr) -> [IpAddr; 2] {
    match ip {
        IpAddr::V4(ip) => [0x0001_0000_u32, 0x1].map(|bit| Ipv4Addr::from_bits(ip.to_bits() ^ bit).into()),
        IpAddr::V6(ip) => [1_u128 << 96, 1 << 32].map(|bit| Ipv6Addr::from_bits(ip.to_bits() ^ bit).into()),
    }
}

/// An address of a family, and the items of all of its ports.
fn with_all_ports(account: Account<'_>, v6: bool) -> Result<(String, Vec<String>), Stop> {
    let Account { survey, search, .. } = account;
    let ports = |ip: IpAddr| (ip, survey.with_ports(search, |instance| instance.ip == ip));
    let held = survey.values(|instance| {
        let item = survey.item(search, instance).filter(|_| instance.ip.is_ipv6() == v6);
        item.map(|_| instance.ip)
    });
    let held = account.some(held)?;
    // A search for all of its ports also contains the address itself.
    let fitting = held.into_iter().map(ports).find(|(_, ported)| ported.len() < search.distinct_items);
    let skip = || account.probe.skip("each searched address has more ports than one search takes items");
    fitting.map(|(ip, ported)| (survey.spelt(ip), ported)).ok_or_else(skip)
}
