//! Faults in single filters.

use serde_json::{Value, json};

use super::edit::{respond, set};
use super::search::{
    CITY, COUNTRY, GROUP, ORDER, PropertyGetter, STATUS, all_with_ports, asks, find_nothing, has, ignore,
    ignore_and_find_nothing, integer, items, lacks, lose, lose_v6, lose_where, put, text, total, value,
    with_filters,
};
use super::token::act_as_second;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [status(), group(), country(), city(), order()].into_iter().flatten().collect()
}

/// Replaces a text by another one, when there is another one.
fn reword(
    which: PropertyGetter,
    how: fn(&str) -> Option<&'static str>,
) -> impl Fn(&mut Call<'_>) + Send + Sync {
    move |call| {
        if let Some(other) = text(call, which).as_deref().and_then(how) {
            put(call, which, other);
        }
    }
}

// How a filter that should be equal is compared loosely: what was asked, and the value of an instance.

fn is_prefix(asked: &str, value: &str) -> bool {
    value.starts_with(asked)
}

fn is_suffix(asked: &str, value: &str) -> bool {
    value.ends_with(asked)
}

fn is_extension(asked: &str, value: &str) -> bool {
    asked.starts_with(value)
}

fn is_part(asked: &str, value: &str) -> bool {
    asked.contains(value)
}

fn is_pattern(asked: &str, value: &str) -> bool {
    asked == value || asked.strip_suffix('%').is_some_and(|start| value.starts_with(start))
}

/// Searches without the filter, when it is the only one, and keeps the instances whose field `fits` what was asked.
fn loose(
    id: &'static str,
    breaks: &'static str,
    which: PropertyGetter,
    fits: fn(&str, &str) -> bool,
) -> Fault {
    Fault::new(id, breaks).when(with_filters(1)).serve(move |call| {
        Box::pin(async move {
            let Some(asked) = text(&call, which) else { return call.send().await };
            let mut all = call.clone();
            ignore(which)(&mut all);
            let mut reply = all.send().await;
            if all.accepted(&reply) {
                let field = &which(&call.contract.search).name;
                let is_other = |item: &Value| !item[field].as_str().is_some_and(|value| fits(&asked, value));
                reply.edit(|body| lose_where(body, is_other));
            }
            reply
        })
    })
}

fn status() -> Vec<Fault> {
    let unlisted = |call: &Call<'_>| {
        value(call, STATUS)
            .is_some_and(|sent| !call.contract.search.statuses.iter().any(|status| sent == status.as_str()))
    };
    faults_of![
        "search.status/",
        fault("ignored", "status is ignored.").when(move |call| !unlisted(call)).request(ignore(STATUS)),
        fault("ignored-with-ports", "status is ignored when all items have ports.")
            .when(move |call| !unlisted(call))
            .when(all_with_ports)
            .request(ignore(STATUS)),
        fault("expired-is-cancelled", "expired finds what was cancelled.")
            .request(reword(STATUS, |status| (status == "expired").then_some("cancelled"))),
        fault("failed-is-any", "failed finds everything.")
            .when(has(STATUS, |text| text == "failed"))
            .request(ignore(STATUS)),
        fault("provisioning-hidden", "Without a status, what is being provisioned is not shown.")
            .when(lacks(STATUS))
            .success(lose(|_, item| item["status"] == "provisioning")),
        fault("never-activated-hidden", "A status finds only what was activated.")
            .when(asks(STATUS))
            .success(lose(|_, item| item["activatedAt"].is_null())),
        loose("active-and-expired", "active finds what is expired too.", STATUS, |asked, value| {
            asked == value || (asked == "active" && value == "expired")
        }),
        fault("unlisted", "An unlisted status finds nothing instead of being rejected.")
            .when(unlisted)
            .request(ignore_and_find_nothing(STATUS)),
        fault("unlisted-is-any", "An unlisted status finds everything.")
            .when(unlisted)
            .request(ignore(STATUS)),
        fault("number", "A number is taken for a status.")
            .when(has(STATUS, Value::is_number))
            .request(ignore_and_find_nothing(STATUS)),
        fault("list", "A list of statuses is accepted.")
            .when(has(STATUS, Value::is_array))
            .request(ignore_and_find_nothing(STATUS)),
        reject("cancelled-rejected", "A listed status is rejected.")
            .when(has(STATUS, |text| text == "cancelled")),
        fault("unknown-shown", "An instance has a status that is not listed.")
            .success(set("/data/items/-/status", "suspended")),
    ]
}

