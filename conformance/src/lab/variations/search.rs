//! Variations in the static operations.

use std::net::Ipv6Addr;

use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::keep_params;
use crate::contract::OperationId;
use crate::lab::faults::words::*;
use crate::lab::{Call, ProxiedRequest, Reply, Variation};

pub(crate) fn variations() -> Vec<Variation> {
    variations! {
        "times." {
            "with-zero-offset": "Times have the offset `+00:00` in place of `Z`.", everywhere => times(|text| text.replace('Z', "+00:00"));
            "in-another-zone": "Times have the offset `-09:00`.", everywhere => times(|text| {
                let in_zone = |time: Timestamp| time.display_with_offset(jiff::tz::offset(-9)).to_string();
                text.parse().map_or_else(|_| text.to_owned(), in_zone)
            });
            "with-nanoseconds": "Times have nine digits after the second.", everywhere
                => times(|text| text.parse().map_or_else(|_| text.to_owned(), |time: Timestamp| format!("{time:.9}")));
            "in-small-letters": "Times are written with small `t` and `z`.", everywhere => times(str::to_lowercase);
        }
        "static." {
            "more-fields": "Responses of the static operations have further fields at every level." => success(|_, body| for (path, value) in [
                ("/success", json!(true)),
                ("/timestamp", json!(1_767_519_000)),
                ("/data/hasMore", json!(false)),
                ("/data/items/*/remark", Value::Null),
                ("/data/items/*/tags", json!([])),
                ("/data/items/*/capabilities/ipv6", json!(true)),
                ("/data/items/*/capabilities/purchase/unit", json!("day")),
            ] {
                put_at(body, path, &value);
            });
            "members-in-other-order": "The members of JSON objects come in the opposite order.", everywhere
                => success(|_, body| reverse_members(body));
            "empty-message": "`message` of the static operations is empty." => set("/message", "");
            "says-how-long-it-took": "Responses of the static operations have a field `tookMs`, whose value changes."
                => success(|call, body| body["tookMs"] = json!(call.memory.calls() * 7_919 % 3));
            "no-capabilities": "`capabilities` of each instance is an empty object."
                => change("/data/items/*/capabilities", |capabilities| *capabilities = json!({}));
            "code-with-fraction": "The success code of the static operations is written as `200.0`." => accepted(|call, reply| {
                if let Some(id) = call.operation().filter(|id| *id != OperationId::Extract) {
                    let code = call.contract.operation(id).success.code;
                    reply.edit(|body| body["code"] = json!(code as f64));
                }
            });
            "unknown-parameters-ignored": "Unknown parameters of the static operations are ignored." => request(|call| {
                let api_key = &call.contract.search.operation.api_key.name;
                keep_params(call, |name, _| name == api_key);
            });
        }
        "search." {
            "unknown-fields-ignored": "Unknown fields in the body of a search are ignored." => request(|call| {
                let known: Vec<_> = call.contract.search.operation.body.iter().map(|known| known.name.clone()).collect();
                call.edit(|body| body.retain(|name, _| known.contains(name)));
            });
            "null-is-absent": "An optional field that is null counts as absent." => request(|call| {
                let ips = &call.contract.search.ips.name;
                call.edit(|body| body.retain(|name, value| name == ips || !value.is_null()));
            });
            "empty-filter-is-absent": "A filter that is an empty text counts as absent." => request(|call| {
                let pages = [PAGE, SIZE].map(|page| page.name(call));
                call.edit(|body| body.retain(|name, value| value != "" || pages.contains(&name.as_str())));
            });
            "whole-number-with-fraction": "A number such as `2.0` is accepted as the integer 2."
                => request(|call| call.edit(|body| body.values_mut().for_each(take_whole)));
            "any-content-type": "A search is accepted with any `Content-Type`, or with none."
                => request(|call| drop(call.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"))));
            "letter-case-of-country": "`countryCode` matches in small letters, too." => request(|call| {
                if let Some(country) = text(call, COUNTRY_CODE) {
                    put(call, COUNTRY_CODE, country.to_uppercase());
                }
            });
        }
        "static." {
            "token-by-header": "The static operations accept the token in the header `X-API-Key`, too." => request(|call| {
                let token = call.header(&call.contract.extract.api_key_header).map(str::to_owned);
                if let Some(token) = token.filter(|_| text(call, API_KEY).is_none()) {
                    put(call, API_KEY, token);
                }
            });
            "link-credentials-accepted": "The static operations accept link credentials." => request(|call| {
                let link = call.facts.link_credential.as_ref().map(|link| link.expose().to_owned());
                if link.is_some() && text(call, API_KEY) == link {
                    call.as_main();
                }
            });
        }
        "addresses." {
            "brackets-without-port": "`[IPv6]` without a port is accepted in a search."
                => each(|text| text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text).to_owned());
            "spaces-trimmed": "Spaces around an address are ignored in a search." => each(|text| text.trim().to_owned());
            "leading-zeros": "Leading zeros in an IPv4 address or its port are ignored in a search."
                => each(|text| without_zeros(text).unwrap_or_else(|| text.to_owned()));
            "mapped-are-ipv4": "An IPv4-mapped IPv6 address means the IPv4 address." => each(|text| {
                let mapped = text.parse().ok().and_then(|address: Ipv6Addr| address.to_ipv4_mapped());
                mapped.map_or_else(|| text.to_owned(), |address| address.to_string())
            });
            "in-full": "IPv6 addresses are returned in full, without `::`."
                => spelt(|address| address.segments().map(|segment| format!("{segment:04x}")).join(":"));
            "in-capitals": "IPv6 addresses are returned in capitals." => spelt(|address| address.to_string().to_uppercase());
        }
        "search." {
            "descending": "Search results come in descending order of their ids.", consistent => serve(|call| Box::pin(descending(call)));
            "page-past-end-rejected": "A page after the last one is rejected with HTTP status 404."
                => past_end(404, json!({"code": 40400, "message": "no such page"}));
            "page-past-end-rejected-within-200": "A page after the last one is rejected with HTTP status 200 and the code 1404."
                => past_end(200, json!({"code": 1404, "message": "no such page"}));
            "orders-not-held-rejected": "An order that is not the caller's is rejected in place of finding nothing.", consistent
                => request(|call| {
                    if text(call, ORDER).is_some_and(|order| call.facts.orders.iter().all(|held| held.number != order)) {
                        call.reject();
                    }
                });
            "groups-not-held-rejected": "A group that is not the caller's is rejected in place of finding nothing.", consistent
                => serve(|call| Box::pin(with_own_group(call)));
        }
    }
}

/// Gives the times of groups and instances another spelling.
fn times(how: fn(&str) -> String) -> impl OnBody {
    move |_, body| {
        for name in ["createdAt", "updatedAt", "expiresAt", "activatedAt"] {
            visit(body, &format!("/data/items/*/{name}"), &mut |time| {
                if let Some(respelt) = time.as_str().map(how) {
                    *time = json!(respelt);
                }
            });
        }
    }
}

/// Makes an integer of a number whose fraction is zero.
fn take_whole(value: &mut Value) {
    let whole = value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0);
    if let Some(number) = whole.filter(|number| number.abs() < 1e15) {
        *value = json!(number as i64);
    }
}

