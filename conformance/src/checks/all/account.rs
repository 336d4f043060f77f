//! Data of an account is visible to that account only.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::check::{Case, Cost, Probe, Stop, accepted};
use crate::checks::relation::address_of;
use crate::checks::rule::{Program, active};
use crate::checks::search::account::{ForeignItems, ip, items, nothing_found, total};
use crate::checks::token::by;
use crate::contract::Clause;
use crate::contract::part::{GROUP_ID, ORDER_NO, PAGE_SIZE};
use crate::quantity::quantity;
use crate::target::Fact;
use crate::wire::{Request, Response};

pub(super) static PROGRAMS: &[Program] = &[
    active("all.own-account.empty", |_| Case::single(Cost::requests(2), empty)),
    active("all.own-account.foreign-addresses", |_| {
        let case = |label, items| Case::for_data(label, Cost::requests(3), (label, items), nothing_found);
        vec![
            Case::new("addresses", Cost::requests(3), foreign_addresses),
            case("with ports", ForeignItems::OfSecond).needs([Fact::SecondToken]),
            case("ports of a shared address", ForeignItems::OfShared)
                .needs([Fact::SecondToken, Fact::SharedAddress]),
        ]
    }),
    active("all.own-account.concurrent", |_| {
        let cost = Cost::requests(2 + 2 * PAIRS);
        let case =
            |label, request: fn(&Probe<'_>) -> Request| Case::for_data(label, cost, request, concurrent);
        let search = case("search", |probe| probe.search(probe.own_addresses(SAMPLE)));
        vec![case("groups", |probe| probe.groups()), search.needs([Fact::OwnAddresses])]
    }),
    active("all.own-account.groups-empty", |_| {
        vec![Case::for_data("", Cost::requests(2), (Fact::EmptyToken, false), listings)]
    }),
    active("all.own-account.instances", |_| Case::single(Cost::requests(8), instances)),
    active("all.own-account.listings", |_| {
        vec![Case::for_data("", Cost::requests(3), (Fact::SecondToken, true), listings)]
    }),
];

/// Addresses of a search.
const SAMPLE: usize = 100;

/// Pairs of concurrent calls.
const PAIRS: u32 = 3;

async fn empty(probe: &Probe<'_>) -> Result<(), Stop> {
    let request = probe.search(probe.own_addresses(SAMPLE));
    let other = by(probe, Fact::EmptyToken, &request)?;
    let own = probe.control(&request).await?;
    let found = probe.control(&other).await?;
    let others = shared(&found.response, &own.response, &probe.contract().search.instance_fields);
    let total = total(&found.response);
    if others == 0 && !items(&found.response).is_empty() {
        return Err(probe.skip(
            "the account of SALLYPORT_EMPTY_API_KEY has instances; supply the token of one without any",
        ));
    }
    if others > 0 || total > 0 {
        let actual = format!("{} and a total of {total}", quantity(others, "instance"));
        let expected = "no instances and a total of 0, of the first account";
        probe.finding_beside(Clause::AllOwnAccount, expected, &actual, &[&found.exchange], &[&own.exchange]);
    }
    Ok(())
}

/// Two concurrent calls that differ only in their token each get the response that they get alone.
async fn concurrent(probe: &Probe<'_>, request: fn(&Probe<'_>) -> Request) -> Result<(), Stop> {
    let own = &request(probe);
    let other = by(probe, Fact::SecondToken, own)?;
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
            accepted(exchange, class).is_some_and(|accepted| data(&accepted.response) == expected[1 - which])
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

/// Searches for the addresses alone, and beside own ones by a group or an order of another account.
async fn foreign_addresses(probe: &Probe<'_>) -> Result<(), Stop> {
    let facts = probe.facts();
    nothing_found(probe, ("foreign addresses", ForeignItems::Alone)).await?;
    let foreign = facts.foreign_addresses.iter().take(SAMPLE).map(String::as_str);
    let both = probe.search(probe.own_addresses(SAMPLE).into_iter().chain(foreign));
    let filters = [
        facts.foreign_group.map(|group| both.clone().field(GROUP_ID, group)),
        facts.foreign_order.as_deref().map(|order| both.clone().field(ORDER_NO, order)),
    ];
    let others: BTreeSet<_> = facts.foreign_addresses.iter().filter_map(|item| address_of(item)).collect();
    for request in filters.into_iter().flatten() {
        // The search may be rejected, and this account may have a group or an order of the same number.
        let (exchange, class) = probe.send(&request).await?;
        let Some(found) = accepted(&exchange, &class) else { continue };
        if items(&found.response).iter().filter_map(ip).any(|ip| others.contains(&(ip, None))) {
            let expected = "no instance of another account, filtered by its group or order";
            let actual = "instances at the foreign addresses";
            probe.finding(Clause::AllOwnAccount, expected, actual, &[&exchange]);
        }
    }
    Ok(())
}

/// Reports groups that listings of two accounts share. Each may count its groups from 1, so whole groups are compared.
async fn listings(probe: &Probe<'_>, (account, is_repeated): (Fact, bool)) -> Result<(), Stop> {
    let other = by(probe, account, &probe.groups())?;
    let own = probe.control(&probe.groups()).await?;
    let other = probe.control(&other).await?;
    let again = if is_repeated { Some(probe.control(&probe.groups()).await?) } else { None };
    for own in [Some(own), again].into_iter().flatten() {
        let others = items(&other.response);
        let shared = items(&own.response).iter().filter(|group| others.contains(group)).count();
        if shared > 0 {
            let actual = format!("{} in both listings", quantity(shared, "group"));
            let exchanges = [&own.exchange, &other.exchange];
            probe.finding(Clause::AllOwnAccount, "no group in common", &actual, &exchanges);
        }
    }
    Ok(())
}

async fn instances(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let request = probe.search(probe.own_addresses(SAMPLE)).field(PAGE_SIZE, *search.page_sizes.end());
    let other = by(probe, Fact::SecondToken, &request)?;
    let first = probe.control(&request).await?;
    let why = "the same search by a second account";
    let Some(seen) = probe.accepts(Clause::AllOwnAccount, why, &other).await? else { return Ok(()) };
    let shared = shared(&first.response, &seen.response, &search.instance_fields);
    if shared > 0 {
        let actual = format!("both accounts see {}", quantity(shared, "instance"));
        let expected = "instances that belong to one account each";
        probe.finding(Clause::AllOwnAccount, expected, &actual, &[&first.exchange, &seen.exchange]);
    }
    Ok(())
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