fn group() -> Vec<Fault> {
    let number = |call: &Call<'_>| integer(call, GROUP);
    let above_zero = |call: &Call<'_>| integer(call, GROUP) > Some(0);
    let is_null =
        |call: &Call<'_>| call.json().get(&call.contract.search.group_id.name).is_some_and(Value::is_null);
    let foreign =
        move |call: &Call<'_>| call.facts.foreign_group.is_some() && number(call) == call.facts.foreign_group;
    let put_group = |id: i64| move |call: &mut Call<'_>| put(call, GROUP, id);
    faults_of![
        "search.group/",
        fault("ignored", "groupId is ignored.")
            .when(move |call| number(call) >= Some(0))
            .request(ignore(GROUP)),
        fault("zero-is-all", "0 stands for all groups.")
            .when(has(GROUP, |group| group == 0))
            .request(ignore(GROUP)),
        fault("zero-is-all-with-ports", "0 stands for all groups when items have ports.")
            .when(move |call| number(call) == Some(0) && all_with_ports(call))
            .request(ignore(GROUP)),
        fault("null-is-ungrouped", "null stands for ungrouped instances.")
            .when(is_null)
            .request(put_group(0)),
        reject("null-rejected", "null is rejected.").when(is_null),
        fault("null-drops-status", "With groupId null the status is ignored.")
            .when(is_null)
            .request(ignore(STATUS)),
        fault(
            "null-is-ungrouped-beside-order",
            "Beside an order number null stands for ungrouped instances."
        )
        .when(is_null)
        .when(asks(ORDER))
        .request(put_group(0)),
        reject("zero-rejected", "groupId 0 is rejected.").when(has(GROUP, |group| group == 0)),
        fault("negative", "A negative groupId is ignored.")
            .when(move |call| number(call) < Some(0) && number(call).is_some())
            .request(ignore(GROUP)),
        fault("huge", "A groupId with a fraction is ignored.")
            .when(has(GROUP, Value::is_f64))
            .request(ignore(GROUP)),
        fault("absent-is-ungrouped", "Without groupId, IPv6 addresses show ungrouped instances only.")
            .when(move |call| number(call).is_none() && !is_null(call) && call.memory.calls() > 4)
            .request(put_group(0)),
        fault("ipv6-ungrouped", "A group shows no IPv6 instances.").when(above_zero).success(lose_v6),
        fault("one-instance", "A group shows one instance only.").when(above_zero).success(|_, body| {
            let Some(items) = items(body) else { return };
            items.truncate(1);
            body["data"]["total"] = json!(items.len());
        }),
        fault("next-group", "A search for the largest group finds the instances of another one.")
            .when(has(GROUP, |group| group == 17))
            .request(put_group(11)),
        fault("foreign-shown", "The group of another account is shown to who names it.")
            .when(foreign)
            .request(act_as_second),
        fault("foreign-told", "A foreign group is rejected where an unknown one finds nothing.")
            .when(foreign)
            .reply(respond(403, json!({"code": 403, "message": "this group belongs to another account"}))),
    ]
}

fn country() -> Vec<Fault> {
    faults_of![
        "search.country/",
        fault("ignored", "countryCode is ignored.").request(ignore(COUNTRY)),
        fault("ignored-with-ports", "countryCode is ignored when all items have ports.")
            .when(all_with_ports)
            .request(ignore(COUNTRY)),
        loose("prefix", "A code matches by its beginning.", COUNTRY, is_prefix),
        loose("suffix", "A code matches by its end.", COUNTRY, is_suffix),
        loose("longer", "More than a code matches it.", COUNTRY, is_extension),
        loose("contained", "A code that contains another one matches it.", COUNTRY, is_part),
        loose("pattern", "A code is taken for a pattern.", COUNTRY, is_pattern),
        fault("star", "A star stands for every country.")
            .when(has(COUNTRY, |code| code == "*"))
            .request(ignore(COUNTRY)),
        loose("first-letter", "Codes are told apart by their first letter.", COUNTRY, |asked, value| asked
            .chars()
            .next()
            == value.chars().next()),
        fault("ipv6-lost", "A country shows no IPv6 instances.").when(asks(COUNTRY)).success(lose_v6),
        fault("last-lost", "A country loses its last instance.").when(asks(COUNTRY)).success(|_, body| {
            drop(items(body).and_then(Vec::pop));
            body["data"]["total"] = json!(total(body) - 1);
        }),
        fault("one-swapped", "One country stands for another.")
            .request(reword(COUNTRY, |code| (code == "JPN").then_some("BRA"))),
        fault("object", "An object is taken for a code.")
            .when(has(COUNTRY, Value::is_object))
            .request(ignore(COUNTRY)),
    ]
}

