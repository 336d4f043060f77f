//! Faults in what a search takes: the list of addresses, its items, the body and the token.

use serde_json::{Value, json};

use super::search::{
    NOBODY, asks, bare, count, distinct, edit_ips, has_port, ips, is_v6, items, map_ips, plain,
};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [required(), raw_limit(), dedup_limit(), all_or_nothing(), body(), token()]
        .into_iter()
        .flatten()
        .collect()
}

fn required() -> Vec<Fault> {
    let absent = |context: &Context, seen: &ProxiedRequest| {
        let body = seen.json();
        body.is_object() && body.get(&context.contract.search.ips.name).is_none_or(Value::is_null)
    };
    let nothing = |context: &Context, seen: &mut ProxiedRequest| {
        let name = context.contract.search.ips.name.clone();
        seen.edit(|body| drop(body.insert(name, json!([NOBODY]))));
    };
    let null = |context: &Context, seen: &ProxiedRequest| {
        seen.json().get(&context.contract.search.ips.name).is_some_and(Value::is_null)
    };
    vec![
        Fault::request(
            "search.ips-required/absent",
            "A search without ips finds nothing instead of being rejected.",
            nothing,
        )
        .when(absent),
        Fault::request("search.ips-required/null", "ips may be null.", nothing).when(null),
        Fault::request(
            "search.ips-required/optional-with-order",
            "Beside an order number ips may be left out.",
            nothing,
        )
        .when(absent)
        .when(asks(|search| &search.order_no)),
        Fault::request(
            "search.ips-required/in-the-query",
            "Without a body ips are taken from the query.",
            |context, seen| {
                let name = context.contract.search.ips.name.clone();
                if let Some(item) = seen.param(&name) {
                    seen.drop_param(&name);
                    seen.set_json(&json!({ name: [item] }));
                }
            },
        )
        .when(|_, seen| seen.body.is_empty()),
        Fault::reply(
            "search.ips-required/breaks",
            "A search without ips breaks the server.",
            |_, _, reply| {
                *reply = Reply::json_with(500, &json!({"message": "no ips"}));
            },
        )
        .when(absent),
    ]
}

fn raw_limit() -> Vec<Fault> {
    let most = |context: &Context| *context.contract.search.raw_items.end();
    vec![
        Fault::request(
            "search.ips-raw-limit/one-above",
            "One item above the limit is accepted.",
            move |context, seen| {
                edit_ips(context, seen, |items| items.truncate(most(context)));
            },
        )
        .when(move |context, seen| count(context, seen) == most(context) + 1),
        Fault::request(
            "search.ips-raw-limit/after-duplicates",
            "Raw items are counted after duplicates are taken out.",
            |context, seen| {
                edit_ips(context, seen, |items| items.truncate(1));
            },
        )
        .when(move |context, seen| count(context, seen) > most(context) && distinct(context, seen) == 1),
        Fault::request(
            "search.ips-raw-limit/most-rejected",
            "The most items that there may be are rejected.",
            Context::reject,
        )
        .when(move |context, seen| count(context, seen) == most(context)),
        Fault::request("search.ips-raw-limit/half", "Half of the limit is the limit.", Context::reject).when(
            move |context, seen| (most(context) / 2 + 1..=most(context)).contains(&count(context, seen)),
        ),
        Fault::request(
            "search.ips-raw-limit/empty",
            "An empty list finds nothing instead of being rejected.",
            |context, seen| {
                edit_ips(context, seen, |items| items.push(NOBODY.into()));
            },
        )
        .when(|context, seen| seen.json()[&context.contract.search.ips.name] == json!([])),
        Fault::request("search.ips-raw-limit/text", "ips may be a text.", |context, seen| {
            let name = context.contract.search.ips.name.clone();
            seen.edit(|body| drop(body.insert(name, json!([NOBODY]))));
        })
        .when(|context, seen| seen.json()[&context.contract.search.ips.name].is_string()),
        Fault::request("search.ips-raw-limit/object", "ips may be an object.", |context, seen| {
            let name = context.contract.search.ips.name.clone();
            seen.edit(|body| drop(body.insert(name, json!([NOBODY]))));
        })
        .when(|context, seen| seen.json()[&context.contract.search.ips.name].is_object()),
        Fault::reply("search.ips-raw-limit/breaks", "Too many items break the server.", |_, _, reply| {
            *reply = Reply::json_with(502, &json!({"message": "bad gateway"}));
        })
        .when(move |context, seen| count(context, seen) > most(context)),
    ]
}

