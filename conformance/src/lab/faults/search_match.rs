//! Faults in what an item of `ips` finds.

use std::collections::HashSet;
use std::net::SocketAddr;

use serde_json::Value;

use super::search::{
    NOBODY, STATUS, all_with_ports, asks, bare, count, edit_ips, filtered, has_port, ips, is_v6, items,
    later_page, lose, lose_where, map_ips, of_v6, without_ports,
};
use crate::lab::exchange::ProxiedRequest;
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    let tables = [port(), port_with_others(), any_port(), any_port_in_batches(), first_text()];
    tables.into_iter().flatten().collect()
}

/// An item as address and port, and not as text.
fn endpoint(item: &str) -> Option<(std::net::IpAddr, Option<u16>)> {
    let socket = item.parse().map(|socket: SocketAddr| (socket.ip(), Some(socket.port()))).ok();
    socket.or_else(|| Some((item.parse().ok()?, None)))
}

/// Removes the first of two items that are one address in two spellings, or finds neither.
fn first_text() -> Vec<Fault> {
    let respelled = |context: &Context, seen: &ProxiedRequest| {
        let ips = ips(context, seen);
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
        request("none-counts", "An address in two spellings is not looked up.", |context, seen| {
            map_ips(context, seen, |_, item| if is_v6(item) { NOBODY.to_owned() } else { item.to_owned() })
        })
        .when(respelled),
        success("empty", "A batch with an address in two spellings finds nothing.", |_, _, body| {
            body["data"]["items"] = Value::Array(Vec::new());
            body["data"]["total"] = Value::from(0);
        })
        .when(respelled),
    ]
}

