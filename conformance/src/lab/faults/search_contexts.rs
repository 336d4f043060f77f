//! Faults in searches and listings that show with an unusual item, filter or header alone.

use std::net::{Ipv4Addr, Ipv6Addr};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::search::{
    COUNTRY, FROM, GROUP, above_distinct_limit, asks, cut_to_limit, filtered, filters, ignore, integer, ips,
    is_v6, items, later_page, lenient, map_ips, page, without_first,
};
use super::token::act_as_second;
use crate::contract::OperationId;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [items_of_batches(), results(), fields(), traces()].into_iter().flatten().collect()
}

/// Items that a search finds nothing for, in place of rejecting them.
fn items_of_batches() -> Vec<Fault> {
    faults_of![
        "search.",
        lenient("ips-item/prefix-64", "A network of 64 bits is accepted.", |item| item.ends_with("/64")),
        lenient("ips-item/behind-bracket", "Letters behind a bracket are overlooked.", |item| {
            item.split_once(']').is_some_and(|(_, rest)| {
                rest.split_once(':').is_some_and(|(letters, _)| {
                    letters.chars().all(char::is_alphabetic) && !letters.is_empty()
                })
            })
        }),
        lenient(
            "ips-item/user-and-password",
            "A user and a password before an address are overlooked.",
            |item| item.split_once('@').is_some_and(|(user, _)| user.contains(':'))
        ),
        lenient("ips-port/letters-behind", "Letters behind a port are overlooked.", |item| {
            item.rsplit_once(':').is_some_and(|(_, port)| {
                port.starts_with(|c: char| c.is_ascii_digit()) && port.ends_with("abc")
            })
        }),
        lenient(
            "ips-port/user-and-password",
            "A user and a password behind a port are overlooked.",
            |item| item.ends_with(":user:pass")
        ),
    ]
}

/// Fields that depend on what else a search finds.
fn fields() -> Vec<Fault> {
    let of_next = |id, breaks, field: &'static str| {
        Fault::new(id, breaks).list(move |_, items| {
            let mut values: Vec<_> = items.iter().map(|item| item[field].clone()).collect();
            values.rotate_left(items.len().min(1));
            items.iter_mut().zip(values).for_each(|(item, value)| item[field] = value);
        })
    };
    faults_of![
        "search.instance/",
        of_next(
            "expiry-of-next",
            "Each instance shows the expiresAt of the next one on the page.",
            "expiresAt"
        ),
        of_next(
            "capabilities-of-next",
            "On later pages each instance shows the capabilities of the next one.",
            "capabilities"
        )
        .when(later_page),
        fault("no-expiry-beside-filter", "Beside a filter expiresAt is null.")
            .when(filtered)
            .list(|_, items| items.iter_mut().for_each(|item| item["expiresAt"] = Value::Null)),
    ]
}

fn results() -> Vec<Fault> {
    faults_of![
        "search.",
        fault(
            "ips-all-or-nothing/beside-group-id",
            "Beside the id of a group any number of items is accepted."
        )
        .when(above_distinct_limit)
        .when(|call| integer(call, GROUP) > Some(0))
        .request(cut_to_limit),
        fault("intersection/country-of-many", "Beside four other filters the country is ignored.")
            .when(|call| filters(call) >= 5)
            .request(ignore(COUNTRY)),
        fault("paging/tenth-page", "Pages from the tenth on begin one instance late.")
            .when(|call| page(call) >= 10)
            .list(without_first),
        fault("no-reveal/of-a-time", "With a lower bound the instances of all accounts are found.")
            .when(asks(FROM))
            .when(|call| ips(call).iter().any(|item| call.facts.foreign_addresses.contains(item)))
            .request(act_as_second),
        fault("match-any-port/lower-half", "Of an IPv6 address the lower half is compared alone.").request(
            |call| {
                let own: Vec<Ipv6Addr> =
                    call.facts.own_addresses.iter().filter_map(|item| item.parse().ok()).collect();
                let low = |address: &Ipv6Addr| address.to_bits() & u128::from(u64::MAX);
                map_ips(call, |_, item| {
                    let alike = |asked: Ipv6Addr| own.iter().find(|address| low(address) == low(&asked));
                    let stored = item.parse().ok().filter(|_| is_v6(item)).and_then(alike);
                    stored.map_or_else(|| item.to_owned(), ToString::to_string)
                });
            }
        ),
        fault("match-any-port/second-part", "The last bit of the second part of an IPv4 address is ignored.")
            .request(|call| {
                let own = &call.facts.own_addresses;
                map_ips(call, |_, item| {
                    let other =
                        |asked: Ipv4Addr| Ipv4Addr::from_bits(asked.to_bits() ^ 0x0001_0000).to_string();
                    let even = item.parse().ok().filter(|_| !own.iter().any(|own| own == item)).map(other);
                    even.filter(|even| own.contains(even)).unwrap_or_else(|| item.to_owned())
                });
            }),
    ]
}

fn touched(call: Call<'_>) -> BoxFuture<'_, Reply> {
    Box::pin(async move {
        let operation = call.operation();
        if let (Some(OperationId::Search), Some(group)) = (operation, integer(&call, GROUP)) {
            call.memory.calls_of(&group.to_string());
        }
        let mut reply = call.send().await;
        if operation == Some(OperationId::Groups) && call.accepted(&reply) {
            reply.edit(|body| {
                for group in items(body).into_iter().flatten() {
                    if call.memory.count(&group["groupId"].to_string()) > 0 {
                        group["updatedAt"] = json!("2026-06-01T00:00:00Z");
                    }
                }
            });
        }
        reply
    })
}

/// What a search leaves behind, and headers.
fn traces() -> Vec<Fault> {
    let lost = |id, breaks| {
        Fault::new(id, breaks)
            .when(|call| call.headers.contains_key(&call.contract.extract.request_id_header.name))
            .reply(|call, reply| drop(reply.headers.remove(&call.contract.extract.request_id_header.name)))
    };
    faults_of![
        "",
        fault("search.read-only/group-touched", "A search by a group changes its updatedAt.").serve(touched),
        lost("groups.headers/beside-the-callers", "Beside a request id of the caller a listing has none."),
        lost("search.headers/beside-the-callers", "Beside a request id of the caller a result has none."),
    ]
}
