//! Data of an account is visible to that account only.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use crate::check::{AcceptedResponse, Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::Requests;
use crate::checks::row::{Credential, token_parameter};
use crate::contract::Clause;
use crate::contract::part::{GROUP_ID, ORDER_NO, PAGE_SIZE};
use crate::quantity::quantity;
use crate::target::Fact;
use crate::wire::{Exchange, Request, Response};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "all.own-account.empty",
        title: "a search with the token of an account without instances finds none",
        why: "A customer without instances sees those of another: addresses, products and terms that are not theirs.",
        clauses: &[Clause::AllOwnAccount],
        needs: &[Fact::EmptyToken, Fact::OwnAddresses],
        run: Run::Cases(|_| Case::single(Cost::requests(2), empty)),
        ..Check::TEMPLATE
    },
    Check {
        id: "all.own-account.foreign-addresses",
        title: "a search finds nothing at addresses of other accounts",
        why: "Customers see what others have bought, and where.",
        clauses: &[Clause::AllOwnAccount],
        needs: &[Fact::ForeignAddresses],
        run: Run::Cases(|_| {
            let ported = Case::new("with ports", Cost::requests(3), foreign_ports);
            let shared = Case::new("ports of a shared address", Cost::requests(3), shared_ports);
            vec![
                Case::new("addresses", Cost::requests(3), foreign_addresses),
                ported.needs([Fact::SecondToken]),
                shared.needs([Fact::SecondToken, Fact::SharedAddress]),
            ]
        }),
        ..Check::TEMPLATE
    },
    Check {
        id: "all.own-account.concurrent",
        title: "simultaneous calls of two accounts return each its own data",
        why: "A service that answers equal calls together sends one customer's data to another, under load only.",
        clauses: &[Clause::AllOwnAccount],
        needs: &[Fact::SecondToken],
        run: Run::Cases(|_| {
            let cost = Cost::requests(2 + 2 * PAIRS);
            let case =
                |label, request: fn(&Probe<'_>) -> Request| Case::for_data(label, cost, request, concurrent);
            let search = case("search", |probe| probe.search(probe.own_addresses(SAMPLE)));
            vec![case("groups", |probe| probe.groups()), search.needs([Fact::OwnAddresses])]
        }),
        ..Check::TEMPLATE
    },
    Check {
        id: "all.own-account.groups-empty",
        title: "an account without groups does not list those of another",
        why: "A new customer sees what another one does with its addresses.",
        clauses: &[Clause::AllOwnAccount],
        needs: &[Fact::EmptyToken],
        run: Run::Cases(|_| vec![Case::for_data("", Cost::requests(2), (Fact::EmptyToken, false), listings)]),
        ..Check::TEMPLATE
    },
    Check {
        id: "all.own-account.instances",
        title: "a second account does not see the instances of the first",
        why: "Customers see what others have bought, and where.",
        clauses: &[Clause::AllOwnAccount],
        needs: &[Fact::OwnAddresses, Fact::SecondToken],
        run: Run::Cases(|_| Case::single(Cost::requests(8), instances)),
        ..Check::TEMPLATE
    },
    Check {
        id: "all.own-account.listings",
        title: "two accounts list no group in common",
        why: "Names of groups reveal what another customer does with its addresses.",
        clauses: &[Clause::AllOwnAccount],
        needs: &[Fact::SecondToken],
        run: Run::Cases(|_| vec![Case::for_data("", Cost::requests(3), (Fact::SecondToken, true), listings)]),
        ..Check::TEMPLATE
    },
];

/// Addresses of a search.
const SAMPLE: usize = 100;

/// Pairs of concurrent calls.
const PAIRS: u32 = 3;

/// The request by another account.
fn by(probe: &Probe<'_>, credential: Credential, request: &Request) -> Result<Request, Stop> {
    let name = token_parameter(probe.contract(), request);
    Ok(request.clone().query(name, credential.text(probe)?))
}

fn report(probe: &Probe<'_>, expected: &str, actual: &str, exchanges: &[&Exchange]) {
    probe.finding(Clause::AllOwnAccount, expected, actual, exchanges);
}

/// Reports this many instances in a result that must have none, or whose `total` counts some.
fn judge_none(probe: &Probe<'_>, of: &str, count: usize, found: &AcceptedResponse, before: &[&Exchange]) {
    let (_, total) = counts(found);
    if count > 0 || total > 0 {
        let actual = format!("{} and a total of {total}", quantity(count, "instance"));
        let expected = format!("no instances and a total of 0{of}");
        probe.finding_beside(Clause::AllOwnAccount, &expected, &actual, &[&found.exchange], before);
    }
}

