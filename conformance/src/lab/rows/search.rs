//! What searches ask for, and small changes to them and to their results, for tables to be made of.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};

use super::part::{Part, value};
use serde_json::{Value, json};

use crate::contract::part::{ACTIVATED_FROM, ACTIVATED_TO};
use crate::lab::call::Call;
use crate::lab::exchange::Reply;

/// An address that nobody has.
pub(crate) const NOBODY: &str = "203.0.113.251";

/// The items of `ips` that are texts.
pub(crate) fn ips(call: &Call) -> Vec<String> {
    let ips = call.json()[&call.contract.search.ips.name].clone();
    ips.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Changes the items of `ips`, when it is a list.
pub(crate) fn edit_ips(call: &mut Call, how: impl FnOnce(&mut Vec<Value>)) {
    let name = &call.contract.search.ips.name;
    call.edit(|body| {
        if let Some(Value::Array(items)) = body.get_mut(name) {
            how(items);
        }
    });
}

/// How many items there are.
pub(crate) fn count(call: &Call) -> usize {
    call.json()[&call.contract.search.ips.name].as_array().map_or(0, Vec::len)
}

/// How many different items there are, by text.
pub(crate) fn distinct(call: &Call) -> usize {
    ips(call).into_iter().collect::<HashSet<_>>().len()
}

/// An item without its port, when it has one.
pub(crate) fn bare(item: &str) -> String {
    item.parse::<SocketAddr>().map_or_else(|_| item.to_owned(), |socket| socket.ip().to_string())
}

pub(crate) fn has_port(item: &str) -> bool {
    item.parse::<SocketAddr>().is_ok()
}

/// Keeps as many items as a search may have distinct ones.
pub(crate) fn cut_to_limit(call: &mut Call) {
    let most = call.contract.search.distinct_items;
    edit_ips(call, |items| items.truncate(most));
}

/// Whether an item is an IPv6 address, with or without port.
pub(crate) fn is_v6(item: &str) -> bool {
    bare(item).parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6())
}

pub(crate) fn sent_filters(call: &Call) -> Vec<Part> {
    let filters = call.contract.search.filters.iter().map(|filter| Part::Body(&filter.property.name));
    filters.filter(|part| value(call, *part).is_some()).collect()
}

/// The bounds of the activation.
pub(crate) const BOUNDS: [Part; 2] = [Part::Body(ACTIVATED_FROM), Part::Body(ACTIVATED_TO)];

fn integer(call: &Call, name: &str) -> Option<i64> {
    call.json()[name].as_i64()
}

/// Numbers of requests and responses beyond this count as this, so that no fault overflows when it calculates with them.
const LARGE: i64 = 1 << 30;

pub(crate) fn page(call: &Call) -> i64 {
    integer(call, &call.contract.search.page.name)
        .unwrap_or(call.contract.search.default_page)
        .clamp(-LARGE, LARGE)
}

pub(crate) fn page_size(call: &Call) -> i64 {
    integer(call, &call.contract.search.page_size.name)
        .unwrap_or(call.contract.search.default_page_size)
        .clamp(1, LARGE)
}

/// A response is a success without instances.
pub(crate) fn finds_nothing(call: &Call, reply: &Reply) -> bool {
    call.accepted(reply) && reply.json()["data"]["items"] == json!([])
}

/// The instances of a response.
pub(crate) fn items(body: &mut Value) -> Option<&mut Vec<Value>> {
    body.pointer_mut("/data/items")?.as_array_mut()
}

pub(crate) fn total(body: &Value) -> i64 {
    body["data"]["total"].as_i64().unwrap_or_default().clamp(-LARGE, LARGE)
}

/// Loses the instances that fit, and does not count them either.
pub(crate) fn lose_where(body: &mut Value, mut lost: impl FnMut(&Value) -> bool) {
    let Some(found) = items(body) else { return };
    let before = found.len();
    found.retain(|item| !lost(item));
    let fewer = i64::try_from(before - found.len()).unwrap_or_default();
    body["data"]["total"] = json!(total(body) - fewer);
}
