//! Searches must not reveal anything about other accounts.

use std::net::SocketAddr;

use super::*;
use crate::check::AcceptedResponse;
use crate::checks::row::edits;
use crate::checks::token::by;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.group.foreign", |_| Case::single(Cost::requests(15), foreign_group)),
    active("search.no-reveal.foreign-addresses", |_| {
        let cases = [("IPv4", false), ("IPv6", true)].into_iter().flat_map(|(family, is_v6)| {
            WAYS.map(|(way, beside)| {
                let label = format!("{family}, {way}");
                Case::for_data(label, Cost::requests(3), (is_v6, way, beside), foreign_address)
            })
        });
        cases.collect()
    }),
    active("search.no-reveal.nothing-found", |_| {
        let case = |label, items| Case::for_data(label, Cost::requests(6), (label, items), nothing_found);
        vec![
            case("foreign addresses", ForeignItems::Alone),
            case("foreign addresses with ports", ForeignItems::WithPorts),
            case("foreign addresses among own ones", ForeignItems::AmongOwn),
        ]
    }),
    active("search.no-reveal.shared-address", |_| Case::single(Cost::requests(2), shared_address)),
    active("search.order-number.foreign", |_| Case::single(Cost::requests(17), foreign_order)),
];

/// A group that is unlikely to exist, since ids are sequential.
const UNKNOWN_GROUP: i64 = 9_007_199_254_740_001;
const MAX_FOREIGN: usize = 20;

async fn foreign_group(probe: &Probe<'_>) -> Result<(), Stop> {
    let foreign = probe.required(Fact::ForeignGroup, |facts| facts.foreign_group)?;
    is_like_unknown(probe, (SearchGroup, GROUP_ID, "group"), &foreign.into(), [UNKNOWN_GROUP.into()]).await
}

async fn foreign_order(probe: &Probe<'_>) -> Result<(), Stop> {
    let foreign = probe.required(Fact::ForeignOrder, |facts| facts.foreign_order.as_ref())?;
    let is_known = |order: &String| probe.facts().orders.iter().any(|known| known.number == *order);
    let unknown = unknown_orders(foreign).filter(|order| !is_known(order)).map(Json::from);
    let filter = (SearchOrderNumber, ORDER_NO, "order number");
    is_like_unknown(probe, filter, &foreign.as_str().into(), unknown).await
}

/// The value of another account finds nothing, and gets the response of an unknown one.
async fn is_like_unknown(
    probe: &Probe<'_>,
    (clause, part, name): (Clause, &str, &str),
    foreign: &Json,
    unknown: impl IntoIterator<Item = Json>,
) -> Result<(), Stop> {
    // Among the foreign addresses may be instances of the foreign group or order.
    let others = probe.facts().foreign_addresses.iter().take(MAX_FOREIGN).cloned();
    let items: Vec<_> = survey(probe).await?.items().into_iter().chain(others).collect();
    let asked = |value: &Json| probe.search(items.clone()).field(part, value.clone());
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let found = async |what: &str, value: &Json| {
        let found = read_unless_rejected(probe, clause, what, &asked(value)).await?;
        Ok::<_, Stop>(found.filter(|found| !found.instances.is_empty() || found.total() > 0))
    };
    let what = format!("a foreign {name}");
    if let Some(found) = found(&what, foreign).await? {
        let actual = format!("{}, total {}", quantity(found.instances.len(), "instance"), found.total());
        probe.finding(clause, &format!("{what} finds nothing"), &actual, &found.evidence());
    }
    for unknown in unknown.into_iter().take(MAX_CANDIDATES) {
        // The account may have it, although it was not supplied.
        if found(&format!("an unknown {name}"), &unknown).await?.is_none() {
            let what = format!("the foreign {name}");
            let foreign = (&*what, text(foreign), &asked(foreign));
            return likeness::judge(probe, clause, foreign, (text(&unknown), &asked(&unknown))).await;
        }
    }
    Err(probe.inconclusive(&format!("each {name} that was tried as an unknown one finds something")))
}

/// Maximum number of order numbers that are tried to find an unknown one.
const MAX_CANDIDATES: usize = 3;

/// Order numbers that are unlikely to exist, in the form of a known one, since a service may reject other forms.
fn unknown_orders(known: &str) -> impl Iterator<Item = String> {
    let in_digits = [9, 7, 3, 1, 8].into_iter().map(|by: u32| {
        let other =
            |c: char| c.to_digit(10).and_then(|digit| char::from_digit((digit + by) % 10, 10)).unwrap_or(c);
        known.chars().map(other).collect::<String>()
    });
    let reversed: String = known.chars().rev().collect();
    let in_words = ["-0", "-9", "-7"].into_iter().map(move |end| format!("{reversed}{end}"));
    let is_other = |order: &String| order != known;
    in_digits.filter(is_other).chain(in_words).collect::<Vec<_>>().into_iter()
}