async fn empty(probe: &Probe<'_>) -> Result<(), Stop> {
    let request = probe.search(probe.own_addresses(SAMPLE));
    let other = by(probe, Credential::Supplied(Fact::EmptyToken), &request)?;
    let own = probe.control(&request).await?;
    let found = probe.control(&other).await?;
    let others = shared(&found.response, &own.response, &probe.contract().search.instance_fields);
    if others == 0 && counts(&found).0 > 0 {
        return Err(probe.skip(
            "the account of SALLYPORT_EMPTY_API_KEY has instances; supply the token of one without any",
        ));
    }
    judge_none(probe, ", of the first account", others, &found, &[&own.exchange]);
    Ok(())
}

/// Two concurrent calls that differ only in their token each get the response that they get alone.
async fn concurrent(probe: &Probe<'_>, request: fn(&Probe<'_>) -> Request) -> Result<(), Stop> {
    let own = &request(probe);
    let other = by(probe, Credential::Supplied(Fact::SecondToken), own)?;
    let data = |response: &Response| response.at("/data").cloned().unwrap_or_default();
    let alone = [probe.control(own).await?, probe.control(&other).await?];
    let expected = alone.each_ref().map(|alone| data(&alone.response));
    if expected[0] == expected[1] {
        return Err(probe.skip("both accounts get the same data"));
    }
    for _ in 0..PAIRS {
        let (first, second) = futures::future::join(probe.send(own), probe.send(&other)).await;
        let both = [first?, second?];
        let is_other = |which: usize| {
            let (exchange, class) = &both[which];
            let response = exchange.result.as_ref().ok().filter(|_| *class == ResponseClass::Accepted);
            response.is_some_and(|response| data(response) == expected[1 - which])
        };
        if is_other(0) || is_other(1) {
            let expected = "the data of the account whose token was sent";
            let actual = "the data of the other account, whose call was concurrent";
            let references = [&alone[0].exchange, &alone[1].exchange];
            let judged = [&both[0].0, &both[1].0];
            probe.finding_beside(Clause::AllOwnAccount, expected, actual, &judged, &references);
            return Ok(());
        }
    }
    Ok(())
}

fn foreign<'a>(probe: &Probe<'a>) -> Vec<&'a str> {
    probe.facts().foreign_addresses.iter().take(SAMPLE).map(String::as_str).collect()
}

/// The second account's own search shows the ports of the foreign addresses.
async fn foreign_ports(probe: &Probe<'_>) -> Result<(), Stop> {
    not_found_by_port(probe, foreign(probe), &BTreeSet::new()).await
}

/// Searches an address that both accounts hold, with the ports that only the second one has.
async fn shared_ports(probe: &Probe<'_>) -> Result<(), Stop> {
    let shared = probe.facts().shared_address.as_deref().into_iter().collect::<Vec<_>>();
    let own = probe.control(&probe.search(shared.clone())).await?;
    not_found_by_port(probe, shared, &endpoints(&own.response)).await
}

async fn not_found_by_port(
    probe: &Probe<'_>,
    addresses: Vec<&str>,
    own: &BTreeSet<String>,
) -> Result<(), Stop> {
    let theirs = by(probe, Credential::Supplied(Fact::SecondToken), &probe.search(addresses))?;
    let theirs = probe.control(&theirs).await?;
    let items: Vec<String> = endpoints(&theirs.response).difference(own).take(SAMPLE).cloned().collect();
    if items.is_empty() {
        return Err(probe.skip_lacking(
            "the second account has no instances of its own at these addresses",
            "addresses of its instances",
            Fact::ForeignAddresses,
        ));
    }
    let found = probe.control(&probe.search(items)).await?;
    let of = " at addresses and ports of another account";
    judge_none(probe, of, counts(&found).0, &found, &[&theirs.exchange]);
    Ok(())
}

/// The number of instances on a page, and `total`.
fn counts(page: &AcceptedResponse) -> (usize, u64) {
    let total = page.response.at("/data/total").and_then(Value::as_u64);
    (items(&page.response).len(), total.unwrap_or(0))
}

/// Addresses with ports, as items of `ips`.
fn endpoints(response: &Response) -> BTreeSet<String> {
    let endpoint = |item: &Value| {
        let ip: IpAddr = item.get("ip")?.as_str()?.parse().ok()?;
        let port = u16::try_from(item.get("port")?.as_u64()?).ok().filter(|port| *port > 0)?;
        Some(std::net::SocketAddr::new(ip, port).to_string())
    };
    items(response).iter().filter_map(endpoint).collect()
}