fn dedup_limit() -> Vec<Fault> {
    let most = |context: &Context| context.contract.search.distinct_items;
    let cut = move |context: &Context, seen: &mut ProxiedRequest| {
        let mut known = std::collections::HashSet::new();
        edit_ips(context, seen, |items| {
            items.retain(|item| known.insert(item.to_string()));
            items.truncate(most(context));
        });
    };
    let spelt_twice = |context: &Context, seen: &ProxiedRequest| {
        ips(context, seen).iter().any(|item| item.contains(":0000:"))
    };
    vec![
        Fault::request(
            "search.ips-dedup-limit/one-above",
            "One distinct item above the limit is accepted.",
            cut,
        )
        .when(move |context, seen| {
            distinct(context, seen) == most(context) + 1 && count(context, seen) == most(context) + 1
        }),
        Fault::request(
            "search.ips-dedup-limit/one-above-after-duplicates",
            "After many duplicates one distinct item too many is accepted.",
            cut,
        )
        .when(move |context, seen| {
            distinct(context, seen) > most(context) && count(context, seen) > 2 * most(context)
        }),
        Fault::request(
            "search.ips-dedup-limit/most-rejected",
            "The most distinct items are rejected.",
            Context::reject,
        )
        .when(move |context, seen| distinct(context, seen) == most(context)),
        Fault::request(
            "search.ips-dedup-limit/most-ports-rejected",
            "The most distinct items are rejected when all have ports.",
            Context::reject,
        )
        .when(move |context, seen| {
            distinct(context, seen) == most(context) && ips(context, seen).iter().all(|item| has_port(item))
        }),
        Fault::request("search.ips-dedup-limit/duplicates-counted", "Duplicates count.", Context::reject)
            .when(move |context, seen| count(context, seen) > most(context)),
        Fault::request("search.ips-dedup-limit/by-address-alone", "Ports do not make items distinct.", cut)
            .when(move |context, seen| {
                distinct(context, seen) > most(context)
                    && ips(context, seen).iter().all(|item| has_port(item))
            }),
        Fault::request(
            "search.ips-dedup-limit/with-and-without-port",
            "An address with a port and without count once.",
            cut,
        )
        .when(move |context, seen| {
            let items = ips(context, seen);
            let ports = items.iter().filter(|item| has_port(item)).count();
            distinct(context, seen) > most(context) && ports == 1
        }),
        Fault::request(
            "search.ips-dedup-limit/by-spelling",
            "Two spellings of an IPv6 address count twice.",
            Context::reject,
        )
        .when(spelt_twice)
        .when(move |context, seen| distinct(context, seen) > most(context)),
        Fault::success(
            "search.ips-dedup-limit/repeats-found-twice",
            "A repeated item finds its instances twice.",
            repeat_found,
        )
        .when(|context, seen| distinct(context, seen) < count(context, seen)),
        Fault::success(
            "search.ips-dedup-limit/ipv6-repeats-found-twice",
            "A repeated IPv6 item finds its instances twice.",
            repeat_found,
        )
        .when(|context, seen| {
            distinct(context, seen) < count(context, seen)
                && ips(context, seen).iter().all(|item| is_v6(item))
        }),
        Fault::request(
            "search.ips-dedup-limit/repeats-lost",
            "A repeated item is left out.",
            |context, seen| {
                let all = ips(context, seen);
                edit_ips(context, seen, |items| {
                    let again = |item: &Value| {
                        all.iter().filter(|sent| Some(sent.as_str()) == item.as_str()).count() > 1
                    };
                    items.retain(|item| !again(item));
                    items.push(NOBODY.into());
                });
            },
        )
        .when(|context, seen| count(context, seen) < 2_000 && distinct(context, seen) < count(context, seen)),
        Fault::request(
            "search.ips-dedup-limit/respelt-lost",
            "An IPv6 address that comes in two spellings is left out.",
            |context, seen| {
                let written: Vec<std::net::IpAddr> = ips(context, seen)
                    .iter()
                    .filter(|item| item.contains(":0000:"))
                    .filter_map(|item| bare(item).parse().ok())
                    .collect();
                map_ips(context, seen, |_, item| {
                    let respelt = bare(item).parse().is_ok_and(|ip| written.contains(&ip));
                    if respelt { NOBODY } else { item }.to_owned()
                });
            },
        )
        .when(spelt_twice)
        .when(|context, seen| distinct(context, seen) < count(context, seen)),
    ]
}

