//! Faults in what an item of `ips` finds.

use serde_json::json;
use std::collections::HashSet;
use std::net::SocketAddr;

use serde_json::Value;

use super::search::{
    NOBODY, STATUS, accept, all_with_ports, any_item, asks, bare, batch, count, drop_shadowed, each,
    filtered, has_port, ips, is_v6, later_page, lose, lose_where, map_ips, of_v6, repeat_found_twice,
    without_ports,
};
use crate::contract::Search;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    let tables = [port(), any_port(), any_port_in_batches(), first_text()];
    tables.into_iter().flatten().collect()
}

/// An item as address and port, and not as text.
fn endpoint(item: &str) -> Option<(std::net::IpAddr, Option<u16>)> {
    let socket = item.parse().map(|socket: SocketAddr| (socket.ip(), Some(socket.port()))).ok();
    socket.or_else(|| Some((item.parse().ok()?, None)))
}

/// Removes the first of two items that are one address in two spellings, or finds neither.
fn first_text() -> Vec<Fault> {
    let respelled = |call: &Call<'_>| {
        let ips = ips(call);
        let mut known: Vec<(String, _)> = Vec::new();
        for item in ips {
            let Some(at) = endpoint(&item) else { continue };
            if known.iter().any(|(text, other)| *other == at && *text != item) {
                return true;
            }
            known.push((item, at));
        }
        false
    };
    faults_of![
        "search.ips-first-text/",
        fault("none-counts", "An address in two spellings is not looked up.")
            .when(respelled)
            .request(accept(is_v6)),
        fault("empty", "A batch with an address in two spellings finds nothing.").when(respelled).success(
            |_, body| {
                body["data"]["items"] = json!([]);
                body["data"]["total"] = json!(0);
            }
        ),
    ]
}

fn port() -> Vec<Fault> {
    let ignored = |id, breaks, which: fn(&Search, usize, &str) -> bool| {
        Fault::new(id, breaks).request(move |call| {
            let search = &call.contract.search;
            let text =
                |place, item: &str| if which(search, place, item) { bare(item) } else { item.to_owned() };
            map_ips(call, text);
        })
    };
    faults_of![
        "search.match-port/",
        ignored("ignored", "A port is ignored.", |_, _, _| true),
        ignored("ignored-in-ipv6", "The port of an IPv6 item is ignored.", |_, _, item| is_v6(item)),
        ignored("ignored-in-ipv4", "The port of an IPv4 item is ignored.", |_, _, item| !is_v6(item)),
        ignored(
            "ignored-past-the-hundredth",
            "Beyond the hundredth item ports are ignored.",
            |_, place, _| place >= 100
        ),
        ignored("ignored-in-the-second", "The port of the second item is ignored.", |_, place, _| place == 1),
        ignored("odd-ports-ignored", "Odd ports are ignored.", |_, _, item| {
            item.parse::<SocketAddr>().is_ok_and(|socket| socket.port() % 2 == 1)
        }),
        ignored("last-port-ignored", "The largest port stands for any.", |search, _, item| {
            let port = item.parse::<SocketAddr>().map(|socket| i64::from(socket.port()));
            port.is_ok_and(|port| port == *search.ports.end())
        }),
        fault("next-port-too", "The next port matches as well.").request(beside(|port| port.checked_add(1))),
        fault("port-before-too", "The port before matches as well.")
            .request(beside(|port| port.checked_sub(1).filter(|port| *port > 0))),
        fault("ipv6-finds-nothing", "An IPv6 item with a port finds nothing.")
            .request(accept(|item| is_v6(item) && has_port(item))),
        fault("own-port-missed", "The port is compared as a text from its second digit.").request(each(
            |item| match item.parse::<SocketAddr>() {
                Ok(socket) if socket.port() > 9 => {
                    let digits = socket.port().to_string();
                    digits[1..].parse().map_or_else(
                        |_| NOBODY.to_owned(),
                        |port: u16| SocketAddr::new(socket.ip(), port.max(1)).to_string(),
                    )
                }
                _ => item.to_owned(),
            }
        )),
        fault("ignored-in-batches", "In a batch of more than one item ports are ignored.")
            .when(|call| count(call) > 1)
            .request(each(bare)),
        fault("ignored-beside-bare", "Beside an item without a port, ports are ignored.")
            .when(any_item(|item| !has_port(item)))
            .request(each(bare)),
        fault("ignored-with-a-filter", "With a filter ports are ignored.").when(filtered).request(each(bare)),
        fault("ignored-with-status-in-ipv6", "With a status the ports of IPv6 items are ignored.")
            .when(asks(STATUS))
            .request(each(|item| if is_v6(item) { bare(item) } else { item.to_owned() })),
        fault("one-port-an-address", "Of several ports of one address only the first is looked for.")
            .request(batch(|_, items| {
                let mut known = HashSet::new();
                items.retain(|item| {
                    item.as_str().is_none_or(|item| !has_port(item) || known.insert(bare(item)))
                });
            })),
        fault(
            "ports-crossed",
            "In a batch the ports of the items are in the opposite order, their addresses are not."
        )
        .when(all_with_ports)
        .when(|call| count(call) > 1)
        .request(batch(|_, items| {
            let sockets: Vec<SocketAddr> =
                items.iter().filter_map(|item| item.as_str()?.parse().ok()).collect();
            let ports = sockets.iter().rev().map(SocketAddr::port);
            let crossed = sockets.iter().zip(ports).map(|(socket, port)| SocketAddr::new(socket.ip(), port));
            *items = crossed.map(|socket| Value::from(socket.to_string())).collect();
        })),
        fault("bare-shadowed", "An item with a port finds nothing beside items without.")
            .when(any_item(|item| !has_port(item)))
            .success(lose(|call, item| !of_bare(call, item))),
    ]
}

