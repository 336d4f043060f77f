//! Faults in what an item of `ips` finds.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use serde_json::{Value, json};

use super::words::*;
use crate::contract::Search;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "search.match-port/" {
            "ignored": "A port is ignored." => each(bare);
            "ignored-in-ipv6": "The port of an IPv6 item is ignored." => bare_where(|_, _, item| is_v6(item));
            "ignored-in-ipv4": "The port of an IPv4 item is ignored." => bare_where(|_, _, item| !is_v6(item));
            "ignored-past-the-hundredth": "Beyond the hundredth item ports are ignored." => bare_where(|_, place, _| place >= 100);
            "ignored-in-the-second": "The port of the second item is ignored." => bare_where(|_, place, _| place == 1);
            "odd-ports-ignored": "Odd ports are ignored."
                => bare_where(|_, _, item| item.parse().is_ok_and(|socket: SocketAddr| socket.port() % 2 == 1));
            "last-port-ignored": "The largest port stands for any."
                => bare_where(|search, _, item| item.parse().is_ok_and(|socket: SocketAddr| i64::from(socket.port()) == *search.ports.end()));
            "next-port-too": "The next port matches as well." => beside(|port| port.checked_add(1));
            "port-before-too": "The port before matches as well." => beside(|port| port.checked_sub(1).filter(|port| *port > 0));
            "ipv6-finds-nothing": "An IPv6 item with a port finds nothing." => accept(|item| is_v6(item) && has_port(item));
            "own-port-missed": "The port is compared as a text from its second digit." => each(|item| match item.parse::<SocketAddr>() {
                Ok(socket) if socket.port() > 9 => {
                    let port = socket.port().to_string()[1..].parse().unwrap_or(1).max(1);
                    SocketAddr::new(socket.ip(), port).to_string()
                }
                _ => item.to_owned(),
            });
            "highest-bit-lost": "Ports count without their highest bit." => each(|item| match item.parse::<SocketAddr>() {
                Ok(mut socket) if socket.port() > 0x8000 => {
                    socket.set_port(socket.port() & 0x7fff);
                    socket.to_string()
                }
                _ => item.to_owned(),
            });
            "ignored-in-batches": "In a batch of more than one item ports are ignored." if batch_of(2..) => each(bare);
            "ignored-beside-bare": "Beside an item without a port, ports are ignored." if any_item(|item| !has_port(item)) => each(bare);
            "ignored-with-a-filter": "With a filter ports are ignored." if filtered => each(bare);
            "ignored-with-status-in-ipv6": "With a status the ports of IPv6 items are ignored."
                if with(STATUS) => bare_where(|_, _, item| is_v6(item));
            "one-port-an-address": "Of several ports of one address only the first is looked for." => batch(|_, items| {
                let mut known = HashSet::new();
                items.retain(|item| item.as_str().is_none_or(|item| !has_port(item) || known.insert(bare(item))));
            });
            "ports-crossed": "In a batch the ports of the items are in the opposite order, their addresses are not."
                if all_with_ports, batch_of(2..) => batch(|_, items| {
                    let sockets: Vec<SocketAddr> = items.iter().filter_map(|item| item.as_str()?.parse().ok()).collect();
                    let ports = sockets.iter().rev().map(SocketAddr::port);
                    let crossed = sockets.iter().zip(ports).map(|(socket, port)| SocketAddr::new(socket.ip(), port));
                    *items = crossed.map(|socket| Value::from(socket.to_string())).collect();
                });
            "bare-shadowed": "An item with a port finds nothing beside items without."
                if any_item(|item| !has_port(item)) => lose(|call, item| !of_bare(call, item));
        }
        "search.match-any-port/" {
            "one-instance-a-port": "Without ports, of two instances at one address and port one is found."
                if without_ports => lose_repeated(|_, item| Some(format!("{} {}", item["ip"], item["port"])));
            "one-port": "An item without a port finds one port of its address."
                => lose_repeated(|call, item| of_bare(call, item).then(|| item["ip"].to_string()));
            "three-ports": "An item without a port finds three ports of its address at most." => success(|_, body| {
                let mut counts = HashMap::new();
                lose_where(body, |item| {
                    let count = counts.entry(item["ip"].to_string()).or_insert(0);
                    *count += 1;
                    *count > 3
                });
            });
            "default-port": "An item without a port stands for one port of all." => lose(|call, item| of_bare(call, item) && item["port"] != 20_001);
            "no-port-zero": "In a batch an item without a port does not find an instance without one."
                if batch_of(2..) => lose(|_, item| item["port"] == 0);
            "no-last-port": "An item without a port does not find the largest port."
                => lose(|call, item| of_bare(call, item) && item["port"] == *call.contract.search.ports.end());
            "ipv6-one-port": "An IPv6 item without a port finds one port."
                if without_ports => lose_repeated(|_, item| of_v6(item).then(|| item["ip"].to_string()));
            "ipv6-finds-nothing": "An IPv6 item without a port finds nothing." => accept(|item| is_v6(item) && !has_port(item));
            "neighbour-too": "The next IPv4 address is found as well." if batch_of(..400) => batch(|_, items| {
                let last = items.iter().rev().filter_map(Value::as_str).find(|item| !has_port(item));
                let last = last.and_then(|item| item.parse::<Ipv4Addr>().ok());
                items.extend(last.map(|ip| Ipv4Addr::from_bits(ip.to_bits().wrapping_add(1)).to_string().into()));
            });
            "first-hundred": "Items beyond the hundredth are not looked for." => keep(100);
            "first-256": "Items beyond the 256th are not looked for." => keep(256);
            "all-but-the-five-hundredth": "The last item of a batch of the maximum size is not looked for." => keep(499);
            "last-item-lost": "The last of several items is not looked for."
                if that(|call| (2..=call.contract.search.distinct_items).contains(&count(call))) => batch(|_, items| drop(items.pop()));
            "shadowed-by-its-port": "Beside itself with a port, an item without one finds that port alone." => drop_shadowed;
            "found-twice": "Beside itself with a port, an item finds that port twice." => repeat_found_twice;
            "second-page-one-port": "On a later page an address shows one port." if later_page => list(|_, items| {
                let mut known = HashSet::new();
                items.retain(|item| known.insert(item["ip"].to_string()));
            });
            "last-raw-item": "The last of the maximum number of raw items is not searched."
                if that(|call| count(call) == *call.contract.search.raw_items.end()) => batch(|_, items| drop(items.pop()));
            "port-wins-in-large-batches": "In a batch of more than 50 items an address with and without a port counts with its port only."
                if batch_of(51..) => drop_shadowed;
            "cached-by-size": "Responses are cached by the token, the first item and the number of items." => accepted(|call, reply| {
                let (items, Value::Object(mut rest)) = (ips(call), call.json()) else { return };
                rest.insert(call.contract.search.ips.name.clone(), json!([items.first(), items.len()]));
                call.memory.repeat_first(&format!("{:?} {}", call.query, Value::Object(rest)), reply);
            });
            "own-lost-among-strangers": "In a full batch the first item is not looked for."
                if that(|call| count(call) == call.contract.search.distinct_items)
                => request(|call| map_ips(call, |place, item| if place == 0 { NOBODY } else { item }.to_owned()));
            "lower-half": "Of an IPv6 address the lower half is compared alone." if known(Fact::OwnAddresses) => request(|call| {
                let own: Vec<Ipv6Addr> = call.facts.own_addresses.iter().filter_map(|item| item.parse().ok()).collect();
                let low = |address: &Ipv6Addr| address.to_bits() & u128::from(u64::MAX);
                map_ips(call, |_, item| {
                    let alike = |asked: Ipv6Addr| own.iter().find(|address| low(address) == low(&asked));
                    item.parse().ok().and_then(alike).map_or_else(|| item.to_owned(), ToString::to_string)
                });
            });
            "second-part": "The last bit of the second part of an IPv4 address is ignored." if known(Fact::OwnAddresses) => request(|call| {
                let own = &call.facts.own_addresses;
                map_ips(call, |_, item| {
                    let other = |asked: Ipv4Addr| Ipv4Addr::from_bits(asked.to_bits() ^ 0x0001_0000).to_string();
                    let even = item.parse().ok().filter(|_| !own.iter().any(|own| own == item)).map(other);
                    even.filter(|even| own.contains(even)).unwrap_or_else(|| item.to_owned())
                });
            });
        }
        "search.ips-first-text/" {
            "none-counts": "An address in two spellings is not looked up." if respelled => accept(is_v6);
            "empty": "A batch with an address in two spellings finds nothing." if respelled => success(|_, body| {
                body["data"]["items"] = json!([]);
                body["data"]["total"] = json!(0);
            });
        }
    }
}