/// An IPv4 address, with its port, without leading zeros.
fn without_zeros(text: &str) -> Option<String> {
    let (address, port) = text.split_once(':').map_or((text, None), |(address, port)| (address, Some(port)));
    let octet =
        |part: &str| part.parse::<u8>().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()));
    let parts = address.split('.').map(octet).collect::<Option<Vec<u8>>>()?;
    let [a, b, c, d] = parts.try_into().ok()?;
    let port = port.map(|port| match port.trim_start_matches('0') {
        "" => ":0".to_owned(),
        digits => format!(":{digits}"),
    });
    Some(format!("{a}.{b}.{c}.{d}{}", port.unwrap_or_default()))
}

/// Gives the IPv6 addresses of instances another spelling.
fn spelt(how: fn(Ipv6Addr) -> String) -> impl OnBody {
    change("/data/items/*/ip", move |ip| {
        if let Some(address) = ip.as_str().and_then(|text| text.parse().ok()) {
            *ip = json!(how(address));
        }
    })
}

/// Rejects a page without instances, unless it is the first one.
fn past_end(status: u16, body: Value) -> Act {
    accepted(move |_, reply| {
        let data = &reply.json()["data"];
        if data["items"] == json!([]) && data["page"].as_i64() > Some(1) {
            *reply = Reply::json_with(status, &body);
        }
    })
}

/// Responses with the instances in the opposite order, page by page.
async fn descending(call: Call<'_>) -> Reply {
    let mut reply = call.send().await;
    if !call.accepted(&reply) {
        return reply;
    }
    let search = &call.contract.search;
    let (mut all, size) = (Vec::new(), *search.page_sizes.end());
    for page in *search.pages.start().. {
        let mut next = call.clone();
        put(&mut next, PAGE, page);
        put(&mut next, SIZE, size);
        let items = next.send().await.json()["data"]["items"].take();
        let items = items.as_array().cloned().unwrap_or_default();
        let last = i64::try_from(items.len()).is_ok_and(|came| came < size);
        all.extend(items);
        if last {
            break;
        }
    }
    all.reverse();
    reply.edit(|body| {
        let number = |name: &str| body["data"][name].as_u64().and_then(|number| usize::try_from(number).ok());
        let (page, size) = (number("page").unwrap_or(1), number("pageSize").unwrap_or(1));
        let items: Vec<_> = all.into_iter().skip((page - 1) * size).take(size).collect();
        body["data"]["items"] = json!(items);
    });
    reply
}

/// Rejects a search by a group that the listing does not have.
async fn with_own_group(mut call: Call<'_>) -> Reply {
    if let Some(group) = integer(&call, GROUP).filter(|group| *group > 0) {
        let mut listing = call.clone();
        *listing = ProxiedRequest {
            method: Method::GET,
            path: call.contract.groups().path.clone(),
            query: call.query.clone(),
            headers: HeaderMap::new(),
            body: bytes::Bytes::new(),
        };
        let listing = listing.send().await.json();
        let mut held = listing["data"]["items"].as_array().into_iter().flatten();
        if !held.any(|held| held["groupId"] == json!(group)) {
            call.reject();
        }
    }
    call.send().await
}

fn reverse_members(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let mut reversed: Vec<_> = std::mem::take(members).into_iter().collect();
            reversed.reverse();
            reversed.iter_mut().for_each(|(_, member)| reverse_members(member));
            members.extend(reversed);
        }
        Value::Array(items) => items.iter_mut().for_each(reverse_members),
        _ => {}
    }
}
