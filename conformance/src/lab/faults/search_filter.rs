//! Faults in single filters.

use serde_json::{Value, json};

use super::search::{
    NOBODY, PropertyGetter, asks, edit_ips, filters, has_port, ignore, ips, items, lose, lose_where, of_v6,
    put, value,
};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [status(), group(), country(), city(), order()].into_iter().flatten().collect()
}

const STATUS: PropertyGetter = |search| &search.status;
const GROUP: PropertyGetter = |search| &search.group_id;
const COUNTRY: PropertyGetter = |search| &search.country_code;
const CITY: PropertyGetter = |search| &search.city_code;
const ORDER: PropertyGetter = |search| &search.order_no;

fn text(context: &Context, seen: &ProxiedRequest, which: PropertyGetter) -> Option<String> {
    value(context, seen, which)?.as_str().map(str::to_owned)
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

/// The values of a field that instances have, gathered from all that the account holds, that `fits` likes.
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
    vec![
        Fault::request("search.status/ignored", "status is ignored.", ignore(STATUS))
            .when(move |context, seen| !unlisted(context, seen)),
        Fault::request(
            "search.status/ignored-with-ports",
            "status is ignored when all items have ports.",
            ignore(STATUS),
        )
        .when(move |context, seen| {
            !unlisted(context, seen) && ips(context, seen).iter().all(|item| has_port(item))
        }),
        Fault::request(
            "search.status/expired-is-cancelled",
            "expired finds what was cancelled.",
            reword(STATUS, |status| (status == "expired").then_some("cancelled")),
        ),
        Fault::request("search.status/failed-is-any", "failed finds everything.", ignore(STATUS))
            .when(|context, seen| text(context, seen, STATUS).as_deref() == Some("failed")),
        Fault::success(
            "search.status/provisioning-hidden",
            "Without a status, what is being provisioned is not shown.",
            lose(|_, _, item| item["status"] == "provisioning"),
        )
        .when(|context, seen| value(context, seen, STATUS).is_none()),
        Fault::success(
            "search.status/never-activated-hidden",
            "A status finds only what was activated.",
            lose(|_, _, item| item["activatedAt"].is_null()),
        )
        .when(asks(STATUS)),
        loose(
            "search.status/active-and-expired",
            "active finds what is expired too.",
            STATUS,
            "status",
            |asked, value| asked == value || (asked == "active" && value == "expired"),
        ),
        Fault::request(
            "search.status/unlisted",
            "An unlisted status finds nothing instead of being rejected.",
            nothing,
        )
        .when(unlisted),
        Fault::request(
            "search.status/unlisted-is-any",
            "An unlisted status finds everything.",
            ignore(STATUS),
        )
        .when(unlisted),
        Fault::request("search.status/number", "A number is taken for a status.", nothing)
            .when(|context, seen| value(context, seen, STATUS).is_some_and(|status| status.is_number())),
        Fault::request("search.status/list", "A list of statuses is accepted.", nothing)
            .when(|context, seen| value(context, seen, STATUS).is_some_and(|status| status.is_array())),
        Fault::request("search.status/cancelled-rejected", "A listed status is rejected.", Context::reject)
            .when(|context, seen| text(context, seen, STATUS).as_deref() == Some("cancelled")),
        Fault::success(
            "search.status/unknown-shown",
            "An instance shows a status that is none.",
            |_, _, body| {
                if let Some(last) = items(body).and_then(|items| items.last_mut()) {
                    last["status"] = json!("suspended");
                }
            },
        ),
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
    vec![
        Fault::request("search.group/ignored", "groupId is ignored.", ignore(GROUP))
            .when(move |context, seen| number(context, seen) >= Some(0)),
        Fault::request("search.group/zero-is-all", "0 stands for all groups.", ignore(GROUP))
            .when(move |context, seen| number(context, seen) == Some(0)),
        Fault::request(
            "search.group/zero-is-all-with-ports",
            "0 stands for all groups when items have ports.",
            ignore(GROUP),
        )
        .when(move |context, seen| {
            number(context, seen) == Some(0) && ips(context, seen).iter().all(|item| has_port(item))
        }),
        Fault::request(
            "search.group/null-is-ungrouped",
            "null stands for ungrouped instances.",
            |context, seen| put(context, seen, GROUP, 0),
        )
        .when(is_null),
        Fault::request("search.group/null-rejected", "null is rejected.", Context::reject).when(is_null),
        Fault::request(
            "search.group/null-drops-status",
            "With groupId null the status is ignored.",
            ignore(STATUS),
        )
        .when(is_null),
        Fault::request(
            "search.group/null-is-ungrouped-beside-order",
            "Beside an order number null stands for ungrouped instances.",
            |context, seen| put(context, seen, GROUP, 0),
        )
        .when(is_null)
        .when(asks(|search| &search.order_no)),
        Fault::request("search.group/zero-rejected", "groupId 0 is rejected.", Context::reject)
            .when(move |context, seen| number(context, seen) == Some(0)),
        Fault::request("search.group/negative", "A negative groupId is ignored.", ignore(GROUP))
            .when(move |context, seen| number(context, seen) < Some(0) && number(context, seen).is_some()),
        Fault::request("search.group/huge", "A groupId with a fraction is ignored.", ignore(GROUP))
            .when(|context, seen| value(context, seen, GROUP).is_some_and(|group| group.is_f64())),
        Fault::request(
            "search.group/absent-is-ungrouped",
            "Without groupId, IPv6 addresses show ungrouped instances only.",
            |context, seen| put(context, seen, GROUP, 0),
        )
        .when(move |context, seen| {
            number(context, seen).is_none() && !is_null(context, seen) && context.memory.calls() > 4
        }),
        Fault::success(
            "search.group/ipv6-ungrouped",
            "A group shows no IPv6 instances.",
            lose(|_, _, item| of_v6(item)),
        )
        .when(move |context, seen| number(context, seen) > Some(0)),
        Fault::success("search.group/one-instance", "A group shows one instance only.", |_, _, body| {
            if let Some(items) = items(body) {
                items.truncate(1);
                let count = items.len();
                body["data"]["total"] = json!(count);
            }
        })
        .when(move |context, seen| number(context, seen) > Some(0)),
        Fault::request(
            "search.group/next-group",
            "A search for the largest group finds the instances of another one.",
            |context, seen| put(context, seen, GROUP, 11),
        )
        .when(move |context, seen| number(context, seen) == Some(17)),
        Fault::serve(
            "search.group/foreign-shown",
            "The group of another account is shown to who names it.",
            move |context, mut seen| {
                Box::pin(async move {
                    if foreign(context, &seen) {
                        as_second(context, &mut seen);
                    }
                    context.upstream.call(&seen).await
                })
            },
        ),
        Fault::reply(
            "search.group/foreign-told",
            "A foreign group is rejected where an unknown one finds nothing.",
            |_, _, reply| {
                *reply = Reply::json_with(
                    403,
                    &json!({"code": 403, "message": "this group belongs to another account"}),
                );
            },
        )
        .when(foreign),
    ]
}

fn country() -> Vec<Fault> {
    vec![
        Fault::request("search.country/ignored", "countryCode is ignored.", ignore(COUNTRY)),
        Fault::request(
            "search.country/ignored-with-ports",
            "countryCode is ignored when all items have ports.",
            ignore(COUNTRY),
        )
        .when(|context, seen| ips(context, seen).iter().all(|item| has_port(item))),
        loose(
            "search.country/prefix",
            "A code matches by its beginning.",
            COUNTRY,
            "countryCode",
            |asked, value| value.starts_with(asked),
        ),
        loose(
            "search.country/suffix",
            "A code matches by its end.",
            COUNTRY,
            "countryCode",
            |asked, value| value.ends_with(asked),
        ),
        loose(
            "search.country/longer",
            "More than a code matches it.",
            COUNTRY,
            "countryCode",
            |asked, value| asked.starts_with(value),
        ),
        loose(
            "search.country/contained",
            "A code that contains another one matches it.",
            COUNTRY,
            "countryCode",
            |asked, value| asked.contains(value),
        ),
        loose(
            "search.country/pattern",
            "A code is taken for a pattern.",
            COUNTRY,
            "countryCode",
            |asked, value| {
                asked == value || asked.strip_suffix('%').is_some_and(|start| value.starts_with(start))
            },
        ),
        Fault::request("search.country/star", "A star stands for every country.", ignore(COUNTRY))
            .when(|context, seen| value(context, seen, COUNTRY).is_some_and(|code| code == "*")),
        loose(
            "search.country/first-letter",
            "Codes are told apart by their first letter.",
            COUNTRY,
            "countryCode",
            |asked, value| asked.chars().next() == value.chars().next(),
        ),
        Fault::success(
            "search.country/ipv6-lost",
            "A country shows no IPv6 instances.",
            lose(|_, _, item| of_v6(item)),
        )
        .when(asks(COUNTRY)),
        Fault::success("search.country/last-lost", "A country loses its last instance.", |_, _, body| {
            drop(items(body).and_then(Vec::pop));
            body["data"]["total"] = json!(super::search::total(body) - 1);
        })
        .when(asks(COUNTRY)),
        Fault::request(
            "search.country/one-swapped",
            "One country stands for another.",
            reword(COUNTRY, |code| (code == "JPN").then_some("BRA")),
        ),
        Fault::request("search.country/object", "An object is taken for a code.", ignore(COUNTRY))
            .when(|context, seen| value(context, seen, COUNTRY).is_some_and(|code| code.is_object())),
    ]
}

fn city() -> Vec<Fault> {
    vec![
        Fault::request("search.city/ignored", "cityCode is ignored.", ignore(CITY)),
        Fault::request(
            "search.city/ignored-with-ports",
            "cityCode is ignored when all items have ports.",
            ignore(CITY),
        )
        .when(|context, seen| ips(context, seen).iter().all(|item| has_port(item))),
        loose("search.city/prefix", "A code matches by its beginning.", CITY, "cityCode", |asked, value| {
            value.starts_with(asked)
        }),
        loose("search.city/suffix", "A code matches by its end.", CITY, "cityCode", |asked, value| {
            value.ends_with(asked)
        }),
        loose("search.city/longer", "More than a code matches it.", CITY, "cityCode", |asked, value| {
            asked.starts_with(value)
        }),
        loose("search.city/pattern", "A code is taken for a pattern.", CITY, "cityCode", |asked, value| {
            asked == value || asked.strip_suffix('%').is_some_and(|start| value.starts_with(start))
        }),
        Fault::serve("search.city/whole-country", "A city finds its whole country.", |context, mut seen| {
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
        Fault::success(
            "search.city/ipv6-lost",
            "A city shows no IPv6 instances.",
            lose(|_, _, item| of_v6(item)),
        )
        .when(asks(CITY)),
        Fault::request(
            "search.city/one-swapped",
            "One city stands for another.",
            reword(CITY, |code| (code == "REK").then_some("SAO")),
        ),
        Fault::request("search.city/list", "A list is taken for a code.", ignore(CITY))
            .when(|context, seen| value(context, seen, CITY).is_some_and(|code| code.is_array())),
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
    vec![
        Fault::request("search.order-number/ignored", "orderNo is ignored.", ignore(ORDER)),
        Fault::request(
            "search.order-number/unknown-is-any",
            "An unknown order number finds everything.",
            ignore(ORDER),
        )
        .when(move |context, seen| text(context, seen, ORDER).is_some_and(|number| !known(context, &number))),
        near(
            "search.order-number/prefix",
            "The beginning of an order number matches it.",
            |asked, number| number.starts_with(asked),
        ),
        near("search.order-number/suffix", "The end of an order number matches it.", |asked, number| {
            number.ends_with(asked)
        }),
        near("search.order-number/longer", "More than an order number matches it.", |asked, number| {
            asked.starts_with(number)
        }),
        near(
            "search.order-number/contained",
            "A text that contains an order number matches it.",
            |asked, number| asked.contains(number),
        ),
        near("search.order-number/pattern", "An order number is taken for a pattern.", |asked, number| {
            asked.strip_suffix('%').is_some_and(|start| number.starts_with(start))
        }),
        near(
            "search.order-number/any-case",
            "An order number matches in any letter case.",
            |asked, number| asked.eq_ignore_ascii_case(number),
        ),
        Fault::success(
            "search.order-number/one-address",
            "An order finds the instances of one address.",
            |_, _, body| {
                let first = items(body).and_then(|items| items.first()).map(|item| item["ip"].clone());
                lose_where(body, |item| Some(&item["ip"]) != first.as_ref());
            },
        )
        .when(asks(ORDER)),
        Fault::success(
            "search.order-number/ipv6-lost",
            "An order shows no IPv6 instances.",
            lose(|_, _, item| of_v6(item)),
        )
        .when(asks(ORDER)),
        Fault::request(
            "search.order-number/finds-nothing",
            "An order number finds nothing.",
            |context, seen| {
                edit_ips(context, seen, |items| *items = vec![NOBODY.into()]);
            },
        )
        .when(asks(ORDER)),
        Fault::serve(
            "search.order-number/foreign-shown",
            "The order of another account is shown to who names it.",
            move |context, mut seen| {
                Box::pin(async move {
                    if foreign(context, &seen) {
                        as_second(context, &mut seen);
                    }
                    context.upstream.call(&seen).await
                })
            },
        ),
        Fault::reply(
            "search.order-number/foreign-told",
            "A foreign order number is rejected where an unknown one finds nothing.",
            |_, _, reply| {
                *reply = Reply::json_with(403, &json!({"code": 403, "message": "not your order"}));
            },
        )
        .when(foreign),
        Fault::success(
            "search.order-number/foreign-counted",
            "The instances of a foreign order are counted.",
            |_, _, body| {
                body["data"]["total"] = json!(3);
            },
        )
        .when(foreign),
        Fault::request("search.order-number/boolean", "true is taken for an order number.", ignore(ORDER))
            .when(|context, seen| value(context, seen, ORDER).is_some_and(|number| number.is_boolean())),
    ]
}

fn as_second(context: &Context, seen: &mut ProxiedRequest) {
    if let Some(second) = &context.facts.second_token {
        context.act_as(seen, second.expose());
    }
}
