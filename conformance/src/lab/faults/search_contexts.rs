//! Faults in searches and listings that show with an unusual item, filter or header alone.

use std::net::{IpAddr, Ipv6Addr};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::search::{
    COUNTRY, FROM, GROUP, NOBODY, asks, distinct, edit_ips, filtered, filters, ignore, ips, is_v6, items,
    later_page, map_ips, page, value,
};
use crate::contract::OperationId;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [items_of_batches(), limits(), results(), fields(), changes(), headers()].into_iter().flatten().collect()
}

/// Items that a search finds nothing for, in place of rejecting them.
fn items_of_batches() -> Vec<Fault> {
    let found = |id, breaks, is_odd: fn(&str) -> bool| {
        Fault::new(id, breaks).request(move |call| {
            map_ips(call, |_, item| if is_odd(item) { NOBODY } else { item }.to_owned());
        })
    };
    faults_of![
        "search.",
        found("ips-item/prefix-64", "A network of 64 bits is accepted.", |item| item.ends_with("/64")),
        found("ips-item/behind-bracket", "Letters behind a bracket are overlooked.", |item| {
            item.split_once(']').is_some_and(|(_, rest)| {
                rest.split_once(':').is_some_and(|(letters, _)| {
                    letters.chars().all(char::is_alphabetic) && !letters.is_empty()
                })
            })
        }),
        found(
            "ips-item/user-and-password",
            "A user and a password before an address are overlooked.",
            |item| item.split_once('@').is_some_and(|(user, _)| user.contains(':'))
        ),
        found("ips-port/letters-behind", "Letters behind a port are overlooked.", |item| {
            item.rsplit_once(':').is_some_and(|(_, port)| {
                port.starts_with(|c: char| c.is_ascii_digit()) && port.ends_with("abc")
            })
        }),
        found("ips-port/user-and-password", "A user and a password behind a port are overlooked.", |item| {
            item.ends_with(":user:pass")
        }),
    ]
}

/// Fields that depend on what else a search finds.
fn fields() -> Vec<Fault> {
    let of_next = |id, breaks, field: &'static str| {
        Fault::new(id, breaks).success(move |_, body| {
            let items = body["data"]["items"].as_array_mut().map_or(&mut [][..], Vec::as_mut_slice);
            let mut values: Vec<_> = items.iter().map(|item| item[field].clone()).collect();
            let by = values.len().min(1);
            values.rotate_left(by);
            items.iter_mut().zip(values).for_each(|(item, value)| item[field] = value);
        })
    };
    let nulled = |id, breaks| {
        Fault::new(id, breaks).success(|_, body| {
            body["data"]["items"].as_array_mut().into_iter().flatten().for_each(|item| {
                item["expiresAt"] = Value::Null;
            });
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
        nulled("no-expiry-beside-filter", "Beside a filter expiresAt is null.").when(filtered),
    ]
}

fn limits() -> Vec<Fault> {
    faults_of![
        "search.ips-all-or-nothing/",
        fault("beside-group-id", "Beside the id of a group any number of items is accepted.")
            .when(|call| distinct(call) > call.contract.search.distinct_items)
            .when(|call| { value(call, GROUP).and_then(|id| id.as_i64()).is_some_and(|id| id > 0) })
            .request(|call| {
                let most = call.contract.search.distinct_items;
                edit_ips(call, |items| items.truncate(most));
            }),
    ]
}

fn results() -> Vec<Fault> {
    faults_of![
        "search.",
        fault("intersection/country-of-many", "Beside four other filters the country is ignored.")
            .when(|call| filters(call) >= 5)
            .request(ignore(COUNTRY)),
        fault("paging/tenth-page", "Pages from the tenth on begin one instance late.").success(
            |call, body| {
                if page(call) >= 10
                    && let Some(items) = items(body)
                    && !items.is_empty()
                {
                    items.remove(0);
                }
            }
        ),
        fault("no-reveal/of-a-time", "With a lower bound the instances of all accounts are found.")
            .when(asks(FROM))
            .request(|call| {
                let foreign = &call.facts.foreign_addresses;
                let asked = ips(call);
                if let (Some(second), true) =
                    (&call.facts.second_token, asked.iter().any(|item| foreign.contains(item)))
                {
                    call.act_as(second.expose());
                }
            }),
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
                map_ips(call, |_, item| match item.parse() {
                    Ok(IpAddr::V4(address)) if !call.facts.own_addresses.iter().any(|own| own == item) => {
                        let even = std::net::Ipv4Addr::from_bits(address.to_bits() ^ 0x0001_0000).to_string();
                        if call.facts.own_addresses.contains(&even) { even } else { item.to_owned() }
                    }
                    _ => item.to_owned(),
                });
            }),
    ]
}

/// What a search leaves behind.
fn changes() -> Vec<Fault> {
    faults_of![
        "search.read-only/",
        fault("group-touched", "A search by a group changes its updatedAt.").serve(touched),
    ]
}

fn touched(call: Call<'_>) -> BoxFuture<'_, Reply> {
    Box::pin(async move {
        let operation = call.operation();
        let group = value(&call, GROUP).and_then(|id| id.as_i64());
        if let (Some(OperationId::Search), Some(group)) = (operation, group) {
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

fn headers() -> Vec<Fault> {
    let lost = |id, breaks| {
        Fault::new(id, breaks)
            .when(|call| call.headers.contains_key(call.contract.extract.request_id_header.name.as_str()))
            .reply(|call, reply| {
                reply.headers.remove(call.contract.extract.request_id_header.name.as_str());
            })
    };
    faults_of![
        "",
        lost("groups.headers/beside-the-callers", "Beside a request id of the caller a listing has none."),
        lost("search.headers/beside-the-callers", "Beside a request id of the caller a result has none."),
    ]
}
