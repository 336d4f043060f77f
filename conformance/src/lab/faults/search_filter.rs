//! Faults in single filters.

use serde_json::{Value, json};

use super::all::act_as_second;
use super::edit::respond;
use super::search::{
    CITY, COUNTRY, GROUP, NOBODY, ORDER, PropertyGetter, STATUS, all_with_ports, asks, edit_ips, filters,
    has, ignore, items, lacks, lose, lose_where, of_v6, put, text, value,
};
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

/// Searches without the filter and keeps the instances whose field `fits` what was asked.
fn loose(
    id: &'static str,
    breaks: &'static str,
    which: PropertyGetter,
    field: &'static str,
    fits: fn(&str, &str) -> bool,
) -> Fault {
    Fault::new(id, breaks).serve(move |call| {
        Box::pin(async move {
            let asked = if call.operation().is_some() { text(&call, which) } else { None };
            let (Some(asked), 1) = (asked, filters(&call)) else {
                return call.send().await;
            };
            let mut all = call.clone();
            ignore(which)(&mut all);
            let mut reply = all.send().await;
            if all.accepted(&reply) {
                reply.edit(|body| {
                    lose(move |_, item| !item[field].as_str().is_some_and(|value| fits(&asked, value)))(
                        &call, body,
                    );
                });
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
    let nothing = |call: &mut Call<'_>| {
        ignore(STATUS)(call);
        edit_ips(call, |items| *items = vec![NOBODY.into()]);
    };
    faults_of![
        "search.status/",
        fault("ignored", "status is ignored.").when(move |call| !unlisted(call)).request(ignore(STATUS)),
        fault("ignored-with-ports", "status is ignored when all items have ports.")
            .when(move |call| !unlisted(call) && all_with_ports(call))
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
        loose("active-and-expired", "active finds what is expired too.", STATUS, "status", |asked, value| {
            asked == value || (asked == "active" && value == "expired")
        }),
        fault("unlisted", "An unlisted status finds nothing instead of being rejected.")
            .when(unlisted)
            .request(nothing),
        fault("unlisted-is-any", "An unlisted status finds everything.")
            .when(unlisted)
            .request(ignore(STATUS)),
        fault("number", "A number is taken for a status.")
            .when(has(STATUS, Value::is_number))
            .request(nothing),
        fault("list", "A list of statuses is accepted.").when(has(STATUS, Value::is_array)).request(nothing),
        reject("cancelled-rejected", "A listed status is rejected.")
            .when(has(STATUS, |text| text == "cancelled")),
        fault("unknown-shown", "An instance shows a status that is none.").success(|_, body| {
            if let Some(last) = items(body).and_then(|items| items.last_mut()) {
                last["status"] = json!("suspended");
            }
        }),
    ]
}

fn group() -> Vec<Fault> {
    let number = |call: &Call<'_>| value(call, GROUP).and_then(|group| group.as_i64());
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
            .when(move |call| { number(call).is_none() && !is_null(call) && call.memory.calls() > 4 })
            .request(put_group(0)),
        fault("ipv6-ungrouped", "A group shows no IPv6 instances.")
            .when(move |call| number(call) > Some(0))
            .success(lose(|_, item| of_v6(item))),
        fault("one-instance", "A group shows one instance only.")
            .when(move |call| number(call) > Some(0))
            .success(|_, body| {
                if let Some(items) = items(body) {
                    items.truncate(1);
                    let count = items.len();
                    body["data"]["total"] = json!(count);
                }
            }),
        fault("next-group", "A search for the largest group finds the instances of another one.")
            .when(has(GROUP, |group| group == 17))
            .request(put_group(11)),
        fault("foreign-shown", "The group of another account is shown to who names it.").serve(
            move |mut call| {
                Box::pin(async move {
                    if foreign(&call) {
                        act_as_second(&mut call);
                    }
                    call.send().await
                })
            }
        ),
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
        loose("prefix", "A code matches by its beginning.", COUNTRY, "countryCode", is_prefix),
        loose("suffix", "A code matches by its end.", COUNTRY, "countryCode", is_suffix),
        loose("longer", "More than a code matches it.", COUNTRY, "countryCode", is_extension),
        loose("contained", "A code that contains another one matches it.", COUNTRY, "countryCode", is_part),
        loose("pattern", "A code is taken for a pattern.", COUNTRY, "countryCode", is_pattern),
        fault("star", "A star stands for every country.")
            .when(has(COUNTRY, |code| code == "*"))
            .request(ignore(COUNTRY)),
        loose(
            "first-letter",
            "Codes are told apart by their first letter.",
            COUNTRY,
            "countryCode",
            |asked, value| asked.chars().next() == value.chars().next()
        ),
        fault("ipv6-lost", "A country shows no IPv6 instances.")
            .when(asks(COUNTRY))
            .success(lose(|_, item| of_v6(item))),
        fault("last-lost", "A country loses its last instance.").when(asks(COUNTRY)).success(|_, body| {
            drop(items(body).and_then(Vec::pop));
            body["data"]["total"] = json!(super::search::total(body) - 1);
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
        loose("prefix", "A code matches by its beginning.", CITY, "cityCode", is_prefix),
        loose("suffix", "A code matches by its end.", CITY, "cityCode", is_suffix),
        loose("longer", "More than a code matches it.", CITY, "cityCode", is_extension),
        loose("pattern", "A code is taken for a pattern.", CITY, "cityCode", is_pattern),
        fault("whole-country", "A city finds its whole country.").serve(|mut call| {
            Box::pin(async move {
                if call.operation().is_some() && text(&call, CITY).is_some_and(|city| city == "LAX") {
                    ignore(CITY)(&mut call);
                    put(&mut call, COUNTRY, "USA");
                }
                call.send().await
            })
        }),
        fault("ipv6-lost", "A city shows no IPv6 instances.")
            .when(asks(CITY))
            .success(lose(|_, item| of_v6(item))),
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
            let found = call.facts.orders.iter().find(|order| fits(&asked, &order.number));
            if let Some(order) = found {
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
        fault("ipv6-lost", "An order shows no IPv6 instances.")
            .when(asks(ORDER))
            .success(lose(|_, item| of_v6(item))),
        fault("finds-nothing", "An order number finds nothing.").when(asks(ORDER)).request(|call| {
            edit_ips(call, |items| *items = vec![NOBODY.into()]);
        }),
        fault("foreign-shown", "The order of another account is shown to who names it.").serve(
            move |mut call| {
                Box::pin(async move {
                    if foreign(&call) {
                        act_as_second(&mut call);
                    }
                    call.send().await
                })
            }
        ),
        fault("foreign-told", "A foreign order number is rejected where an unknown one finds nothing.")
            .when(foreign)
            .reply(respond(403, json!({"code": 403, "message": "not your order"}))),
        fault("foreign-counted", "The instances of a foreign order are counted.").when(foreign).success(
            |_, body| {
                body["data"]["total"] = json!(3);
            }
        ),
        fault("boolean", "true is taken for an order number.")
            .when(has(ORDER, Value::is_boolean))
            .request(ignore(ORDER)),
    ]
}
