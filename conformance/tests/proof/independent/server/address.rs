//! Addresses, and the instances at them.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Value as Json, json};

/// As the function of that name in C, which takes fewer parts and hexadecimal ones.
pub(super) fn inet_aton(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = text.split('.').collect();
    let number = |part: &str| match part.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        _ => (!part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse().ok())
            .flatten(),
    };
    let (last, heads) = parts.split_last()?;
    if heads.len() > 3 {
        return None;
    }
    let mut value: u64 = 0;
    for part in heads {
        value = value << 8 | number(part).filter(|part| *part < 256)?;
    }
    let rest_bits = 8 * (4 - heads.len() as u32);
    let last = number(last).filter(|last| *last < 1 << rest_bits)?;
    Some(Ipv4Addr::from((value << rest_bits | last) as u32))
}

/// An address, `IPv4:port` or `[IPv6]:port`, with the text of the port. `is_same` takes an IPv4-mapped address for the IPv4 address.
pub(super) fn endpoint(sent: &str, is_same: bool) -> Option<Json> {
    let v6 = |text: &str| text.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    let v4 = |text: &str| text.parse::<Ipv4Addr>().ok().map(IpAddr::V4);
    let (ip, text, port_text) = if let Some(ip) = v4(sent).or_else(|| v6(sent)) {
        (ip, sent, None)
    } else if let Some((address, rest)) = sent.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        (v6(address)?, address, Some(rest.strip_prefix(':')?))
    } else {
        let (address, port) = sent.split_once(':')?;
        (v4(address)?, address, Some(port))
    };
    let ip = if is_same { ip.to_canonical() } else { ip };
    Some(json!({
        "sent": sent, "text": text, "ip": ip, "v6": ip.is_ipv6(), "network": network(ip), "port_text": port_text,
    }))
}

/// The first half of an IPv6 address; empty for IPv4.
pub(super) fn network(ip: IpAddr) -> String {
    match ip {
        IpAddr::V6(ip) => format!("{:x?}", &ip.segments()[..4]),
        IpAddr::V4(_) => String::new(),
    }
}

/// A text stays a value, which is hashed and compared like it, since there are some thousand instances.
fn text(of: &Value, name: &str) -> Value {
    of.get_attr(name).unwrap_or_default()
}

fn port(of: &Value) -> Option<i64> {
    of.get_attr("port").ok()?.as_i64()
}

/// The items by address and port, each with its `first` text, its `last`, or the `stored` spelling where one has it.
pub(super) fn deduplicated(items: Vec<Value>, kept: &str) -> Vec<Value> {
    let mut first: Vec<Value> = Vec::new();
    let mut known: HashMap<(Value, Option<i64>), usize> = HashMap::new();
    for item in items {
        let at = *known.entry((text(&item, "ip"), port(&item))).or_insert(first.len());
        match first.get_mut(at) {
            None => first.push(item),
            Some(place) if kept == "last" || kept == "stored" && text(&item, "text") == text(&item, "ip") => {
                *place = item;
            }
            Some(_) => {}
        }
    }
    first
}

/// The instances at addresses of the items, in their order, each with what the items say of it: how many have its port or none (`hits`),
/// the same in the stored spelling, the ports that others have, whether one has none, and its number among those of its address.
pub(super) fn matching(instances: Vec<Value>, items: Vec<Value>) -> Vec<Value> {
    let mut by_address: HashMap<Value, Vec<(Option<i64>, bool)>> = HashMap::new();
    for item in items {
        let ip = text(&item, "ip");
        let is_stored = text(&item, "text") == ip;
        by_address.entry(ip).or_default().push((port(&item), is_stored));
    }
    let mut numbers: HashMap<Value, usize> = HashMap::new();
    let mut found = Vec::new();
    for instance in instances {
        let ip = text(&instance, "ip");
        let Some(items) = by_address.get(&ip) else { continue };
        let own = port(&instance);
        let hits = || items.iter().filter(|(port, _)| port.is_none() || *port == own);
        let others = items.iter().filter_map(|(port, _)| *port).filter(|port| Some(*port) != own);
        let number = numbers.entry(ip).or_default();
        *number += 1;
        found.push(Value::from_pairs([
            ("instance", instance),
            ("hits", hits().count().into()),
            ("stored_hits", hits().filter(|(_, is_stored)| *is_stored).count().into()),
            ("other_ports", others.map(Value::from).collect::<Vec<_>>().into()),
            ("portless", items.iter().any(|(port, _)| port.is_none()).into()),
            ("nth", (*number).into()),
        ]));
    }
    found
}

/// The texts that are in another list, each once.
pub(super) fn within(texts: Vec<String>, others: Vec<String>) -> Vec<String> {
    let others: HashSet<String> = others.into_iter().collect();
    let mut seen = HashSet::new();
    texts.into_iter().filter(|text| others.contains(text) && seen.insert(text.clone())).collect()
}

/// An answer of these functions for rows.
pub(super) fn value(json: Option<Json>) -> Value {
    json.map_or(Value::from(()), |json| Value::from(Serde(json)))
}
