//! What searches ask for, and small changes to them and to their results, for tables to be made of.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeBounds;

use super::part::{FROM, PAGE, Part, SIZE, TO, ignore, integer, text, value};
use crate::contract::Search;
use serde_json::{Value, json};

use super::row::{OnBody, OnCall, OnRequest, When, that};
use crate::lab::Call;
use crate::lab::exchange::Reply;

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

/// Changes the items of `ips`, when it is a list.
pub(crate) fn batch(how: impl Fn(&Search, &mut Vec<Value>) + Send + Sync) -> impl OnRequest {
    move |call| {
        let search = &call.contract.search;
        edit_ips(call, |items| how(search, items));
    }
}

/// Replaces each item that is a text.
pub(crate) fn each(how: impl Fn(&str) -> String + Send + Sync) -> impl OnRequest {
    move |call| map_ips(call, |_, item| how(item))
}

/// Replaces the items that fit by an address that nobody has, so that they are accepted and find nothing.
pub(crate) fn accept(fits: impl Fn(&str) -> bool + Send + Sync) -> impl OnRequest {
    each(move |item| if fits(item) { NOBODY } else { item }.to_owned())
}

/// Searches for an address that nobody has, when `ips` is a list.
pub(crate) fn find_nothing(call: &mut Call<'_>) {
    edit_ips(call, |items| *items = vec![NOBODY.into()]);
}

pub(crate) fn any_item(fits: impl Fn(&str) -> bool + Send + Sync) -> impl OnCall {
    move |call| ips(call).iter().any(|item| fits(item))
}

pub(crate) fn all_items(fits: impl Fn(&str) -> bool + Send + Sync) -> impl OnCall {
    move |call| ips(call).iter().all(|item| fits(item))
}

/// There are so many items.
pub(crate) fn batch_of(range: impl RangeBounds<usize> + Send + Sync + 'static) -> When {
    that(move |call| range.contains(&count(call)))
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

/// All items are IPv6 addresses.
pub(crate) fn all_v6(call: &Call<'_>) -> bool {
    ips(call).iter().all(|item| is_v6(item))
}

/// There are as many distinct items as a search may have.
pub(crate) fn at_distinct_limit(call: &Call<'_>) -> bool {
    distinct(call) == call.contract.search.distinct_items
}

/// There are more distinct items than a search may have.
pub(crate) fn above_distinct_limit(call: &Call<'_>) -> bool {
    distinct(call) > call.contract.search.distinct_items
}

/// Keeps as many items as a search may have distinct ones.
pub(crate) fn cut_to_limit(call: &mut Call<'_>) {
    let most = call.contract.search.distinct_items;
    edit_ips(call, |items| items.truncate(most));
}

/// Takes out the items without a port whose address comes with a port, too.
pub(crate) fn drop_shadowed(call: &mut Call<'_>) {
    let ported: Vec<_> = ips(call).iter().filter(|item| has_port(item)).map(|item| bare(item)).collect();
    edit_ips(call, |items| items.retain(|item| ported.iter().all(|ip| item != ip)));
}

/// Adds an address that nobody has.
pub(crate) fn add_nobody(call: &mut Call<'_>) {
    edit_ips(call, |items| items.push(NOBODY.into()));
}

/// An item is repeated.
pub(crate) fn with_duplicates(call: &Call<'_>) -> bool {
    distinct(call) < count(call)
}

/// Whether an item is an IPv6 address, with or without port.
pub(crate) fn is_v6(item: &str) -> bool {
    bare(item).parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6())
}

/// A bound has a text that fits.
pub(crate) fn any_bound(fits: fn(&str) -> bool) -> impl OnCall {
    move |call| [FROM, TO].into_iter().filter_map(|which| text(call, which)).any(|text| fits(text.as_str()))
}

/// Takes both bounds of the activation out of the request.
pub(crate) fn ignore_bounds(call: &mut Call<'_>) {
    ignore(FROM)(call);
    ignore(TO)(call);
}

/// Takes a property out of the request, which then finds nothing.
pub(crate) fn ignore_and_find_nothing(which: Part) -> impl OnRequest {
    move |call| {
        ignore(which)(call);
        find_nothing(call);
    }
}