const WITH_PORT: &str = "with a port";
const BESIDE_OWN: &str = "beside an own address";

/// Kinds of searches for an item, and what they have beside it.
const WAYS: [(&str, &str); 8] = [
    ("alone", ""),
    (BESIDE_OWN, ""),
    (WITH_PORT, ""),
    ("on a page of the smallest size", "pageSize=min"),
    ("on the second page", "page=min+1"),
    ("ungrouped", "groupId=0"),
    ("activated since long ago", "activatedFrom=2000-01-01T00:00:00Z"),
    ("of a status", "status=listed"),
];

async fn foreign_address(
    probe: &Probe<'_>,
    (is_v6, way, beside): (bool, &'static str, &'static str),
) -> Result<(), Stop> {
    let mut foreign = probe.facts().foreign_addresses.iter().filter_map(|item| address_of(item));
    let Some((foreign, port)) = foreign.find(|(ip, _)| ip.is_ipv6() == is_v6) else {
        return Err(probe.skip("none of the foreign addresses can be read, or is of this address family"));
    };
    let port = port.and_then(|port| u16::try_from(port).ok()).unwrap_or(LIKELY_PORT);
    let spelt = |ip: IpAddr| match way {
        WITH_PORT => SocketAddr::new(ip, port).to_string(),
        _ => ip.to_string(),
    };
    let (known, unknown) = (spelt(foreign), spelt(addresses::unknown(probe.facts(), foreign)));
    let asked = |item: &str| {
        let own = probe.own_addresses(1).into_iter().filter(|_| way == BESIDE_OWN);
        edited(probe, probe.search([item].into_iter().chain(own)), &edits(OperationId::Search, beside))
    };
    let foreign = ("the foreign address", known.clone(), &asked(&known)?);
    likeness::judge(probe, SearchNoReveal, foreign, (unknown.clone(), &asked(&unknown)?)).await
}

const LIKELY_PORT: u16 = 8080;

/// What is searched for, none of which belongs to the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForeignItems {
    Alone,
    /// With ports that own instances have.
    WithPorts,
    AmongOwn,
    /// With the ports that the second account's own search shows.
    OfSecond,
    /// An address that both accounts hold, with the ports that only the second one has.
    OfShared,
}