/// Takes the port from the items that fit.
fn bare_where(fits: fn(&Search, usize, &str) -> bool) -> impl OnRequest {
    move |call| {
        let search = &call.contract.search;
        map_ips(call, |place, item| if fits(search, place, item) { bare(item) } else { item.to_owned() });
    }
}

/// Adds to each item with a port another one with a port beside it.
fn beside(other: fn(u16) -> Option<u16>) -> impl OnRequest {
    batch(move |search, items| {
        let sockets = items.iter().filter_map(|item| item.as_str()?.parse::<SocketAddr>().ok());
        let more = sockets.filter_map(|socket| Some(SocketAddr::new(socket.ip(), other(socket.port())?)));
        let more: Vec<_> = more.map(|socket| Value::from(socket.to_string())).collect();
        // Not past the limit, which would be another fault.
        let room = search.distinct_items.saturating_sub(items.len());
        items.extend(more.into_iter().take(room));
    })
}

/// Looks for so many items of a batch that is within the limit.
fn keep(most: usize) -> impl OnRequest {
    batch(move |search, items| {
        if items.len() <= search.distinct_items {
            items.truncate(most);
        }
    })
}

/// Loses the instances with the same key as one before.
fn lose_repeated(key: impl Fn(&Call<'_>, &Value) -> Option<String> + Send + Sync) -> impl OnBody {
    move |call, body| {
        let mut known = HashSet::new();
        lose_where(body, |item| key(call, item).is_some_and(|key| !known.insert(key)));
    }
}

/// An item is the address of an instance, without a port.
fn of_bare(call: &Call<'_>, item: &Value) -> bool {
    ips(call).iter().any(|sent| item["ip"] == **sent)
}

/// Two items are one address in two spellings.
fn respelled(call: &Call<'_>) -> bool {
    let endpoint = |item: &str| {
        let socket = item.parse().map(|socket: SocketAddr| (socket.ip(), Some(socket.port()))).ok();
        socket.or_else(|| Some((item.parse::<IpAddr>().ok()?, None)))
    };
    let mut spellings = HashMap::new();
    ips(call).into_iter().any(|item| {
        endpoint(&item)
            .is_some_and(|endpoint| *spellings.entry(endpoint).or_insert_with(|| item.clone()) != item)
    })
}