async fn foreign_addresses(probe: &Probe<'_>) -> Result<(), Stop> {
    let found = probe.control(&probe.search(foreign(probe))).await?;
    judge_none(probe, "", counts(&found).0, &found, &[]);
    let both = probe.search(probe.own_addresses(SAMPLE).into_iter().chain(foreign(probe)));
    let filters = [
        probe.facts().foreign_group.map(|group| both.clone().field(GROUP_ID, group)),
        probe.facts().foreign_order.as_deref().map(|order| both.clone().field(ORDER_NO, order)),
    ];
    for request in filters.into_iter().flatten() {
        // The search may be rejected, and this account may have a group or an order of the same number.
        let (exchange, class) = probe.send(&request).await?;
        let Ok(response) = &exchange.result else { continue };
        if class == ResponseClass::Accepted && reveals_foreign(probe, response) {
            let expected = "no instance of another account, filtered by its group or order";
            report(probe, expected, "instances at the foreign addresses", &[&exchange]);
        }
    }
    Ok(())
}

/// Whether an instance has an address that only other accounts hold.
fn reveals_foreign(probe: &Probe<'_>, response: &Response) -> bool {
    let address = |text: &str| text.parse::<IpAddr>().ok();
    let foreign: BTreeSet<IpAddr> =
        probe.facts().foreign_addresses.iter().filter_map(|text| address(text)).collect();
    let mut shown = items(response).iter().filter_map(|item| address(item.get("ip")?.as_str()?));
    shown.any(|ip| foreign.contains(&ip))
}

/// Reports groups that listings of two accounts share. Each may count its groups from 1, so whole groups are compared.
async fn listings(probe: &Probe<'_>, (account, is_repeated): (Fact, bool)) -> Result<(), Stop> {
    let other = by(probe, Credential::Supplied(account), &probe.groups())?;
    let own = probe.control(&probe.groups()).await?;
    let other = probe.control(&other).await?;
    let again = if is_repeated { Some(probe.control(&probe.groups()).await?) } else { None };
    for own in [Some(own), again].into_iter().flatten() {
        let others = items(&other.response);
        let shared = items(&own.response).iter().filter(|group| others.contains(group)).count();
        if shared > 0 {
            let actual = format!("{} in both listings", quantity(shared, "group"));
            report(probe, "no group in common", &actual, &[&own.exchange, &other.exchange]);
        }
    }
    Ok(())
}

async fn instances(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let request = probe.search(probe.own_addresses(SAMPLE)).field(PAGE_SIZE, *search.page_sizes.end());
    let other = by(probe, Credential::Supplied(Fact::SecondToken), &request)?;
    let first = probe.control(&request).await?;
    let why = "the same search by a second account";
    let Some(seen) = probe.accepts(Clause::AllOwnAccount, why, &other).await? else { return Ok(()) };
    let shared = shared(&first.response, &seen.response, &search.instance_fields);
    if shared > 0 {
        let actual = format!("both accounts see {}", quantity(shared, "instance"));
        let expected = "instances that belong to one account each";
        report(probe, expected, &actual, &[&first.exchange, &seen.exchange]);
    }
    Ok(())
}

fn items(response: &Response) -> &[Value] {
    response.at("/data/items").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The number of items of one response that have an item with the same values of these fields in the other one. Further fields
/// may change at any time. Each account may count its ids from 1, so an equal id alone shows nothing.
fn shared(one: &Response, other: &Response, fields: &[String]) -> usize {
    let shown =
        |item: &Value| fields.iter().map(|field| item.get(field).map(Value::to_string)).collect::<Vec<_>>();
    let objects = |response| items(response).iter().filter(|item| item.is_object());
    let others: BTreeSet<_> = objects(other).map(shown).collect();
    objects(one).filter(|item| others.contains(&shown(item))).count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_is_shared_when_its_fields_agree_and_not_by_its_id() {
        let response = |items: Value| {
            Response::new(200, Vec::new(), json!({"data": {"items": items}}).to_string().into())
        };
        let fields = ["id", "name"].map(str::to_owned);
        let own = response(json!([{"id": 1, "name": "a", "seen": 1}, {"id": 2, "name": "b"}]));
        assert_eq!(
            shared(&own, &response(json!([{"id": 1, "name": "c"}, {"id": 3, "name": "a"}])), &fields),
            0
        );
        assert_eq!(shared(&own, &response(json!([{"id": 1, "name": "a", "seen": 2}])), &fields), 1);
        assert_eq!(shared(&own, &response(json!([null, 1])), &fields), 0);
    }
}