/// Such a search finds nothing, and nothing but own instances among own addresses.
pub(crate) async fn nothing_found(
    probe: &Probe<'_>,
    (what, kind): (&'static str, ForeignItems),
) -> Result<(), Stop> {
    let max = probe.contract().search.distinct_items / 2;
    let facts = probe.facts();
    let foreign = facts.foreign_addresses.iter().take(max);
    let foreign: BTreeSet<IpAddr> = foreign.filter_map(|item| Some(address_of(item)?.0)).collect();
    let bare = || foreign.iter().map(ToString::to_string);
    let searched: Vec<String> = match kind {
        ForeignItems::Alone => bare().collect(),
        ForeignItems::AmongOwn => {
            bare().chain(probe.own_addresses(max).into_iter().map(str::to_owned)).collect()
        }
        ForeignItems::WithPorts => with_ports(probe, &foreign).await,
        ForeignItems::OfSecond => ports_of_second(probe, bare().collect(), &BTreeSet::new()).await?,
        ForeignItems::OfShared => {
            let shared: Vec<_> = facts.shared_address.iter().cloned().collect();
            let own = endpoints(probe, probe.search(shared.clone())).await?;
            ports_of_second(probe, shared, &own).await?
        }
    };
    if searched.is_empty() {
        return Err(probe.skip("no port of such an instance is known, or no foreign address can be read"));
    }
    let request = probe.search(searched);
    // A rejection reveals something, and shows no data of another account. Parts of instances are data.
    if !probe.cites(SearchNoReveal) {
        let AcceptedResponse { exchange, response } = probe.control(&request).await?;
        let (count, total) = (items(&response).len(), total(&response));
        if count > 0 || total > 0 {
            let expected = format!("{what}: no instances and a total of 0");
            let actual = format!("{} and a total of {total}", quantity(count, "instance"));
            probe.finding(AllOwnAccount, &expected, &actual, &[&exchange]);
        }
        return Ok(());
    }
    let clause = SearchNoReveal;
    let Some(found) = read_accepted(probe, clause, what, &request).await? else { return Ok(()) };
    let is_own = |instance: &&Instance| kind == ForeignItems::AmongOwn && !foreign.contains(&instance.ip);
    let seen: Vec<_> = found.instances.values().filter(|instance| !is_own(instance)).collect();
    if let Some(instance) = seen.first() {
        let expected = format!("{what}: no instance of another account");
        let actual = format!("{}, one at {}", quantity(seen.len(), "instance"), instance.ip);
        probe.finding(clause, &expected, &actual, &found.evidence());
    }
    counts_own(probe, what, &found);
    Ok(())
}

pub(crate) fn items(response: &Response) -> &[Json] {
    response.at("/data/items").and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn total(response: &Response) -> u64 {
    response.at("/data/total").and_then(Json::as_u64).unwrap_or(0)
}

pub(crate) fn ip(item: &Json) -> Option<IpAddr> {
    item.get("ip")?.as_str()?.parse().ok()
}

/// The addresses and ports that a search finds, as items of `ips`.
async fn endpoints(probe: &Probe<'_>, request: Request) -> Result<BTreeSet<String>, Stop> {
    let largest = *probe.contract().search.page_sizes.end();
    let found = probe.control(&request.field(PAGE_SIZE, largest)).await?;
    let endpoint = |item: &Json| {
        let port = u16::try_from(item.get("port")?.as_u64()?).ok().filter(|port| *port > 0)?;
        Some(SocketAddr::new(ip(item)?, port).to_string())
    };
    Ok(items(&found.response).iter().filter_map(endpoint).collect())
}

/// The addresses with the ports that the second account has there, without those of this one.
async fn ports_of_second(
    probe: &Probe<'_>,
    addresses: Vec<String>,
    own: &BTreeSet<String>,
) -> Result<Vec<String>, Stop> {
    let theirs = endpoints(probe, by(probe, Fact::SecondToken, &probe.search(addresses))?).await?;
    let items: Vec<_> = theirs.difference(own).take(MAX_ENDPOINTS).cloned().collect();
    let lacks = "the second account has no instances of its own at these addresses";
    let skip = || probe.skip_lacking(lacks, "addresses of its instances", Fact::ForeignAddresses);
    if items.is_empty() { Err(skip()) } else { Ok(items) }
}

const MAX_ENDPOINTS: usize = 100;

/// Foreign addresses with ports that own instances have.
async fn with_ports(probe: &Probe<'_>, foreign: &BTreeSet<IpAddr>) -> Vec<String> {
    const MAX_PORTS: usize = 4;
    const MAX_ADDRESSES: usize = 50;
    let search = &probe.contract().search;
    let ports = survey(probe).await.map(|survey| survey.values(|instance| Some(instance.port)));
    let ports = ports.unwrap_or_default().into_iter().filter(|port| search.ports.contains(port));
    let ports = ports.filter_map(|port| u16::try_from(port).ok()).take(MAX_PORTS);
    let items = ports.flat_map(|port| {
        foreign.iter().take(MAX_ADDRESSES).map(move |ip| SocketAddr::new(*ip, port).to_string())
    });
    items.take(search.distinct_items).collect()
}

/// Reports a `total` that counts more than the instances of the account.
fn counts_own(probe: &Probe<'_>, what: &str, found: &ResultSet) {
    let counted = found.order.len() as u64;
    if found.total() != counted {
        let expected = format!("{what}: total {counted}, which counts own instances only");
        let actual = format!("total {}", found.total());
        probe.finding(SearchNoReveal, &expected, &actual, &found.evidence());
    }
}

async fn shared_address(probe: &Probe<'_>) -> Result<(), Stop> {
    let shared = probe.required(Fact::SharedAddress, |facts| facts.shared_address.as_deref())?;
    let request = probe.search([shared]);
    let other = by(probe, Fact::SecondToken, &request)?;
    let (own, others) = (read(probe, &request).await?, read(probe, &other).await?);
    let both = own.shared_with(&others);
    let evidence: Vec<_> = own.exchanges.iter().chain(&others.exchanges).collect();
    if !both.is_empty() {
        let expected = "the instances of a shared address, to each account its own";
        let actual = format!("both see {both:?}");
        probe.finding(SearchNoReveal, expected, &actual, &evidence);
        probe.finding(AllOwnAccount, expected, &actual, &evidence);
    }
    counts_own(probe, "the account", &own);
    counts_own(probe, "the second account", &others);
    if own.instances.is_empty() || others.instances.is_empty() {
        let lacks = "one of the accounts has no instance at the shared address";
        let variable = Fact::SharedAddress.variable();
        return Err(probe.skip(&format!("{lacks}; set {variable} to an address that both have")));
    }
    Ok(())
}
