//! Faults in what a search takes: the list of addresses, its items, the body and the token.

use std::collections::HashSet;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::edit::respond;
use super::search::{
    NOBODY, ORDER, STATUS, above_distinct_limit, add_nobody, all_items, all_v6, all_with_ports, any_item,
    asks, at_distinct_limit, bare, batch, count, cut_to_limit, distinct, each, edit_ips, has_port, ips,
    is_v6, items, map_ips, total, with_duplicates, with_empty_ips,
};
use super::token::{
    any_of_two_tokens, empty_token, first_of_two_tokens, last_of_two_tokens, query_tokens, without_token,
};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    let tables = [required(), raw_limit(), dedup_limit(), all_or_nothing(), body(), token()];
    tables.into_iter().flatten().collect()
}

fn required() -> Vec<Fault> {
    let absent = |call: &Call<'_>| {
        let body = call.json();
        body.is_object() && body.get(&call.contract.search.ips.name).is_none_or(Value::is_null)
    };
    faults_of![
        "search.ips-required/",
        fault("absent", "A search without ips finds nothing instead of being rejected.")
            .when(absent)
            .request(ips_of_nobody),
        fault("null", "ips may be null.").when(ips_are(Value::is_null)).request(ips_of_nobody),
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

/// `ips` is sent and its value fits.
fn ips_are(fits: fn(&Value) -> bool) -> impl Fn(&Call<'_>) -> bool + Send + Sync {
    move |call| call.json().get(&call.contract.search.ips.name).is_some_and(fits)
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
            .request(batch(|search, items| items.truncate(*search.raw_items.end()))),
        fault("after-duplicates", "Raw items are counted after duplicates are taken out.")
            .when(move |call| count(call) > most(call) && distinct(call) == 1)
            .request(batch(|_, items| items.truncate(1))),
        reject("most-rejected", "The most items that there may be are rejected.").when(move |call| count(
            call
        ) == most(
            call
        )),
        reject("half", "Half of the limit is the limit.")
            .when(move |call| (most(call) / 2 + 1..=most(call)).contains(&count(call))),
        fault("empty", "An empty list finds nothing instead of being rejected.")
            .when(with_empty_ips)
            .request(add_nobody),
        fault("text", "ips may be a text.").when(ips_are(Value::is_string)).request(ips_of_nobody),
        fault("object", "ips may be an object.").when(ips_are(Value::is_object)).request(ips_of_nobody),
        fault("breaks", "Too many items break the server.")
            .when(move |call| count(call) > most(call))
            .reply(respond(502, json!({"message": "bad gateway"}))),
    ]
}

/// Takes out duplicates, and keeps as many items as there may be.
fn cut(call: &mut Call<'_>) {
    let (mut known, most) = (HashSet::new(), call.contract.search.distinct_items);
    edit_ips(call, |items| {
        items.retain(|item| known.insert(item.to_string()));
        items.truncate(most);
    });
}

