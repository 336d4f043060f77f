//! Faults in what a search takes: the list of addresses, its items, the body and the token.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use super::words::*;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "search.ips-required/" {
            "absent": "A search without ips finds nothing instead of being rejected." if without_ips => ips_of_nobody;
            "null": "ips may be null." if ips_are(Value::is_null) => ips_of_nobody;
            "optional-with-order": "Beside an order number ips may be left out." if without_ips, with(ORDER) => ips_of_nobody;
            "in-the-query": "Without a body ips are taken from the query." if that(|call| call.body.is_empty()) => request(|call| {
                let name = call.contract.search.ips.name.clone();
                if let Some(item) = call.param(&name) {
                    call.drop_param(&name);
                    call.set_json(&json!({ name: [item] }));
                }
            });
            "in-any-case": "The letter case of ips does not matter." if without_ips, body_has("\"IPS\"") => body_of_nobody;
            "single": "In place of ips there may be an ip." if without_ips, body_has("\"ip\"") => body_of_nobody;
            "wrapped": "The object may be within another one." if without_ips, body_has("{\"data\":{") => body_of_nobody;
            "breaks": "A search without ips breaks the server." if without_ips => respond(500, json!({"message": "no ips"}));
        }
        "search.ips-raw-limit/" {
            "one-above": "One item above the limit is accepted." if raw(|count, most| count == most + 1) => cut_to_raw_limit;
            "after-duplicates": "Raw items are counted after duplicates are taken out."
                if raw(|count, most| count > most), that(|call| distinct(call) == 1) => batch(|_, items| items.truncate(1));
            "most-rejected": "The most items that there may be are rejected." if raw(|count, most| count == most) => reject;
            "half": "Half of the limit is the limit." if raw(|count, most| count > most / 2 && count <= most) => reject;
            "empty": "An empty list finds nothing instead of being rejected." if with_empty_ips => add_nobody;
            "wraps": "Raw items are counted in 16 bits." if raw(|count, most| count > 1 << 16 && count % (1 << 16) <= most)
                => batch(|_, items| items.truncate(items.len() % (1 << 16)));
            "text": "ips may be a text." if ips_are(Value::is_string) => ips_of_nobody;
            "object": "ips may be an object." if ips_are(Value::is_object) => ips_of_nobody;
            "breaks": "Too many items break the server." if raw(|count, most| count > most) => respond(502, json!({"message": "bad gateway"}));
            "none-with-a-status": "With a status there may be more raw items." if with(STATUS) => cut_to_raw_limit;
            "none-on-later-pages": "On later pages there may be more raw items." if later_page => cut_to_raw_limit;
            "half-with-ports": "With an IPv4 address and its port half of the limit is the limit."
                if raw(|count, most| count > most / 2 && count <= most), any_item(|item| has_port(item) && !item.starts_with('[')) => reject;
            "body-of-400-kib": "A body of more than 400 KiB is rejected." if that(|call| call.body.len() > 400 << 10) => reject;
        }
        "search.ips-dedup-limit/" {
            "one-above": "One distinct item above the limit is accepted."
                if that(|call| distinct(call) == most(call) + 1 && count(call) == most(call) + 1) => cut;
            "one-above-after-duplicates": "After many duplicates one distinct item too many is accepted."
                if above_distinct_limit, that(|call| count(call) > 2 * most(call)) => cut;
            "most-rejected": "The most distinct items are rejected." if at_distinct_limit => reject;
            "most-ipv4-ports-rejected": "The most IPv4 addresses with ports are rejected."
                if at_distinct_limit, all_with_ports, all_items(|item| !is_v6(item)) => reject;
            "most-ports-rejected": "The most distinct items are rejected when all have ports." if at_distinct_limit, all_with_ports => reject;
            "duplicates-counted": "Duplicates count." if that(|call| count(call) > most(call)) => reject;
            "by-address-alone": "Ports do not make items distinct." if above_distinct_limit, all_with_ports => cut;
            "with-and-without-port": "An address with a port and without count once."
                if above_distinct_limit, that(|call| ips(call).iter().filter(|item| has_port(item)).count() == 1) => cut;
            "by-spelling": "Two spellings of an IPv6 address count twice." if any_item(spelt_out), above_distinct_limit => reject;
            "repeats-found-twice": "A repeated item finds its instances twice." if with_duplicates => repeat_found;
            "ipv6-repeats-found-twice": "A repeated IPv6 item finds its instances twice." if with_duplicates, all_v6 => repeat_found;
            "repeats-lost": "A repeated item is left out." if with_duplicates, batch_of(..2_000) => request(|call| {
                let all = ips(call);
                edit_ips(call, |items| {
                    items.retain(|item| all.iter().filter(|sent| Some(sent.as_str()) == item.as_str()).count() < 2);
                    items.push(NOBODY.into());
                });
            });
            "respelt-lost": "An IPv6 address that comes in two spellings is left out." if any_item(spelt_out), with_duplicates => request(|call| {
                let sent = ips(call);
                let spelt_out: Vec<IpAddr> =
                    sent.iter().filter(|item| spelt_out(item)).filter_map(|item| bare(item).parse().ok()).collect();
                map_ips(call, |_, item| {
                    let is_respelt = bare(item).parse().is_ok_and(|ip| spelt_out.contains(&ip));
                    if is_respelt { NOBODY } else { item }.to_owned()
                });
            });
            "only-mixed": "The limit holds for batches with IPv4 in them only." if above_distinct_limit, all_v6 => cut_to_limit;
            "three-times": "An item that comes three times is removed." => request(|call| {
                let counts = counts(&ips(call));
                edit_ips(call, |items| {
                    items.retain(|item| counts.get(item.as_str().unwrap_or_default()).is_none_or(|count| *count != 3));
                    if items.is_empty() {
                        items.push(NOBODY.into());
                    }
                });
            });
            "none-for-many-raw-items": "Distinct items are not counted when there are more than nine thousand raw ones."
                if raw(|count, most| count > 9_000 && count <= most), above_distinct_limit => cut_to_limit;
            "both-limits-rejected": "The most distinct items among the most raw ones are rejected."
                if at_distinct_limit, raw(|count, most| count == most) => reject;
            "lowered-by-nobody": "The limit on distinct items is one too low." if at_distinct_limit, that(|call| count(call) == most(call)) => reject;
        }
        "search.ips-all-or-nothing/" {
            "skipped": "A bad item among good ones is left out." if batch_of(2..) => skip(|_, _| true);
            "first-skipped": "A bad item is left out when it comes first." if batch_of(2..) => skip(|place, _| place == 0);
            "last-skipped": "A bad item is left out when it comes last." if batch_of(2..) => skip(|place, count| place + 1 == count);
            "middle-skipped": "A bad item is left out when it is neither first nor last."
                if batch_of(2..) => skip(|place, count| place > 0 && place + 1 < count);
            "past-the-hundredth": "Items beyond the hundredth are ignored." if batch_of(2..) => skip(|place, _| place >= 100);
            "bad-port-skipped": "An item with a bad port is left out."
                if batch_of(2..) => batch(|_, items| items.retain(|item| item.as_str().is_none_or(|item| !item.ends_with(":0"))));
            "port-taken-off": "In a batch, a bad port is taken off."
                if batch_of(2..) => each(|item| item.strip_suffix(":0").unwrap_or(item).to_owned());
            "cut-to-the-limit": "A set over the limit is cut." if above_distinct_limit => cut_to_limit;
            "empty-set": "An empty set finds nothing instead of being rejected." if with_empty_ips => add_nobody;
            "too-many-beside-status": "Beside a status a batch over the limit is searched in part."
                if above_distinct_limit, with(STATUS) => cut_to_limit;
            "empty-beside-order": "Beside an order number ips may be empty." if with(ORDER), with_empty_ips => add_nobody;
            "dropped-when-repeated": "An invalid item that comes twice is dropped." => request(|call| {
                let counts = counts(&ips(call));
                edit_ips(call, |items| items.retain(|item| {
                    let text = item.as_str().unwrap_or_default();
                    bare(text).parse::<IpAddr>().is_ok() || counts.get(text).is_none_or(|count| *count < 2)
                }));
            });
            "in-the-middle": "An invalid item at one of the places from 300 to 399 is left out."
                => skip_networks(|place, _| (300..400).contains(&place));
            "last-of-all": "An invalid item at the last place of the largest batch is left out." => skip_networks(|place, most| place + 1 == most);
            "beside-group-id": "Beside the id of a group any number of items is accepted."
                if above_distinct_limit, that(|call| integer(call, GROUP) > Some(0)) => cut_to_limit;
        }
        "search.json-body/" {
            "array": "A list of one object is taken for the object." if that(|call| call.json().is_array()) => body_of_nobody;
            "text": "A text is taken for an address." if that(|call| call.json().is_string()) => body_of_nobody;
            "number": "A number is taken for an object." if that(|call| call.json().is_number()) => body_of_nobody;
            "null": "null is taken for an object." if that(|call| &call.body[..] == b"null") => body_of_nobody;
            "absent": "An absent body is accepted." if that(|call| call.body.is_empty()) => body_of_nobody;
            "cut": "An object that is cut off is accepted." if that(|call| call.body.starts_with(b"{") && !is_json(call)) => body_of_nobody;
            "raw-line-break": "A raw line break in a text is accepted."
                if that(|call| call.body.starts_with(b"{") && call.body.ends_with(b"\nb\"}")) => body_of_nobody;
            "nan": "NaN is taken for a number." if no_json_with("NaN") => body_of_nobody;
            "hexadecimal": "A number may be hexadecimal." if no_json_with("0x1") => body_of_nobody;
            "leading-zero": "A number may begin with a zero." if no_json_with(":01") => body_of_nobody;
            "plus": "A number may have a plus." if no_json_with("+1") => body_of_nobody;
            "ending-point": "A number may end at its point." if no_json_with("1.,") => body_of_nobody;
            "hexadecimal-escape": "An escape may be hexadecimal." if no_json_with("\\x61") => body_of_nobody;
            "raw-tab": "A raw tab in a text is accepted." if no_json_with("a\tb") => body_of_nobody;
            "line-comment": "A line comment is accepted." if no_json_with("// ") => body_of_nobody;
            "missing-comma": "A comma between members may be left out." if no_json_with("1 \"ips\"") => body_of_nobody;
            "equals-sign": "An equals sign may stand for a colon." if no_json_with("\"=") => body_of_nobody;
            "prefix": "A prefix against scripts is taken off." if no_json_with(")]}'") => body_of_nobody;
            "ends-at-nul": "A body ends at a NUL." if no_json_with("\0") => body_of_nobody;
            "form": "A form-encoded body is accepted." if that(|call| call.body.starts_with(b"ips=")) => body_of_nobody;
            "media-type-form": "A form is accepted under its own media type."
                if that(|call| call.header("Content-Type").is_some_and(|media| media.contains("form"))) => body_of_nobody;
            "xml": "XML is accepted under its own media type." if that(|call| call.body.starts_with(b"<")) => body_of_nobody;
            "lines-of-text": "Addresses in lines are accepted as plain text."
                if that(|call| !call.body.starts_with(b"{") && call.body.ends_with(b"\n")) => body_of_nobody;
            "deep-breaks": "A deeply nested body breaks the server."
                if that(|call| call.body.starts_with(b"[[[[")) => respond(500, json!({"message": "stack"}));
            "no-json-breaks": "A body that is no JSON breaks the server."
                if that(|call| !call.body.is_empty() && !is_json(call)) => respond(500, json!({"message": "unexpected token"}));
            "lines": "A body of several lines is rejected." if that(|call| call.json().is_object() && call.body.contains(&b'\n')) => reject;
            "escapes": "A text with escapes is rejected."
                if that(|call| call.json().is_object() && call.body.windows(3).any(|three| three == b"\\u0")) => reject;
            "space-first": "A body that begins with a space is rejected."
                if that(|call| call.body.first().is_some_and(u8::is_ascii_whitespace)) => reject;
        }
        "search.token/" {
            "absent": "A search without a token is served." => without_token();
            "empty": "A search with an empty token is served." => empty_token();
            "unknown": "A search with an unknown token is served." => serve_tokens(|call, sent| {
                sent.len() == 1 && sent != [""] && call.facts.secrets().all(|secret| sent != [secret.expose()])
            });
            "first-of-two": "Of two tokens the first one counts." => first_of_two_tokens;
            "list": "A token in `api_key[]` counts." => request(|call| {
                let list = format!("{}[]", call.contract.search.operation.api_key.name);
                if let Some(token) = call.param(&list) {
                    call.drop_param(&list);
                    call.act_as(&token);
                }
            });
            "last-of-two": "Of two tokens the last one counts." => last_of_two_tokens;
            "two-beside-status": "Beside a status the first of two tokens counts." if with(STATUS) => first_of_two_tokens;
            "any-of-two": "Of two tokens any good one counts." => any_of_two_tokens();
        }
    }
}

