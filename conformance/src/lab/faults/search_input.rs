//! Faults in what a search takes: the list of addresses, its items, the body and the token.

use serde_json::{Value, json};

use super::all::{
    any_of_two_tokens, empty_token, first_of_two_tokens, last_of_two_tokens, query_tokens, without_token,
};
use super::edit::respond;
use super::search::{
    NOBODY, ORDER, STATUS, all_with_ports, asks, bare, count, distinct, edit_ips, has_port, ips, is_v6,
    items, map_ips, plain, with_duplicates, with_empty_ips,
};
use crate::lab::exchange::ProxiedRequest;
use crate::lab::{Context, Fault};

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
    let null = |context: &Context, seen: &ProxiedRequest| {
        seen.json().get(&context.contract.search.ips.name).is_some_and(Value::is_null)
    };
    faults_of![
        "search.ips-required/",
        request("absent", "A search without ips finds nothing instead of being rejected.", ips_of_nobody)
            .when(absent),
        request("null", "ips may be null.", ips_of_nobody).when(null),
        request("optional-with-order", "Beside an order number ips may be left out.", ips_of_nobody)
            .when(absent)
            .when(asks(ORDER)),
        request("in-the-query", "Without a body ips are taken from the query.", |context, seen| {
            let name = context.contract.search.ips.name.clone();
            if let Some(item) = seen.param(&name) {
                seen.drop_param(&name);
                seen.set_json(&json!({ name: [item] }));
            }
        })
        .when(|_, seen| seen.body.is_empty()),
        reply(
            "breaks",
            "A search without ips breaks the server.",
            respond(500, json!({"message": "no ips"}))
        )
        .when(absent),
    ]
}

/// Searches for an address that nobody has.
fn ips_of_nobody(context: &Context, seen: &mut ProxiedRequest) {
    let name = context.contract.search.ips.name.clone();
    seen.edit(|body| drop(body.insert(name, json!([NOBODY]))));
}