pub(crate) fn sent_filters(call: &Call<'_>) -> Vec<Part> {
    let filters = call.contract.search.filters.iter().map(|filter| Part::Property(&filter.property.name));
    filters.filter(|part| value(call, *part).is_some()).collect()
}

/// How many filters are sent.
pub(crate) fn filters(call: &Call<'_>) -> usize {
    sent_filters(call).len()
}

/// There is a filter.
pub(crate) fn filtered(call: &Call<'_>) -> bool {
    filters(call) > 0
}

/// There are this many filters.
pub(crate) fn with_filters(count: usize) -> impl OnCall {
    move |call| filters(call) == count
}

/// Numbers of requests and responses beyond this count as this, so that no fault overflows when it calculates with them.
const LARGE: i64 = 1 << 30;

/// The page that is asked for.
pub(crate) fn page(call: &Call<'_>) -> i64 {
    integer(call, PAGE).unwrap_or(call.contract.search.default_page).clamp(-LARGE, LARGE)
}

/// The page size that is asked for.
pub(crate) fn page_size(call: &Call<'_>) -> i64 {
    integer(call, SIZE).unwrap_or(call.contract.search.default_page_size).clamp(1, LARGE)
}

/// As many instances came as were asked for.
pub(crate) fn is_full(call: &Call<'_>, items: &[Value]) -> bool {
    i64::try_from(items.len()) == Ok(page_size(call))
}

/// A page after the first is asked for.
pub(crate) fn later_page(call: &Call<'_>) -> bool {
    page(call) > *call.contract.search.pages.start()
}

/// The second page is asked for.
pub(crate) fn second_page(call: &Call<'_>) -> bool {
    page(call) == call.contract.search.pages.start() + 1
}

/// A response is a success without instances.
pub(crate) fn finds_nothing(call: &Call<'_>, reply: &Reply) -> bool {
    call.accepted(reply) && reply.json()["data"]["items"] == json!([])
}

/// The instances of a response.
pub(crate) fn items(body: &mut Value) -> Option<&mut Vec<Value>> {
    body.pointer_mut("/data/items")?.as_array_mut()
}

/// The total of a response.
pub(crate) fn total(body: &Value) -> i64 {
    body["data"]["total"].as_i64().unwrap_or_default().clamp(-LARGE, LARGE)
}

/// Loses instances, and does not count them either.
pub(crate) fn lose(lost: impl Fn(&Call<'_>, &Value) -> bool + Send + Sync) -> impl OnBody {
    move |call, body| lose_where(body, |item| lost(call, item))
}

/// Loses the instances that fit, and does not count them either.
pub(crate) fn lose_where(body: &mut Value, mut lost: impl FnMut(&Value) -> bool) {
    let Some(found) = items(body) else { return };
    let before = found.len();
    found.retain(|item| !lost(item));
    let fewer = i64::try_from(before - found.len()).unwrap_or_default();
    body["data"]["total"] = json!(total(body) - fewer);
}

/// Loses the instances with an IPv6 address.
pub(crate) fn lose_v6(_: &Call<'_>, body: &mut Value) {
    lose_where(body, of_v6);
}

/// Repeats the instances that an item with a port and one without find.
pub(crate) fn repeat_found_twice(call: &Call<'_>, body: &mut Value) {
    let (sent, Some(found)) = (ips(call), items(body)) else { return };
    let is_sent = |item: &str| sent.iter().any(|sent| sent == item);
    let mut again = found.clone();
    again.retain(|instance| {
        let ip = instance["ip"].as_str().unwrap_or_default();
        let port = instance["port"].as_i64().unwrap_or_default();
        is_sent(ip) && (is_sent(&format!("{ip}:{port}")) || is_sent(&format!("[{ip}]:{port}")))
    });
    let more = i64::try_from(again.len()).unwrap_or_default();
    found.extend(again);
    body["data"]["total"] = json!(total(body) + more);
}

/// Takes the first instance out of a list.
pub(crate) fn without_first(_: &Call<'_>, items: &mut Vec<Value>) {
    items.drain(..items.len().min(1));
}

/// Changes the total by means of the request and what came.
pub(crate) fn recount(how: impl Fn(&Call<'_>, i64, i64) -> i64 + Send + Sync) -> impl OnBody {
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