fn without_ips(call: &Call<'_>) -> bool {
    let body = call.json();
    body.is_object() && body.get(&call.contract.search.ips.name).is_none_or(Value::is_null)
}

/// The text of the body contains this.
fn body_has(part: &'static str) -> impl OnCall {
    move |call| String::from_utf8_lossy(&call.body).contains(part)
}

/// The body contains this, and is no JSON.
fn no_json_with(part: &'static str) -> impl OnCall {
    move |call| !is_json(call) && body_has(part)(call)
}

/// `ips` is sent and its value fits.
fn ips_are(fits: fn(&Value) -> bool) -> When {
    that(move |call| call.json().get(&call.contract.search.ips.name).is_some_and(fits))
}

/// Searches for an address that nobody has.
fn ips_of_nobody(call: &mut Call<'_>) {
    let name = call.contract.search.ips.name.clone();
    call.edit(|body| drop(body.insert(name, json!([NOBODY]))));
}

/// The same with a body of its own.
fn body_of_nobody(call: &mut Call<'_>) {
    let name = &call.contract.search.ips.name;
    call.set_json(&json!({ name: [NOBODY] }));
    call.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
}

fn is_json(call: &Call<'_>) -> bool {
    serde_json::from_slice::<Value>(&call.body).is_ok()
}

