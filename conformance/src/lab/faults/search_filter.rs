//! Faults in single filters.

use serde_json::{Value, json};

use super::all::act_as_second;
use super::edit::respond;
use super::search::{
    CITY, COUNTRY, GROUP, NOBODY, ORDER, PropertyGetter, STATUS, all_with_ports, asks, edit_ips, filters,
    has, ignore, items, lacks, lose, lose_where, of_v6, put, text, value,
};
use crate::lab::exchange::ProxiedRequest;
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [status(), group(), country(), city(), order()].into_iter().flatten().collect()
}

/// Replaces a text by another one, when there is another one.
fn reword(
    which: PropertyGetter,
    how: fn(&str) -> Option<&'static str>,
) -> impl Fn(&Context, &mut ProxiedRequest) + Send + Sync {
    move |context, seen| {
        if let Some(other) = text(context, seen, which).as_deref().and_then(how) {
            put(context, seen, which, other);
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
    Fault::serve(id, breaks, move |context, seen| {
        Box::pin(async move {
            let asked = if context.operation(&seen).is_some() { text(context, &seen, which) } else { None };
            let (Some(asked), 1) = (asked, filters(context, &seen)) else {
                return context.upstream.call(&seen).await;
            };
            let mut all = seen.clone();
            ignore(which)(context, &mut all);
            let mut reply = context.upstream.call(&all).await;
            if context.accepted(&all, &reply) {
                reply.edit(|body| {
                    lose(move |_, _, item| !item[field].as_str().is_some_and(|value| fits(&asked, value)))(
                        context, &seen, body,
                    );
                });
            }
            reply
        })
    })
}

fn status() -> Vec<Fault> {
    let unlisted = |context: &Context, seen: &ProxiedRequest| {
        value(context, seen, STATUS).is_some_and(|sent| {
            !context.contract.search.statuses.iter().any(|status| sent == status.as_str())
        })
    };
    let nothing = |context: &Context, seen: &mut ProxiedRequest| {
        ignore(STATUS)(context, seen);
        edit_ips(context, seen, |items| *items = vec![NOBODY.into()]);
    };
    faults_of![
        "search.status/",
        request("ignored", "status is ignored.", ignore(STATUS))
            .when(move |context, seen| !unlisted(context, seen)),
        request("ignored-with-ports", "status is ignored when all items have ports.", ignore(STATUS))
            .when(move |context, seen| !unlisted(context, seen) && all_with_ports(context, seen)),
        request(
            "expired-is-cancelled",
            "expired finds what was cancelled.",
            reword(STATUS, |status| (status == "expired").then_some("cancelled"))
        ),
        request("failed-is-any", "failed finds everything.", ignore(STATUS))
            .when(has(STATUS, |text| text == "failed")),
        success(
            "provisioning-hidden",
            "Without a status, what is being provisioned is not shown.",
            lose(|_, _, item| item["status"] == "provisioning")
        )
        .when(lacks(STATUS)),
        success(
            "never-activated-hidden",
            "A status finds only what was activated.",
            lose(|_, _, item| item["activatedAt"].is_null())
        )
        .when(asks(STATUS)),
        loose("active-and-expired", "active finds what is expired too.", STATUS, "status", |asked, value| {
            asked == value || (asked == "active" && value == "expired")
        }),
        request("unlisted", "An unlisted status finds nothing instead of being rejected.", nothing)
            .when(unlisted),
        request("unlisted-is-any", "An unlisted status finds everything.", ignore(STATUS)).when(unlisted),
        request("number", "A number is taken for a status.", nothing).when(has(STATUS, Value::is_number)),
        request("list", "A list of statuses is accepted.", nothing).when(has(STATUS, Value::is_array)),
        reject("cancelled-rejected", "A listed status is rejected.")
            .when(has(STATUS, |text| text == "cancelled")),
        success("unknown-shown", "An instance shows a status that is none.", |_, _, body| {
            if let Some(last) = items(body).and_then(|items| items.last_mut()) {
                last["status"] = json!("suspended");
            }
        }),
    ]
}

fn group() -> Vec<Fault> {
    let number = |context: &Context, seen: &ProxiedRequest| {
        value(context, seen, GROUP).and_then(|group| group.as_i64())
    };
    let is_null = |context: &Context, seen: &ProxiedRequest| {
        seen.json().get(&context.contract.search.group_id.name).is_some_and(Value::is_null)
    };
    let foreign = move |context: &Context, seen: &ProxiedRequest| {
        context.facts.foreign_group.is_some() && number(context, seen) == context.facts.foreign_group
    };
    let put_group =
        |id: i64| move |context: &Context, seen: &mut ProxiedRequest| put(context, seen, GROUP, id);
    faults_of![
        "search.group/",
        request("ignored", "groupId is ignored.", ignore(GROUP))
            .when(move |context, seen| number(context, seen) >= Some(0)),
        request("zero-is-all", "0 stands for all groups.", ignore(GROUP))
            .when(has(GROUP, |group| group == 0)),
        request("zero-is-all-with-ports", "0 stands for all groups when items have ports.", ignore(GROUP))
            .when(move |context, seen| number(context, seen) == Some(0) && all_with_ports(context, seen)),
        request("null-is-ungrouped", "null stands for ungrouped instances.", put_group(0)).when(is_null),
        reject("null-rejected", "null is rejected.").when(is_null),
        request("null-drops-status", "With groupId null the status is ignored.", ignore(STATUS))
            .when(is_null),
        request(
            "null-is-ungrouped-beside-order",
            "Beside an order number null stands for ungrouped instances.",
            put_group(0)
        )
        .when(is_null)
        .when(asks(ORDER)),
        reject("zero-rejected", "groupId 0 is rejected.").when(has(GROUP, |group| group == 0)),
        request("negative", "A negative groupId is ignored.", ignore(GROUP))
            .when(move |context, seen| number(context, seen) < Some(0) && number(context, seen).is_some()),
        request("huge", "A groupId with a fraction is ignored.", ignore(GROUP))
            .when(has(GROUP, Value::is_f64)),
        request(
            "absent-is-ungrouped",
            "Without groupId, IPv6 addresses show ungrouped instances only.",
            put_group(0)
        )
        .when(move |context, seen| {
            number(context, seen).is_none() && !is_null(context, seen) && context.memory.calls() > 4
        }),
        success("ipv6-ungrouped", "A group shows no IPv6 instances.", lose(|_, _, item| of_v6(item)))
            .when(move |context, seen| number(context, seen) > Some(0)),
        success("one-instance", "A group shows one instance only.", |_, _, body| {
            if let Some(items) = items(body) {
                items.truncate(1);
                let count = items.len();
                body["data"]["total"] = json!(count);
            }
        })
        .when(move |context, seen| number(context, seen) > Some(0)),
        request(
            "next-group",
            "A search for the largest group finds the instances of another one.",
            put_group(11)
        )
        .when(has(GROUP, |group| group == 17)),
        serve(
            "foreign-shown",
            "The group of another account is shown to who names it.",
            move |context, mut seen| {
                Box::pin(async move {
                    if foreign(context, &seen) {
                        act_as_second(context, &mut seen);
                    }
                    context.upstream.call(&seen).await
                })
            }
        ),
        reply(
            "foreign-told",
            "A foreign group is rejected where an unknown one finds nothing.",
            respond(403, json!({"code": 403, "message": "this group belongs to another account"}))
        )
        .when(foreign),
    ]
}

fn country() -> Vec<Fault> {
    faults_of![
        "search.country/",
        request("ignored", "countryCode is ignored.", ignore(COUNTRY)),
        request("ignored-with-ports", "countryCode is ignored when all items have ports.", ignore(COUNTRY))
            .when(all_with_ports),
        loose("prefix", "A code matches by its beginning.", COUNTRY, "countryCode", is_prefix),
        loose("suffix", "A code matches by its end.", COUNTRY, "countryCode", is_suffix),
        loose("longer", "More than a code matches it.", COUNTRY, "countryCode", is_extension),
        loose("contained", "A code that contains another one matches it.", COUNTRY, "countryCode", is_part),
        loose("pattern", "A code is taken for a pattern.", COUNTRY, "countryCode", is_pattern),
        request("star", "A star stands for every country.", ignore(COUNTRY))
            .when(has(COUNTRY, |code| code == "*")),
        loose(
            "first-letter",
            "Codes are told apart by their first letter.",
            COUNTRY,
            "countryCode",
            |asked, value| asked.chars().next() == value.chars().next()
        ),
        success("ipv6-lost", "A country shows no IPv6 instances.", lose(|_, _, item| of_v6(item)))
            .when(asks(COUNTRY)),
        success("last-lost", "A country loses its last instance.", |_, _, body| {
            drop(items(body).and_then(Vec::pop));
            body["data"]["total"] = json!(super::search::total(body) - 1);
        })
        .when(asks(COUNTRY)),
        request(
            "one-swapped",
            "One country stands for another.",
            reword(COUNTRY, |code| (code == "JPN").then_some("BRA"))
        ),
        request("object", "An object is taken for a code.", ignore(COUNTRY))
            .when(has(COUNTRY, Value::is_object)),
    ]
}

fn city() -> Vec<Fault> {
    faults_of![
        "search.city/",
        request("ignored", "cityCode is ignored.", ignore(CITY)),
        request("ignored-with-ports", "cityCode is ignored when all items have ports.", ignore(CITY))
            .when(all_with_ports),
        loose("prefix", "A code matches by its beginning.", CITY, "cityCode", is_prefix),
        loose("suffix", "A code matches by its end.", CITY, "cityCode", is_suffix),
        loose("longer", "More than a code matches it.", CITY, "cityCode", is_extension),
        loose("pattern", "A code is taken for a pattern.", CITY, "cityCode", is_pattern),
        serve("whole-country", "A city finds its whole country.", |context, mut seen| {
            Box::pin(async move {
                if context.operation(&seen).is_some()
                    && text(context, &seen, CITY).is_some_and(|city| city == "LAX")
                {
                    ignore(CITY)(context, &mut seen);
                    put(context, &mut seen, COUNTRY, "USA");
                }
                context.upstream.call(&seen).await
            })
        }),
        success("ipv6-lost", "A city shows no IPv6 instances.", lose(|_, _, item| of_v6(item)))
            .when(asks(CITY)),
        request(
            "one-swapped",
            "One city stands for another.",
            reword(CITY, |code| (code == "REK").then_some("SAO"))
        ),
        request("list", "A list is taken for a code.", ignore(CITY)).when(has(CITY, Value::is_array)),
    ]
}

fn order() -> Vec<Fault> {
    let known =
        |context: &Context, number: &str| context.facts.orders.iter().any(|order| order.number == number);
    let near = move |id, breaks, fits: fn(&str, &str) -> bool| {
        Fault::request(id, breaks, move |context: &Context, seen: &mut ProxiedRequest| {
            let Some(asked) = text(context, seen, ORDER).filter(|asked| !known(context, asked)) else {
                return;
            };
            let found = context.facts.orders.iter().find(|order| fits(&asked, &order.number));
            if let Some(order) = found {
                put(context, seen, ORDER, order.number.clone());
            }
        })
    };
    let foreign = |context: &Context, seen: &ProxiedRequest| {
        context.facts.foreign_order.is_some() && text(context, seen, ORDER) == context.facts.foreign_order
    };
    faults_of![
        "search.order-number/",
        request("ignored", "orderNo is ignored.", ignore(ORDER)),
        request("unknown-is-any", "An unknown order number finds everything.", ignore(ORDER))
            .when(move |context, seen| text(context, seen, ORDER)
                .is_some_and(|number| !known(context, &number))),
        near("prefix", "The beginning of an order number matches it.", is_prefix),
        near("suffix", "The end of an order number matches it.", is_suffix),
        near("longer", "More than an order number matches it.", is_extension),
        near("contained", "A text that contains an order number matches it.", is_part),
        near("pattern", "An order number is taken for a pattern.", is_pattern),
        near("any-case", "An order number matches in any letter case.", str::eq_ignore_ascii_case),
        success("one-address", "An order finds the instances of one address.", |_, _, body| {
            let first = items(body).and_then(|items| items.first()).map(|item| item["ip"].clone());
            lose_where(body, |item| Some(&item["ip"]) != first.as_ref());
        })
        .when(asks(ORDER)),
        success("ipv6-lost", "An order shows no IPv6 instances.", lose(|_, _, item| of_v6(item)))
            .when(asks(ORDER)),
        request("finds-nothing", "An order number finds nothing.", |context, seen| {
            edit_ips(context, seen, |items| *items = vec![NOBODY.into()]);
        })
        .when(asks(ORDER)),
        serve(
            "foreign-shown",
            "The order of another account is shown to who names it.",
            move |context, mut seen| {
                Box::pin(async move {
                    if foreign(context, &seen) {
                        act_as_second(context, &mut seen);
                    }
                    context.upstream.call(&seen).await
                })
            }
        ),
        reply(
            "foreign-told",
            "A foreign order number is rejected where an unknown one finds nothing.",
            respond(403, json!({"code": 403, "message": "not your order"}))
        )
        .when(foreign),
        success("foreign-counted", "The instances of a foreign order are counted.", |_, _, body| {
            body["data"]["total"] = json!(3);
        })
        .when(foreign),
        request("boolean", "true is taken for an order number.", ignore(ORDER))
            .when(has(ORDER, Value::is_boolean)),
    ]
}