fn dedup_limit() -> Vec<Fault> {
    let most = |call: &Call<'_>| call.contract.search.distinct_items;
    let spelt_out = |item: &str| item.contains(":0000:");
    faults_of![
        "search.ips-dedup-limit/",
        fault("one-above", "One distinct item above the limit is accepted.")
            .when(move |call| distinct(call) == most(call) + 1 && count(call) == most(call) + 1)
            .request(cut),
        fault("one-above-after-duplicates", "After many duplicates one distinct item too many is accepted.")
            .when(above_distinct_limit)
            .when(move |call| count(call) > 2 * most(call))
            .request(cut),
        reject("most-rejected", "The most distinct items are rejected.").when(at_distinct_limit),
        reject("most-ipv4-ports-rejected", "The most IPv4 addresses with ports are rejected.")
            .when(at_distinct_limit)
            .when(all_with_ports)
            .when(all_items(|item| !is_v6(item))),
        reject("most-ports-rejected", "The most distinct items are rejected when all have ports.")
            .when(at_distinct_limit)
            .when(all_with_ports),
        reject("duplicates-counted", "Duplicates count.").when(move |call| count(call) > most(call)),
        fault("by-address-alone", "Ports do not make items distinct.")
            .when(above_distinct_limit)
            .when(all_with_ports)
            .request(cut),
        fault("with-and-without-port", "An address with a port and without count once.")
            .when(above_distinct_limit)
            .when(|call| ips(call).iter().filter(|item| has_port(item)).count() == 1)
            .request(cut),
        reject("by-spelling", "Two spellings of an IPv6 address count twice.")
            .when(any_item(spelt_out))
            .when(above_distinct_limit),
        fault("repeats-found-twice", "A repeated item finds its instances twice.")
            .when(with_duplicates)
            .success(repeat_found),
        fault("ipv6-repeats-found-twice", "A repeated IPv6 item finds its instances twice.")
            .when(with_duplicates)
            .when(all_v6)
            .success(repeat_found),
        fault("repeats-lost", "A repeated item is left out.")
            .when(with_duplicates)
            .when(|call| count(call) < 2_000)
            .request(|call| {
                let all = ips(call);
                edit_ips(call, |items| {
                    items.retain(|item| {
                        all.iter().filter(|sent| Some(sent.as_str()) == item.as_str()).count() < 2
                    });
                    items.push(NOBODY.into());
                });
            }),
        fault("respelt-lost", "An IPv6 address that comes in two spellings is left out.")
            .when(any_item(spelt_out))
            .when(with_duplicates)
            .request(|call| {
                let mut written = ips(call);
                written.retain(|item| item.contains(":0000:"));
                let written: Vec<IpAddr> =
                    written.iter().filter_map(|item| bare(item).parse().ok()).collect();
                map_ips(call, |_, item| {
                    let respelt = bare(item).parse().is_ok_and(|ip| written.contains(&ip));
                    if respelt { NOBODY } else { item }.to_owned()
                });
            }),
    ]
}

fn repeat_found(_: &Call<'_>, body: &mut Value) {
    if let Some(found) = items(body) {
        found.extend(found.clone());
    }
    body["data"]["total"] = json!(total(body) * 2);
}

fn all_or_nothing() -> Vec<Fault> {
    let is_bad = |item: &Value| {
        item.as_str().is_none_or(|item| item.contains('/') || item.ends_with(":0") || item.is_empty())
    };
    // Leaves out bad items by their place and the number of items.
    let skip = move |id, breaks, which: fn(usize, usize) -> bool| {
        Fault::new(id, breaks).when(|call| count(call) > 1).request(batch(move |_, items| {
            let (count, mut places) = (items.len(), 0..);
            items.retain(|item| !(places.next().is_some_and(|place| which(place, count)) && is_bad(item)));
        }))
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
            .request(batch(|_, items| {
                items.retain(|item| item.as_str().is_none_or(|item| !item.ends_with(":0")))
            })),
        fault("port-taken-off", "In a batch, a bad port is taken off.")
            .when(|call| count(call) > 1)
            .request(each(|item| item.strip_suffix(":0").unwrap_or(item).to_owned())),
        fault("cut-to-the-limit", "A set over the limit is cut.")
            .when(above_distinct_limit)
            .request(cut_to_limit),
        fault("empty-set", "An empty set finds nothing instead of being rejected.")
            .when(with_empty_ips)
            .request(add_nobody),
    ]
}

fn body() -> Vec<Fault> {
    let taken = |id, breaks, fits: fn(&Call<'_>) -> bool| {
        Fault::new(id, breaks).when(fits).request(|call| {
            let name = &call.contract.search.ips.name;
            call.set_json(&json!({ name: [NOBODY] }));
        })
    };
    faults_of![
        "search.json-body/",
        taken("array", "A list of one object is taken for the object.", |call| call.json().is_array()),
        taken("text", "A text is taken for an address.", |call| call.json().is_string()),
        taken("number", "A number is taken for an object.", |call| call.json().is_number()),
        taken("null", "null is taken for an object.", |call| &call.body[..] == b"null"),
        taken("absent", "An absent body is accepted.", |call| call.body.is_empty()),
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
            let sent = query_tokens(call);
            let known = call.facts.secrets().any(|secret| sent == [secret.expose()]);
            if sent.len() == 1 && !known && sent != [""] {
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