/// The number of raw items and the greatest one that there may be fit.
fn raw(fits: fn(usize, usize) -> bool) -> When {
    that(move |call| fits(count(call), *call.contract.search.raw_items.end()))
}

fn cut_to_raw_limit(call: &mut Call<'_>) {
    let most = *call.contract.search.raw_items.end();
    edit_ips(call, |items| items.truncate(most));
}

/// How many distinct items there may be.
fn most(call: &Call<'_>) -> usize {
    call.contract.search.distinct_items
}

/// Takes out duplicates, and keeps as many items as there may be.
fn cut(call: &mut Call<'_>) {
    let (mut known, most) = (HashSet::new(), most(call));
    edit_ips(call, |items| {
        items.retain(|item| known.insert(item.to_string()));
        items.truncate(most);
    });
}

fn spelt_out(item: &str) -> bool {
    item.contains(":0000:")
}

fn counts(items: &[String]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for item in items {
        *counts.entry(item.clone()).or_default() += 1;
    }
    counts
}

fn repeat_found(_: &Call<'_>, body: &mut Value) {
    if let Some(found) = items(body) {
        found.extend(found.clone());
    }
    body["data"]["total"] = json!(total(body) * 2);
}

/// Leaves out the items that are bad and whose place fits.
fn leave_out(call: &mut Call<'_>, at: impl Fn(usize) -> bool, is_bad: fn(&Value) -> bool) {
    let mut places = 0..;
    edit_ips(call, |items| items.retain(|item| !(places.next().is_some_and(&at) && is_bad(item))));
}

/// Leaves out bad items by their place and the number of items.
fn skip(which: fn(usize, usize) -> bool) -> impl OnRequest {
    move |call| {
        let count = count(call);
        leave_out(
            call,
            |place| which(place, count),
            |item| {
                item.as_str().is_none_or(|item| item.contains('/') || item.ends_with(":0") || item.is_empty())
            },
        );
    }
}

/// Leaves out networks by their place and the greatest number of items.
fn skip_networks(which: fn(usize, usize) -> bool) -> impl OnRequest {
    move |call| {
        let most = *call.contract.search.raw_items.end();
        leave_out(
            call,
            |place| which(place, most),
            |item| item.as_str().is_some_and(|item| item.contains('/')),
        );
    }
}