fn repeat_found(_: &Context, _: &ProxiedRequest, body: &mut Value) {
    if let Some(found) = items(body) {
        let again = found.clone();
        found.extend(again);
    }
    body["data"]["total"] = json!(super::search::total(body) * 2);
}

fn all_or_nothing() -> Vec<Fault> {
    let is_bad = |item: &Value| {
        item.as_str().is_none_or(|item| item.contains('/') || item.ends_with(":0") || item.is_empty())
    };
    let skip = move |id, breaks, which: fn(usize, usize) -> bool| {
        Fault::request(id, breaks, move |context, seen| {
            edit_ips(context, seen, |items| {
                let count = items.len();
                let mut place = 0;
                items.retain(|item| {
                    place += 1;
                    !(is_bad(item) && which(place - 1, count))
                });
            });
        })
        .when(|context, seen| count(context, seen) > 1)
    };
    vec![
        skip("search.ips-all-or-nothing/skipped", "A bad item among good ones is left out.", |_, _| true),
        skip(
            "search.ips-all-or-nothing/first-skipped",
            "A bad item is left out when it comes first.",
            |place, _| place == 0,
        ),
        skip(
            "search.ips-all-or-nothing/last-skipped",
            "A bad item is left out when it comes last.",
            |place, count| place + 1 == count,
        ),
        skip(
            "search.ips-all-or-nothing/middle-skipped",
            "A bad item is left out when it is neither first nor last.",
            |place, count| place > 0 && place + 1 < count,
        ),
        skip(
            "search.ips-all-or-nothing/past-the-hundredth",
            "Items beyond the hundredth are ignored.",
            |place, _| place >= 100,
        ),
        Fault::request(
            "search.ips-all-or-nothing/bad-port-skipped",
            "An item with a bad port is left out.",
            |context, seen| {
                edit_ips(context, seen, |items| {
                    items.retain(|item| item.as_str().is_none_or(|item| !item.ends_with(":0")))
                });
            },
        )
        .when(|context, seen| count(context, seen) > 1),
        Fault::request(
            "search.ips-all-or-nothing/port-taken-off",
            "In a batch, a bad port is taken off.",
            |context, seen| {
                map_ips(context, seen, |_, item| item.strip_suffix(":0").unwrap_or(item).to_owned());
            },
        )
        .when(|context, seen| count(context, seen) > 1),
        Fault::request(
            "search.ips-all-or-nothing/cut-to-the-limit",
            "A set over the limit is cut.",
            |context, seen| {
                let most = context.contract.search.distinct_items;
                edit_ips(context, seen, |items| items.truncate(most));
            },
        )
        .when(|context, seen| distinct(context, seen) > context.contract.search.distinct_items),
        Fault::request(
            "search.ips-all-or-nothing/empty-set",
            "An empty set finds nothing instead of being rejected.",
            |context, seen| {
                edit_ips(context, seen, |items| items.push(NOBODY.into()));
            },
        )
        .when(|context, seen| seen.json()[&context.contract.search.ips.name] == json!([])),
    ]
}

