//! What searches ask for, and small changes to them and to their results, for tables to be made of.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};

use crate::contract::{Property, Search};
use serde_json::{Map, Value, json};

use crate::lab::Call;

/// A property of the body.
pub(crate) type PropertyGetter = fn(&Search) -> &Property;

pub(crate) const PAGE: PropertyGetter = |search| &search.page;
pub(crate) const SIZE: PropertyGetter = |search| &search.page_size;
pub(crate) const STATUS: PropertyGetter = |search| &search.status;
pub(crate) const GROUP: PropertyGetter = |search| &search.group_id;
pub(crate) const COUNTRY: PropertyGetter = |search| &search.country_code;
pub(crate) const CITY: PropertyGetter = |search| &search.city_code;
pub(crate) const ORDER: PropertyGetter = |search| &search.order_no;
pub(crate) const FROM: PropertyGetter = |search| &search.activated_from;
pub(crate) const TO: PropertyGetter = |search| &search.activated_to;

/// An address that nobody has.
pub(crate) const NOBODY: &str = "203.0.113.251";

/// The items of `ips` that are texts.
pub(crate) fn ips(call: &Call<'_>) -> Vec<String> {
    let ips = call.json()[&call.contract.search.ips.name].clone();
    ips.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Changes the items of `ips`, when it is a list.
pub(crate) fn edit_ips(call: &mut Call<'_>, how: impl FnOnce(&mut Vec<Value>)) {
    let name = &call.contract.search.ips.name;
    call.edit(|body| {
        if let Some(Value::Array(items)) = body.get_mut(name) {
            how(items);
        }
    });
}

/// Replaces each item that is a text by what `how` makes of it and its place.
pub(crate) fn map_ips(call: &mut Call<'_>, how: impl Fn(usize, &str) -> String) {
    edit_ips(call, |items| {
        for (place, item) in items.iter_mut().enumerate() {
            if let Some(text) = item.as_str() {
                *item = how(place, text).into();
            }
        }
    });
}

/// How many items there are.
pub(crate) fn count(call: &Call<'_>) -> usize {
    call.json()[&call.contract.search.ips.name].as_array().map_or(0, Vec::len)
}

/// How many different items there are, by text.
pub(crate) fn distinct(call: &Call<'_>) -> usize {
    ips(call).into_iter().collect::<HashSet<_>>().len()
}

/// An item without its port, when it has one.
pub(crate) fn bare(item: &str) -> String {
    item.parse::<SocketAddr>().map_or_else(|_| item.to_owned(), |socket| socket.ip().to_string())
}

/// Whether an item has a port.
pub(crate) fn has_port(item: &str) -> bool {
    item.parse::<SocketAddr>().is_ok()
}

/// All items have a port.
pub(crate) fn all_with_ports(call: &Call<'_>) -> bool {
    ips(call).iter().all(|item| has_port(item))
}

/// No item has a port.
pub(crate) fn without_ports(call: &Call<'_>) -> bool {
    ips(call).iter().all(|item| !has_port(item))
}

/// `ips` is an empty list.
pub(crate) fn with_empty_ips(call: &Call<'_>) -> bool {
    call.json()[&call.contract.search.ips.name] == json!([])
}

/// An item is repeated.
pub(crate) fn with_duplicates(call: &Call<'_>) -> bool {
    distinct(call) < count(call)
}

/// Whether an item is an IPv6 address, with or without port.
pub(crate) fn is_v6(item: &str) -> bool {
    bare(item).parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6())
}

/// The value of a property, when it is sent and not null.
pub(crate) fn value(call: &Call<'_>, which: PropertyGetter) -> Option<Value> {
    let value = call.json().get(&which(&call.contract.search).name).cloned();
    value.filter(|value| !value.is_null())
}

/// The value of a property that is a text.
pub(crate) fn text(call: &Call<'_>, which: PropertyGetter) -> Option<String> {
    value(call, which)?.as_str().map(str::to_owned)
}

/// A property is sent and not null.
pub(crate) fn asks(which: PropertyGetter) -> impl Fn(&Call<'_>) -> bool + Send + Sync {
    move |call| value(call, which).is_some()
}

