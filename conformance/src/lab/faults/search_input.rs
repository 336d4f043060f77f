//! Faults in what a search takes: the list of addresses, its items, the body and the token.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::all::{
    any_of_two_tokens, empty_token, first_of_two_tokens, last_of_two_tokens, query_tokens, without_token,
};
use super::edit::respond;
use super::search::{
    NOBODY, ORDER, STATUS, all_with_ports, asks, bare, count, distinct, edit_ips, has_port, ips, is_v6,
    items, map_ips, plain, with_duplicates, with_empty_ips,
};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [required(), raw_limit(), dedup_limit(), all_or_nothing(), body(), token()]
        .into_iter()
        .flatten()
        .collect()
}

fn required() -> Vec<Fault> {
    let absent = |call: &Call<'_>| {
        let body = call.json();
        body.is_object() && body.get(&call.contract.search.ips.name).is_none_or(Value::is_null)
    };
    let null = |call: &Call<'_>| call.json().get(&call.contract.search.ips.name).is_some_and(Value::is_null);
    faults_of![
        "search.ips-required/",
        fault("absent", "A search without ips finds nothing instead of being rejected.")
            .when(absent)
            .request(ips_of_nobody),
        fault("null", "ips may be null.").when(null).request(ips_of_nobody),
        fault("optional-with-order", "Beside an order number ips may be left out.")
            .when(absent)
            .when(asks(ORDER))
            .request(ips_of_nobody),
        fault("in-the-query", "Without a body ips are taken from the query.")
            .when(|call| call.body.is_empty())
            .request(|call| {
                let name = call.contract.search.ips.name.clone();
                if let Some(item) = call.param(&name) {
                    call.drop_param(&name);
                    call.set_json(&json!({ name: [item] }));
                }
            }),
        fault("breaks", "A search without ips breaks the server.")
            .when(absent)
            .reply(respond(500, json!({"message": "no ips"}))),
    ]
}

/// Searches for an address that nobody has.
fn ips_of_nobody(call: &mut Call<'_>) {
    let name = call.contract.search.ips.name.clone();
    call.edit(|body| drop(body.insert(name, json!([NOBODY]))));
}

fn raw_limit() -> Vec<Fault> {
    let most = |call: &Call<'_>| *call.contract.search.raw_items.end();
    faults_of![
        "search.ips-raw-limit/",
        fault("one-above", "One item above the limit is accepted.")
            .when(move |call| count(call) == most(call) + 1)
            .request(move |call| {
                let most = most(call);
                edit_ips(call, |items| items.truncate(most));
            }),
        fault("after-duplicates", "Raw items are counted after duplicates are taken out.")
            .when(move |call| count(call) > most(call) && distinct(call) == 1)
            .request(|call| {
                edit_ips(call, |items| items.truncate(1));
            }),
        reject("most-rejected", "The most items that there may be are rejected.").when(move |call| count(
            call
        ) == most(
            call
        )),
        reject("half", "Half of the limit is the limit.")
            .when(move |call| { (most(call) / 2 + 1..=most(call)).contains(&count(call)) }),
        fault("empty", "An empty list finds nothing instead of being rejected.")
            .when(with_empty_ips)
            .request(|call| {
                edit_ips(call, |items| items.push(NOBODY.into()));
            }),
        fault("text", "ips may be a text.")
            .when(|call| call.json()[&call.contract.search.ips.name].is_string())
            .request(ips_of_nobody),
        fault("object", "ips may be an object.")
            .when(|call| call.json()[&call.contract.search.ips.name].is_object())
            .request(ips_of_nobody),
        fault("breaks", "Too many items break the server.")
            .when(move |call| count(call) > most(call))
            .reply(respond(502, json!({"message": "bad gateway"}))),
    ]
}

fn dedup_limit() -> Vec<Fault> {
    let most = |call: &Call<'_>| call.contract.search.distinct_items;
    let cut = move |call: &mut Call<'_>| {
        let (mut known, most) = (HashSet::new(), most(call));
        edit_ips(call, |items| {
            items.retain(|item| known.insert(item.to_string()));
            items.truncate(most);
        });
    };
    let at_limit = move |call: &Call<'_>| distinct(call) == most(call);
    let above_limit = move |call: &Call<'_>| distinct(call) > most(call);
    let spelt_twice = |call: &Call<'_>| ips(call).iter().any(|item| item.contains(":0000:"));
    faults_of![
        "search.ips-dedup-limit/",
        fault("one-above", "One distinct item above the limit is accepted.")
            .when(move |call| { distinct(call) == most(call) + 1 && count(call) == most(call) + 1 })
            .request(cut),
        fault("one-above-after-duplicates", "After many duplicates one distinct item too many is accepted.")
            .when(move |call| { distinct(call) > most(call) && count(call) > 2 * most(call) })
            .request(cut),
        reject("most-rejected", "The most distinct items are rejected.").when(at_limit),
        reject("most-ipv4-ports-rejected", "The most IPv4 addresses with ports are rejected.")
            .when(at_limit)
            .when(all_with_ports)
            .when(|call| !ips(call).iter().any(|item| is_v6(item))),
        reject("most-ports-rejected", "The most distinct items are rejected when all have ports.")
            .when(at_limit)
            .when(all_with_ports),
        reject("duplicates-counted", "Duplicates count.").when(move |call| count(call) > most(call)),
        fault("by-address-alone", "Ports do not make items distinct.")
            .when(above_limit)
            .when(all_with_ports)
            .request(cut),
        fault("with-and-without-port", "An address with a port and without count once.")
            .when(move |call| {
                let items = ips(call);
                let ports = items.iter().filter(|item| has_port(item)).count();
                distinct(call) > most(call) && ports == 1
            })
            .request(cut),
        reject("by-spelling", "Two spellings of an IPv6 address count twice.")
            .when(spelt_twice)
            .when(above_limit),
        fault("repeats-found-twice", "A repeated item finds its instances twice.")
            .when(with_duplicates)
            .success(repeat_found),
        fault("ipv6-repeats-found-twice", "A repeated IPv6 item finds its instances twice.")
            .when(|call| { distinct(call) < count(call) && ips(call).iter().all(|item| is_v6(item)) })
            .success(repeat_found),
        fault("repeats-lost", "A repeated item is left out.")
            .when(|call| count(call) < 2_000 && distinct(call) < count(call))
            .request(|call| {
                let all = ips(call);
                edit_ips(call, |items| {
                    let again = |item: &Value| {
                        all.iter().filter(|sent| Some(sent.as_str()) == item.as_str()).count() > 1
                    };
                    items.retain(|item| !again(item));
                    items.push(NOBODY.into());
                });
            }),
        fault("respelt-lost", "An IPv6 address that comes in two spellings is left out.")
            .when(spelt_twice)
            .when(with_duplicates)
            .request(|call| {
                let written: Vec<std::net::IpAddr> = ips(call)
                    .iter()
                    .filter(|item| item.contains(":0000:"))
                    .filter_map(|item| bare(item).parse().ok())
                    .collect();
                map_ips(call, |_, item| {
                    let respelt = bare(item).parse().is_ok_and(|ip| written.contains(&ip));
                    if respelt { NOBODY } else { item }.to_owned()
                });
            }),
    ]
}