fn raw_limit() -> Vec<Fault> {
    let most = |context: &Context| *context.contract.search.raw_items.end();
    faults_of![
        "search.ips-raw-limit/",
        request("one-above", "One item above the limit is accepted.", move |context, seen| {
            edit_ips(context, seen, |items| items.truncate(most(context)));
        })
        .when(move |context, seen| count(context, seen) == most(context) + 1),
        request(
            "after-duplicates",
            "Raw items are counted after duplicates are taken out.",
            |context, seen| {
                edit_ips(context, seen, |items| items.truncate(1));
            }
        )
        .when(move |context, seen| count(context, seen) > most(context) && distinct(context, seen) == 1),
        reject("most-rejected", "The most items that there may be are rejected.")
            .when(move |context, seen| count(context, seen) == most(context)),
        reject("half", "Half of the limit is the limit.").when(move |context, seen| {
            (most(context) / 2 + 1..=most(context)).contains(&count(context, seen))
        }),
        request("empty", "An empty list finds nothing instead of being rejected.", |context, seen| {
            edit_ips(context, seen, |items| items.push(NOBODY.into()));
        })
        .when(with_empty_ips),
        request("text", "ips may be a text.", ips_of_nobody)
            .when(|context, seen| seen.json()[&context.contract.search.ips.name].is_string()),
        request("object", "ips may be an object.", ips_of_nobody)
            .when(|context, seen| seen.json()[&context.contract.search.ips.name].is_object()),
        reply("breaks", "Too many items break the server.", respond(502, json!({"message": "bad gateway"})))
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
    let at_limit = move |context: &Context, seen: &ProxiedRequest| distinct(context, seen) == most(context);
    let above_limit = move |context: &Context, seen: &ProxiedRequest| distinct(context, seen) > most(context);
    let spelt_twice = |context: &Context, seen: &ProxiedRequest| {
        ips(context, seen).iter().any(|item| item.contains(":0000:"))
    };
    faults_of![
        "search.ips-dedup-limit/",
        request("one-above", "One distinct item above the limit is accepted.", cut).when(
            move |context, seen| {
                distinct(context, seen) == most(context) + 1 && count(context, seen) == most(context) + 1
            }
        ),
        request(
            "one-above-after-duplicates",
            "After many duplicates one distinct item too many is accepted.",
            cut
        )
        .when(move |context, seen| {
            distinct(context, seen) > most(context) && count(context, seen) > 2 * most(context)
        }),
        reject("most-rejected", "The most distinct items are rejected.").when(at_limit),
        reject("most-ipv4-ports-rejected", "The most IPv4 addresses with ports are rejected.")
            .when(at_limit)
            .when(all_with_ports)
            .when(|context, seen| !ips(context, seen).iter().any(|item| is_v6(item))),
        reject("most-ports-rejected", "The most distinct items are rejected when all have ports.")
            .when(at_limit)
            .when(all_with_ports),
        reject("duplicates-counted", "Duplicates count.")
            .when(move |context, seen| count(context, seen) > most(context)),
        request("by-address-alone", "Ports do not make items distinct.", cut)
            .when(above_limit)
            .when(all_with_ports),
        request("with-and-without-port", "An address with a port and without count once.", cut).when(
            move |context, seen| {
                let items = ips(context, seen);
                let ports = items.iter().filter(|item| has_port(item)).count();
                distinct(context, seen) > most(context) && ports == 1
            }
        ),
        reject("by-spelling", "Two spellings of an IPv6 address count twice.")
            .when(spelt_twice)
            .when(above_limit),
        success("repeats-found-twice", "A repeated item finds its instances twice.", repeat_found)
            .when(with_duplicates),
        success("ipv6-repeats-found-twice", "A repeated IPv6 item finds its instances twice.", repeat_found)
            .when(|context, seen| {
                distinct(context, seen) < count(context, seen)
                    && ips(context, seen).iter().all(|item| is_v6(item))
            }),
        request("repeats-lost", "A repeated item is left out.", |context, seen| {
            let all = ips(context, seen);
            edit_ips(context, seen, |items| {
                let again =
                    |item: &Value| all.iter().filter(|sent| Some(sent.as_str()) == item.as_str()).count() > 1;
                items.retain(|item| !again(item));
                items.push(NOBODY.into());
            });
        })
        .when(|context, seen| count(context, seen) < 2_000 && distinct(context, seen) < count(context, seen)),
        request(
            "respelt-lost",
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
            }
        )
        .when(spelt_twice)
        .when(with_duplicates),
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
    faults_of![
        "search.ips-all-or-nothing/",
        skip("skipped", "A bad item among good ones is left out.", |_, _| true),
        skip("first-skipped", "A bad item is left out when it comes first.", |place, _| place == 0),
        skip("last-skipped", "A bad item is left out when it comes last.", |place, count| place + 1 == count),
        skip(
            "middle-skipped",
            "A bad item is left out when it is neither first nor last.",
            |place, count| place > 0 && place + 1 < count
        ),
        skip("past-the-hundredth", "Items beyond the hundredth are ignored.", |place, _| place >= 100),
        request("bad-port-skipped", "An item with a bad port is left out.", |context, seen| {
            edit_ips(context, seen, |items| {
                items.retain(|item| item.as_str().is_none_or(|item| !item.ends_with(":0")))
            });
        })
        .when(|context, seen| count(context, seen) > 1),
        request("port-taken-off", "In a batch, a bad port is taken off.", |context, seen| {
            map_ips(context, seen, |_, item| item.strip_suffix(":0").unwrap_or(item).to_owned());
        })
        .when(|context, seen| count(context, seen) > 1),
        request("cut-to-the-limit", "A set over the limit is cut.", |context, seen| {
            let most = context.contract.search.distinct_items;
            edit_ips(context, seen, |items| items.truncate(most));
        })
        .when(|context, seen| distinct(context, seen) > context.contract.search.distinct_items),
        request("empty-set", "An empty set finds nothing instead of being rejected.", |context, seen| {
            edit_ips(context, seen, |items| items.push(NOBODY.into()));
        })
        .when(with_empty_ips),
    ]
}

fn body() -> Vec<Fault> {
    let taken = |id, breaks, fits: fn(&ProxiedRequest) -> bool| {
        Fault::request(id, breaks, |context, seen| seen.set_json(&plain(context)))
            .when(move |_, seen| fits(seen))
    };
    faults_of![
        "search.json-body/",
        taken("array", "A list of one object is taken for the object.", |seen| seen.json().is_array()),
        taken("text", "A text is taken for an address.", |seen| seen.json().is_string()),
        taken("number", "A number is taken for an object.", |seen| seen.json().is_number()),
        taken("null", "null is taken for an object.", |seen| &seen.body[..] == b"null"),
        taken("absent", "No body is taken for an object.", |seen| seen.body.is_empty()),
        taken("cut", "An object that is cut off is accepted.", |seen| {
            seen.body.starts_with(b"{") && serde_json::from_slice::<Value>(&seen.body).is_err()
        }),
        taken("raw-line-break", "A raw line break in a text is accepted.", |seen| {
            seen.body.starts_with(b"{") && seen.body.ends_with(b"\nb\"}")
        }),
        taken("form", "A form-encoded body is accepted.", |seen| seen.body.starts_with(b"ips=")),
        reply(
            "deep-breaks",
            "A deeply nested body breaks the server.",
            respond(500, json!({"message": "stack"}))
        )
        .when(|_, seen| seen.body.starts_with(b"[[[[")),
        reply(
            "no-json-breaks",
            "A body that is no JSON breaks the server.",
            respond(500, json!({"message": "unexpected token"}))
        )
        .when(|_, seen| !seen.body.is_empty() && serde_json::from_slice::<Value>(&seen.body).is_err()),
    ]
}

fn token() -> Vec<Fault> {
    faults_of![
        "search.token/",
        request("absent", "A search without a token is served.", without_token),
        request("empty", "A search with an empty token is served.", empty_token),
        request("unknown", "A search with an unknown token is served.", |context, seen| {
            let known =
                context.facts.secrets().any(|secret| query_tokens(context, seen) == [secret.expose()]);
            if query_tokens(context, seen).len() == 1 && !known && query_tokens(context, seen) != [""] {
                context.as_main(seen);
            }
        }),
        request("first-of-two", "Of two tokens the first one counts.", first_of_two_tokens),
        request("list", "A token in `api_key[]` counts.", |context, seen| {
            let list = format!("{}[]", context.contract.search.api_key.name);
            if let Some(token) = seen.param(&list) {
                seen.drop_param(&list);
                context.act_as(seen, &token);
            }
        }),
        request("last-of-two", "Of two tokens the last one counts.", last_of_two_tokens),
        request("two-beside-status", "Beside a status the first of two tokens counts.", first_of_two_tokens)
            .when(asks(STATUS)),
        request("any-of-two", "Of two tokens any good one counts.", any_of_two_tokens),
    ]
}