fn city() -> Vec<Fault> {
    faults_of![
        "search.city/",
        fault("ignored", "cityCode is ignored.").request(ignore(CITY)),
        fault("ignored-with-ports", "cityCode is ignored when all items have ports.")
            .when(all_with_ports)
            .request(ignore(CITY)),
        loose("prefix", "A code matches by its beginning.", CITY, is_prefix),
        loose("suffix", "A code matches by its end.", CITY, is_suffix),
        loose("longer", "More than a code matches it.", CITY, is_extension),
        loose("pattern", "A code is taken for a pattern.", CITY, is_pattern),
        fault("whole-country", "A city finds its whole country.")
            .when(has(CITY, |city| city == "LAX"))
            .request(|call| {
                ignore(CITY)(call);
                put(call, COUNTRY, "USA");
            }),
        fault("ipv6-lost", "A city shows no IPv6 instances.").when(asks(CITY)).success(lose_v6),
        fault("one-swapped", "One city stands for another.")
            .request(reword(CITY, |code| (code == "REK").then_some("SAO"))),
        fault("list", "A list is taken for a code.").when(has(CITY, Value::is_array)).request(ignore(CITY)),
    ]
}

fn order() -> Vec<Fault> {
    let known = |call: &Call<'_>, number: &str| call.facts.orders.iter().any(|order| order.number == number);
    let near = move |id, breaks, fits: fn(&str, &str) -> bool| {
        Fault::new(id, breaks).request(move |call: &mut Call<'_>| {
            let Some(asked) = text(call, ORDER).filter(|asked| !known(call, asked)) else {
                return;
            };
            if let Some(order) = call.facts.orders.iter().find(|order| fits(&asked, &order.number)) {
                put(call, ORDER, order.number.clone());
            }
        })
    };
    let foreign =
        |call: &Call<'_>| call.facts.foreign_order.is_some() && text(call, ORDER) == call.facts.foreign_order;
    faults_of![
        "search.order-number/",
        fault("ignored", "orderNo is ignored.").request(ignore(ORDER)),
        fault("unknown-is-any", "An unknown order number finds everything.")
            .when(move |call| text(call, ORDER).is_some_and(|number| !known(call, &number)))
            .request(ignore(ORDER)),
        near("prefix", "The beginning of an order number matches it.", is_prefix),
        near("suffix", "The end of an order number matches it.", is_suffix),
        near("longer", "More than an order number matches it.", is_extension),
        near("contained", "A text that contains an order number matches it.", is_part),
        near("pattern", "An order number is taken for a pattern.", is_pattern),
        near("any-case", "An order number matches in any letter case.", str::eq_ignore_ascii_case),
        fault("one-address", "An order finds the instances of one address.").when(asks(ORDER)).success(
            |_, body| {
                let first = items(body).and_then(|items| items.first()).map(|item| item["ip"].clone());
                lose_where(body, |item| Some(&item["ip"]) != first.as_ref());
            }
        ),
        fault("ipv6-lost", "An order shows no IPv6 instances.").when(asks(ORDER)).success(lose_v6),
        fault("finds-nothing", "An order number finds nothing.").when(asks(ORDER)).request(find_nothing),
        fault("foreign-shown", "The order of another account is shown to who names it.")
            .when(foreign)
            .request(act_as_second),
        fault("foreign-told", "A foreign order number is rejected where an unknown one finds nothing.")
            .when(foreign)
            .reply(respond(403, json!({"code": 403, "message": "not your order"}))),
        fault("foreign-counted", "The instances of a foreign order are counted.")
            .when(foreign)
            .success(set("/data/total", 3)),
        fault("boolean", "true is taken for an order number.")
            .when(has(ORDER, Value::is_boolean))
            .request(ignore(ORDER)),
    ]
}
