//! What searches ask for, and small changes to them and to their results, for tables to be made of.

use std::net::{IpAddr, SocketAddr};

use super::part::Part;
use serde_json::Value;

use crate::contract::part::{ACTIVATED_FROM, ACTIVATED_TO};
use crate::lab::call::Call;

pub(crate) const NOBODY: &str = "203.0.113.251";

/// The items of `ips` that are texts.
pub(crate) fn ips(call: &Call) -> Vec<String> {
    let ips = call.json()[&call.contract.search.ips.name].clone();
    ips.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// An item without its port, when it has one.
pub(crate) fn bare(item: &str) -> String {
    item.parse::<SocketAddr>().map_or_else(|_| item.to_owned(), |socket| socket.ip().to_string())
}

pub(crate) fn has_port(item: &str) -> bool {
    item.parse::<SocketAddr>().is_ok()
}

/// Whether an item is an IPv6 address, with or without port.
pub(crate) fn is_v6(item: &str) -> bool {
    bare(item).parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6())
}

pub(crate) const BOUNDS: [Part; 2] = [Part::Body(ACTIVATED_FROM), Part::Body(ACTIVATED_TO)];

/// Totals beyond this count as this, so that no fault overflows when it calculates with them.
const LARGE: i64 = 1 << 30;

pub(crate) fn items(body: &mut Value) -> Option<&mut Vec<Value>> {
    body.pointer_mut("/data/items")?.as_array_mut()
}

pub(crate) fn total(body: &Value) -> i64 {
    body["data"]["total"].as_i64().unwrap_or_default().clamp(-LARGE, LARGE)
}