fn any_port() -> Vec<Fault> {
    faults_of![
        "search.match-any-port/",
        fault("one-port", "An item without a port finds one port of its address.")
            .success(lose_repeated(|call, item| of_bare(call, item).then(|| item["ip"].to_string()))),
        fault("three-ports", "An item without a port finds three ports of its address at most.").success(
            |_, body| {
                let mut counts = std::collections::HashMap::new();
                lose_where(body, |item| {
                    let count = counts.entry(item["ip"].to_string()).or_insert(0);
                    *count += 1;
                    *count > 3
                });
            }
        ),
        fault("one-instance-a-port", "Without ports, of two instances at one address and port one is found.")
            .when(without_ports)
            .success(lose_repeated(|_, item| Some(format!("{} {}", item["ip"], item["port"])))),
        fault("default-port", "An item without a port stands for one port of all.")
            .success(lose(|call, item| of_bare(call, item) && item["port"] != 20_001)),
        fault("no-port-zero", "In a batch an item without a port does not find an instance without one.")
            .when(|call| count(call) > 1)
            .success(lose(|_, item| item["port"] == 0)),
        fault("no-last-port", "An item without a port does not find the largest port.").success(lose(
            |call, item| { of_bare(call, item) && item["port"] == *call.contract.search.ports.end() }
        )),
        fault("ipv6-one-port", "An IPv6 item without a port finds one port.")
            .when(without_ports)
            .success(lose_repeated(|_, item| of_v6(item).then(|| item["ip"].to_string()))),
        fault("ipv6-finds-nothing", "An IPv6 item without a port finds nothing.")
            .request(accept(|item| is_v6(item) && !has_port(item))),
        fault("neighbour-too", "The next IPv4 address is found as well.")
            .when(|call| count(call) < 400)
            .request(batch(|_, items| {
                let last = items.iter().rev().filter_map(Value::as_str).find(|item| !has_port(item));
                let next = last
                    .and_then(|item| item.parse::<std::net::Ipv4Addr>().ok())
                    .map(|ip| std::net::Ipv4Addr::from_bits(ip.to_bits().wrapping_add(1)).to_string());
                items.extend(next.map(Value::from));
            })),
    ]
}

fn any_port_in_batches() -> Vec<Fault> {
    let cut = |id, breaks, most: usize| {
        Fault::new(id, breaks)
            .when(move |call| (most + 1..=call.contract.search.distinct_items).contains(&count(call)))
            .request(batch(move |_, items| items.truncate(most)))
    };
    faults_of![
        "search.match-any-port/",
        cut("first-hundred", "Items beyond the hundredth are not looked for.", 100),
        cut("first-256", "Items beyond the 256th are not looked for.", 256),
        cut(
            "all-but-the-five-hundredth",
            "The last item of a batch of the maximum size is not looked for.",
            499
        ),
        fault("last-item-lost", "The last of several items is not looked for.")
            .when(|call| (2..=call.contract.search.distinct_items).contains(&count(call)))
            .request(batch(|_, items| drop(items.pop()))),
        fault(
            "shadowed-by-its-port",
            "Beside itself with a port, an item without one finds that port alone."
        )
        .request(drop_shadowed),
        fault("found-twice", "Beside itself with a port, an item finds that port twice.")
            .success(repeat_found_twice),
        fault("second-page-one-port", "On a later page an address shows one port.").when(later_page).list(
            |_, items| {
                let mut known = HashSet::new();
                items.retain(|item| known.insert(item["ip"].to_string()));
            }
        ),
    ]
}

/// Adds to each item with a port another one with a port beside it.
fn beside(other: fn(u16) -> Option<u16>) -> impl Fn(&mut Call<'_>) + Send + Sync {
    batch(move |search, items| {
        let sockets = items.iter().filter_map(|item| item.as_str()?.parse::<SocketAddr>().ok());
        let more = sockets.filter_map(|socket| Some(SocketAddr::new(socket.ip(), other(socket.port())?)));
        let more: Vec<_> = more.map(|socket| Value::from(socket.to_string())).collect();
        // Not past the limit, which would be another fault.
        let room = search.distinct_items.saturating_sub(items.len());
        items.extend(more.into_iter().take(room));
    })
}

/// Loses the instances with the same key as one before.
fn lose_repeated(
    key: impl Fn(&Call<'_>, &Value) -> Option<String> + Send + Sync,
) -> impl Fn(&Call<'_>, &mut Value) + Send + Sync {
    move |call, body| {
        let mut known = HashSet::new();
        lose_where(body, |item| key(call, item).is_some_and(|key| !known.insert(key)));
    }
}

/// An item is the address of an instance, without a port.
fn of_bare(call: &Call<'_>, item: &Value) -> bool {
    ips(call).iter().any(|sent| item["ip"] == **sent)
}