/// A property is sent and its value fits.
pub(crate) fn has(
    which: PropertyGetter,
    fits: impl Fn(&Value) -> bool + Send + Sync,
) -> impl Fn(&Call<'_>) -> bool + Send + Sync {
    move |call| value(call, which).is_some_and(|value| fits(&value))
}

/// A property is absent or null.
pub(crate) fn lacks(which: PropertyGetter) -> impl Fn(&Call<'_>) -> bool + Send + Sync {
    move |call| value(call, which).is_none()
}

/// Takes a property out of the request.
pub(crate) fn ignore(which: PropertyGetter) -> impl Fn(&mut Call<'_>) + Send + Sync {
    move |call| {
        let name = &which(&call.contract.search).name;
        call.edit(|body| {
            body.shift_remove(name);
        });
    }
}

/// Gives a property another value.
pub(crate) fn put(call: &mut Call<'_>, which: PropertyGetter, value: impl Into<Value>) {
    let name = which(&call.contract.search).name.clone();
    call.edit(|body| {
        body.insert(name, value.into());
    });
}

/// How many filters are sent.
pub(crate) fn filters(call: &Call<'_>) -> usize {
    Search::FILTERS.iter().filter(|which| value(call, **which).is_some()).count()
}

/// There is a filter.
pub(crate) fn filtered(call: &Call<'_>) -> bool {
    filters(call) > 0
}

/// There are this many filters.
pub(crate) fn with_filters(count: usize) -> impl Fn(&Call<'_>) -> bool + Send + Sync {
    move |call| filters(call) == count
}

/// The page that is asked for.
pub(crate) fn page(call: &Call<'_>) -> i64 {
    let search = &call.contract.search;
    value(call, PAGE).and_then(|page| page.as_i64()).unwrap_or(search.default_page)
}

/// The page size that is asked for.
pub(crate) fn page_size(call: &Call<'_>) -> i64 {
    let size = value(call, SIZE).and_then(|size| size.as_i64());
    size.unwrap_or(call.contract.search.default_page_size)
}

/// A page after the first is asked for.
pub(crate) fn later_page(call: &Call<'_>) -> bool {
    page(call) > *call.contract.search.pages.start()
}

/// The instances of a response.
pub(crate) fn items(body: &mut Value) -> Option<&mut Vec<Value>> {
    body.pointer_mut("/data/items")?.as_array_mut()
}

/// The total of a response.
pub(crate) fn total(body: &Value) -> i64 {
    body["data"]["total"].as_i64().unwrap_or_default()
}

/// Loses instances, and does not count them either.
pub(crate) fn lose(
    lost: impl Fn(&Call<'_>, &Value) -> bool + Send + Sync,
) -> impl Fn(&Call<'_>, &mut Value) + Send + Sync {
    move |call, body| lose_where(body, |item| lost(call, item))
}

/// The same, in passing.
pub(crate) fn lose_where(body: &mut Value, mut lost: impl FnMut(&Value) -> bool) {
    let Some(found) = items(body) else { return };
    let before = found.len();
    found.retain(|item| !lost(item));
    let fewer = i64::try_from(before - found.len()).unwrap_or_default();
    body["data"]["total"] = json!(total(body) - fewer);
}

/// Changes the list of instances.
pub(crate) fn relist(how: fn(&mut Vec<Value>)) -> impl Fn(&Call<'_>, &mut Value) + Send + Sync {
    move |_, body| {
        if let Some(items) = items(body) {
            how(items);
        }
    }
}

/// Changes the total by means of the request and what came.
pub(crate) fn recount(
    how: impl Fn(&Call<'_>, i64, i64) -> i64 + Send + Sync,
) -> impl Fn(&Call<'_>, &mut Value) + Send + Sync {
    move |call, body| {
        // A fault of all operations meets extractions too, whose data is a list.
        let Some(came) = items(body).map(|items| items.len()) else { return };
        let came = i64::try_from(came).unwrap_or_default();
        body["data"]["total"] = json!(how(call, total(body), came));
    }
}

/// The address of an instance is IPv6.
pub(crate) fn of_v6(item: &Value) -> bool {
    item["ip"].as_str().is_some_and(is_v6)
}

/// A body that is in order and finds nothing.
pub(crate) fn plain(call: &Call<'_>) -> Value {
    let mut body = Map::new();
    body.insert(call.contract.search.ips.name.clone(), json!([NOBODY]));
    Value::Object(body)
}