fn port() -> Vec<Fault> {
    let ignored =
        |id, breaks, which: fn(&Context, usize, &str) -> bool| {
            Fault::request(id, breaks, move |context, seen| {
                map_ips(context, seen, |place, item| {
                    if which(context, place, item) { bare(item) } else { item.to_owned() }
                });
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
        ignored("last-port-ignored", "The largest port stands for any.", |context, _, item| {
            let port = item.parse::<SocketAddr>().map(|socket| i64::from(socket.port()));
            port.is_ok_and(|port| port == *context.contract.search.ports.end())
        }),
        request("next-port-too", "The next port matches as well.", |context, seen| {
            beside(context, seen, |port| port.checked_add(1));
        }),
        request("port-before-too", "The port before matches as well.", |context, seen| {
            beside(context, seen, |port| port.checked_sub(1).filter(|port| *port > 0));
        }),
        request("ipv6-finds-nothing", "An IPv6 item with a port finds nothing.", |context, seen| {
            map_ips(context, seen, |_, item| {
                if is_v6(item) && has_port(item) { NOBODY } else { item }.to_owned()
            });
        }),
        request(
            "own-port-missed",
            "The port is compared as a text from its second digit.",
            |context, seen| {
                map_ips(context, seen, |_, item| match item.parse::<SocketAddr>() {
                    Ok(socket) if socket.port() > 9 => {
                        let digits = socket.port().to_string();
                        digits[1..].parse().map_or_else(
                            |_| NOBODY.to_owned(),
                            |port: u16| SocketAddr::new(socket.ip(), port.max(1)).to_string(),
                        )
                    }
                    _ => item.to_owned(),
                });
            }
        ),
    ]
}

fn port_with_others() -> Vec<Fault> {
    faults_of![
        "search.match-port/",
        request(
            "ignored-in-batches",
            "In a batch of more than one item ports are ignored.",
            |context, seen| {
                map_ips(context, seen, |_, item| bare(item));
            }
        )
        .when(|context, seen| count(context, seen) > 1),
        request(
            "ignored-beside-bare",
            "Beside an item without a port, ports are ignored.",
            |context, seen| {
                map_ips(context, seen, |_, item| bare(item));
            }
        )
        .when(|context, seen| ips(context, seen).iter().any(|item| !has_port(item))),
        request("ignored-with-a-filter", "With a filter ports are ignored.", |context, seen| {
            map_ips(context, seen, |_, item| bare(item));
        })
        .when(filtered),
        request(
            "ignored-with-status-in-ipv6",
            "With a status the ports of IPv6 items are ignored.",
            |context, seen| {
                map_ips(context, seen, |_, item| if is_v6(item) { bare(item) } else { item.to_owned() });
            }
        )
        .when(asks(STATUS)),
        request(
            "one-port-an-address",
            "Of several ports of one address only the first is looked for.",
            |context, seen| {
                edit_ips(context, seen, |items| {
                    let mut known = HashSet::new();
                    items.retain(|item| {
                        item.as_str().is_none_or(|item| !has_port(item) || known.insert(bare(item)))
                    });
                });
            }
        ),
        request(
            "ports-crossed",
            "In a batch the ports of the items are in the opposite order, their addresses are not.",
            |context, seen| {
                edit_ips(context, seen, |items| {
                    let sockets: Vec<SocketAddr> =
                        items.iter().filter_map(|item| item.as_str()?.parse().ok()).collect();
                    let ports = sockets.iter().rev().map(SocketAddr::port);
                    let crossed =
                        sockets.iter().zip(ports).map(|(socket, port)| SocketAddr::new(socket.ip(), port));
                    *items = crossed.map(|socket| Value::from(socket.to_string())).collect();
                });
            }
        )
        .when(all_with_ports)
        .when(|context, seen| count(context, seen) > 1),
        success(
            "bare-shadowed",
            "An item with a port finds nothing beside items without.",
            lose(|context, seen, item| {
                let ip = item["ip"].as_str().unwrap_or_default();
                !ips(context, seen).iter().any(|item| item == ip)
            })
        )
        .when(|context, seen| ips(context, seen).iter().any(|item| !has_port(item))),
    ]
}

fn any_port() -> Vec<Fault> {
    let of_bare = |context: &Context, seen: &ProxiedRequest, item: &Value| {
        ips(context, seen).iter().any(|sent| Some(sent.as_str()) == item["ip"].as_str())
    };
    faults_of![
        "search.match-any-port/",
        success(
            "one-port",
            "An item without a port finds one port of its address.",
            |context, seen, body| {
                let mut known = HashSet::new();
                lose_where(body, |item| {
                    let asked =
                        ips(context, seen).iter().any(|sent| Some(sent.as_str()) == item["ip"].as_str());
                    asked && !known.insert(item["ip"].to_string())
                });
            }
        ),
        success(
            "three-ports",
            "An item without a port finds three ports of its address at most.",
            |_, _, body| {
                let mut counts = std::collections::HashMap::new();
                lose_where(body, |item| {
                    let count = counts.entry(item["ip"].to_string()).or_insert(0);
                    *count += 1;
                    *count > 3
                });
            }
        ),
        success(
            "one-instance-a-port",
            "Without ports, of two instances at one address and port one is found.",
            |_, _, body| {
                let mut known = HashSet::new();
                lose_where(body, |item| !known.insert(format!("{} {}", item["ip"], item["port"])));
            }
        )
        .when(without_ports),
        success(
            "default-port",
            "An item without a port stands for one port of all.",
            lose(move |context, seen, item| of_bare(context, seen, item) && item["port"] != 20_001)
        ),
        success(
            "no-port-zero",
            "In a batch an item without a port does not find an instance without one.",
            lose(|_, _, item| item["port"] == 0)
        )
        .when(|context, seen| count(context, seen) > 1),
        success(
            "no-last-port",
            "An item without a port does not find the largest port.",
            lose(move |context, seen, item| {
                of_bare(context, seen, item) && item["port"] == *context.contract.search.ports.end()
            })
        ),
        success("ipv6-one-port", "An IPv6 item without a port finds one port.", |_, _, body| {
            let mut known = HashSet::new();
            lose_where(body, |item| of_v6(item) && !known.insert(item["ip"].to_string()));
        })
        .when(without_ports),
        request("ipv6-finds-nothing", "An IPv6 item without a port finds nothing.", |context, seen| {
            map_ips(context, seen, |_, item| {
                if is_v6(item) && !has_port(item) { NOBODY } else { item }.to_owned()
            });
        }),
        request("neighbour-too", "The next IPv4 address is found as well.", |context, seen| {
            edit_ips(context, seen, |items| {
                let last = items.iter().rev().filter_map(Value::as_str).find(|item| !has_port(item));
                let next = last
                    .and_then(|item| item.parse::<std::net::Ipv4Addr>().ok())
                    .map(|ip| std::net::Ipv4Addr::from_bits(ip.to_bits().wrapping_add(1)).to_string());
                items.extend(next.map(Value::from));
            });
        })
        .when(|context, seen| count(context, seen) < 400),
    ]
}

fn any_port_in_batches() -> Vec<Fault> {
    let cut = |id, breaks, most: usize| {
        Fault::request(id, breaks, move |context, seen| edit_ips(context, seen, |items| items.truncate(most)))
            .when(move |context, seen| {
                (most + 1..=context.contract.search.distinct_items).contains(&count(context, seen))
            })
    };
    faults_of![
        "search.match-any-port/",
        cut("first-hundred", "Items beyond the hundredth are not looked for.", 100),
        cut("first-256", "Items beyond the 256th are not looked for.", 256),
        cut("all-but-the-five-hundredth", "The last of the most items is not looked for.", 499),
        request("last-item-lost", "The last of several items is not looked for.", |context, seen| {
            edit_ips(context, seen, |items| drop(items.pop()));
        })
        .when(|context, seen| (2..=context.contract.search.distinct_items).contains(&count(context, seen))),
        request(
            "shadowed-by-its-port",
            "Beside itself with a port, an item without one finds that port alone.",
            |context, seen| {
                let ported: HashSet<_> =
                    ips(context, seen).iter().filter(|item| has_port(item)).map(|item| bare(item)).collect();
                edit_ips(context, seen, |items| {
                    items.retain(|item| {
                        item.as_str().is_none_or(|item| has_port(item) || !ported.contains(item))
                    });
                });
            }
        ),
        success(
            "found-twice",
            "Beside itself with a port, an item finds that port twice.",
            |context, seen, body| {
                let sent = ips(context, seen);
                let Some(found) = items(body) else { return };
                let twice = |item: &&Value| {
                    let ip = item["ip"].as_str().unwrap_or_default();
                    let with_port = ip.parse().ok().map(|ip| {
                        SocketAddr::new(
                            ip,
                            item["port"].as_u64().and_then(|port| port.try_into().ok()).unwrap_or(0),
                        )
                        .to_string()
                    });
                    sent.iter().any(|sent| sent == ip) && with_port.is_some_and(|item| sent.contains(&item))
                };
                let again: Vec<_> = found.iter().filter(twice).cloned().collect();
                let more = i64::try_from(again.len()).unwrap_or_default();
                found.extend(again);
                body["data"]["total"] = (super::search::total(body) + more).into();
            }
        ),
        success("second-page-one-port", "On a later page an address shows one port.", |_, _, body| {
            let mut known = HashSet::new();
            if let Some(items) = items(body) {
                items.retain(|item| known.insert(item["ip"].to_string()));
            }
        })
        .when(later_page),
    ]
}

/// Adds to each item with a port another one with a port beside it.
fn beside(context: &Context, seen: &mut ProxiedRequest, other: fn(u16) -> Option<u16>) {
    edit_ips(context, seen, |items| {
        let sockets = items.iter().filter_map(|item| item.as_str()?.parse::<SocketAddr>().ok());
        let more = sockets
            .filter_map(|socket| Some(SocketAddr::new(socket.ip(), other(socket.port())?).to_string()));
        let more: Vec<_> = more.map(Value::from).collect();
        // Not past the limit, which would be another fault.
        let room = context.contract.search.distinct_items.saturating_sub(items.len());
        items.extend(more.into_iter().take(room));
    });
}