fn repeat_found(_: &Call<'_>, body: &mut Value) {
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
        Fault::new(id, breaks).when(|call| count(call) > 1).request(move |call| {
            edit_ips(call, |items| {
                let count = items.len();
                let mut place = 0;
                items.retain(|item| {
                    place += 1;
                    !(is_bad(item) && which(place - 1, count))
                });
            });
        })
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
        fault("bad-port-skipped", "An item with a bad port is left out.")
            .when(|call| count(call) > 1)
            .request(|call| {
                edit_ips(call, |items| {
                    items.retain(|item| item.as_str().is_none_or(|item| !item.ends_with(":0")))
                });
            }),
        fault("port-taken-off", "In a batch, a bad port is taken off.").when(|call| count(call) > 1).request(
            |call| {
                map_ips(call, |_, item| item.strip_suffix(":0").unwrap_or(item).to_owned());
            }
        ),
        fault("cut-to-the-limit", "A set over the limit is cut.")
            .when(|call| distinct(call) > call.contract.search.distinct_items)
            .request(|call| {
                let most = call.contract.search.distinct_items;
                edit_ips(call, |items| items.truncate(most));
            }),
        fault("empty-set", "An empty set finds nothing instead of being rejected.")
            .when(with_empty_ips)
            .request(|call| {
                edit_ips(call, |items| items.push(NOBODY.into()));
            }),
    ]
}

fn body() -> Vec<Fault> {
    let taken = |id, breaks, fits: fn(&Call<'_>) -> bool| {
        Fault::new(id, breaks).when(fits).request(|call| {
            let body = plain(call);
            call.set_json(&body);
        })
    };
    faults_of![
        "search.json-body/",
        taken("array", "A list of one object is taken for the object.", |call| call.json().is_array()),
        taken("text", "A text is taken for an address.", |call| call.json().is_string()),
        taken("number", "A number is taken for an object.", |call| call.json().is_number()),
        taken("null", "null is taken for an object.", |call| &call.body[..] == b"null"),
        taken("absent", "No body is taken for an object.", |call| call.body.is_empty()),
        taken("cut", "An object that is cut off is accepted.", |call| {
            call.body.starts_with(b"{") && serde_json::from_slice::<Value>(&call.body).is_err()
        }),
        taken("raw-line-break", "A raw line break in a text is accepted.", |call| {
            call.body.starts_with(b"{") && call.body.ends_with(b"\nb\"}")
        }),
        taken("form", "A form-encoded body is accepted.", |call| call.body.starts_with(b"ips=")),
        fault("deep-breaks", "A deeply nested body breaks the server.")
            .when(|call| call.body.starts_with(b"[[[["))
            .reply(respond(500, json!({"message": "stack"}))),
        fault("no-json-breaks", "A body that is no JSON breaks the server.")
            .when(|call| !call.body.is_empty() && serde_json::from_slice::<Value>(&call.body).is_err())
            .reply(respond(500, json!({"message": "unexpected token"}))),
    ]
}

fn token() -> Vec<Fault> {
    faults_of![
        "search.token/",
        fault("absent", "A search without a token is served.").request(without_token),
        fault("empty", "A search with an empty token is served.").request(empty_token),
        fault("unknown", "A search with an unknown token is served.").request(|call| {
            let known = call.facts.secrets().any(|secret| query_tokens(call) == [secret.expose()]);
            if query_tokens(call).len() == 1 && !known && query_tokens(call) != [""] {
                call.as_main();
            }
        }),
        fault("first-of-two", "Of two tokens the first one counts.").request(first_of_two_tokens),
        fault("list", "A token in `api_key[]` counts.").request(|call| {
            let list = format!("{}[]", call.contract.search.api_key.name);
            if let Some(token) = call.param(&list) {
                call.drop_param(&list);
                call.act_as(&token);
            }
        }),
        fault("last-of-two", "Of two tokens the last one counts.").request(last_of_two_tokens),
        fault("two-beside-status", "Beside a status the first of two tokens counts.")
            .when(asks(STATUS))
            .request(first_of_two_tokens),
        fault("any-of-two", "Of two tokens any good one counts.").request(any_of_two_tokens),
    ]
}