fn body() -> Vec<Fault> {
    let taken = |id, breaks, fits: fn(&ProxiedRequest) -> bool| {
        Fault::request(id, breaks, |context, seen| seen.set_json(&plain(context)))
            .when(move |_, seen| fits(seen))
    };
    vec![
        taken("search.json-body/array", "A list of one object is taken for the object.", |seen| {
            seen.json().is_array()
        }),
        taken("search.json-body/text", "A text is taken for an address.", |seen| seen.json().is_string()),
        taken("search.json-body/number", "A number is taken for an object.", |seen| seen.json().is_number()),
        taken("search.json-body/null", "null is taken for an object.", |seen| &seen.body[..] == b"null"),
        taken("search.json-body/absent", "No body is taken for an object.", |seen| seen.body.is_empty()),
        taken("search.json-body/cut", "An object that is cut off is accepted.", |seen| {
            seen.body.starts_with(b"{") && serde_json::from_slice::<Value>(&seen.body).is_err()
        }),
        taken("search.json-body/form", "A form-encoded body is accepted.", |seen| {
            seen.body.starts_with(b"ips=")
        }),
        Fault::reply(
            "search.json-body/deep-breaks",
            "A deeply nested body breaks the server.",
            |_, _, reply| {
                *reply = Reply::json_with(500, &json!({"message": "stack"}));
            },
        )
        .when(|_, seen| seen.body.starts_with(b"[[[[")),
        Fault::reply(
            "search.json-body/no-json-breaks",
            "A body that is no JSON breaks the server.",
            |_, _, reply| {
                *reply = Reply::json_with(500, &json!({"message": "unexpected token"}));
            },
        )
        .when(|_, seen| !seen.body.is_empty() && serde_json::from_slice::<Value>(&seen.body).is_err()),
    ]
}

fn token() -> Vec<Fault> {
    vec![
        Fault::request("search.token/absent", "A search without a token is served.", |context, seen| {
            if tokens(context, seen).is_empty() {
                context.as_main(seen);
            }
        }),
        Fault::request("search.token/empty", "A search with an empty token is served.", |context, seen| {
            if tokens(context, seen) == [""] {
                context.as_main(seen);
            }
        }),
        Fault::request(
            "search.token/unknown",
            "A search with an unknown token is served.",
            |context, seen| {
                let known = context.facts.secrets().any(|secret| tokens(context, seen) == [secret.expose()]);
                if tokens(context, seen).len() == 1 && !known && tokens(context, seen) != [""] {
                    context.as_main(seen);
                }
            },
        ),
        Fault::request(
            "search.token/first-of-two",
            "Of two tokens the first one counts.",
            |context, seen| {
                if let [first, _, ..] = &tokens(context, seen)[..] {
                    context.act_as(seen, first);
                }
            },
        ),
        Fault::request("search.token/list", "A token in `api_key[]` counts.", |context, seen| {
            let list = format!("{}[]", context.contract.search.api_key.name);
            if let Some(token) = seen.param(&list) {
                seen.drop_param(&list);
                context.act_as(seen, &token);
            }
        }),
        Fault::request("search.token/last-of-two", "Of two tokens the last one counts.", |context, seen| {
            if let [_, .., last] = &tokens(context, seen)[..] {
                context.act_as(seen, last);
            }
        }),
        Fault::request("search.token/any-of-two", "Of two tokens any good one counts.", |context, seen| {
            let tokens = tokens(context, seen);
            if tokens.len() > 1 && tokens.iter().any(|token| token == context.token.expose()) {
                context.as_main(seen);
            }
        }),
    ]
}

fn tokens(context: &Context, seen: &ProxiedRequest) -> Vec<String> {
    let name = &context.contract.search.api_key.name;
    seen.params().into_iter().filter(|(key, _)| key == name).map(|(_, value)| value).collect()
}
