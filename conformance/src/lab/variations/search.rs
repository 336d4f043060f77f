//! Variations in the static operations.

use std::net::Ipv6Addr;

use crate::contract::OperationId;
use futures::future::BoxFuture;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::keep_params;
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::faults::condition::{API_KEY, put_param, sent};
use crate::lab::faults::edit::{body, change, put, set, visit};
use crate::lab::faults::search::{
    COUNTRY, GROUP, ORDER, PAGE, SIZE, each, integer, put as put_property, text,
};
use crate::lab::{Call, Variation};

pub(crate) fn variations() -> Vec<Variation> {
    [times(), responses(), leniency(), addresses(), results()].into_iter().flatten().collect()
}

fn times() -> Vec<Variation> {
    let respelt = |id, decides, how: fn(&str) -> String| {
        let respell = move |time: &mut Value| {
            *time = time.as_str().map_or_else(|| time.clone(), |text| json!(how(text)))
        };
        Variation::new(id, decides).success(move |_, reply| {
            reply.edit(|body| {
                for name in ["createdAt", "updatedAt", "expiresAt", "activatedAt"] {
                    visit(body, &format!("/data/items/*/{name}"), &mut |time| respell(time));
                }
            });
        })
    };
    variations_of![
        "times.",
        respelt("with-zero-offset", "Times have the offset `+00:00` in place of `Z`.", |text| {
            text.replace('Z', "+00:00")
        })
        .everywhere(),
        respelt("in-another-zone", "Times have the offset `-09:00`.", |text| {
            let in_zone = |time: Timestamp| time.display_with_offset(jiff::tz::offset(-9)).to_string();
            text.parse().map_or_else(|_| text.to_owned(), in_zone)
        })
        .everywhere(),
        respelt("with-nanoseconds", "Times have nine digits after the second.", |text| {
            text.parse().map_or_else(|_| text.to_owned(), |time: Timestamp| format!("{time:.9}"))
        })
        .everywhere(),
        respelt("in-small-letters", "Times are written with small `t` and `z`.", str::to_lowercase)
            .everywhere(),
    ]
}

fn responses() -> Vec<Variation> {
    variations_of![
        "static.",
        variation("more-fields", "Responses of the static operations have further fields at every level.")
            .success(body(|_, body| {
                for (path, value) in [
                    ("/success", json!(true)),
                    ("/timestamp", json!(1_767_519_000)),
                    ("/data/hasMore", json!(false)),
                    ("/data/items/*/remark", Value::Null),
                    ("/data/items/*/tags", json!([])),
                    ("/data/items/*/capabilities/ipv6", json!(true)),
                    ("/data/items/*/capabilities/purchase/unit", json!("day")),
                ] {
                    put(body, path, &value);
                }
            })),
        variation("members-in-other-order", "The members of JSON objects come in the opposite order.")
            .everywhere()
            .success(|_, reply| reply.edit(reverse_members)),
        variation("empty-message", "`message` of the static operations is empty.")
            .success(body(set("/message", ""))),
        variation(
            "says-how-long-it-took",
            "Responses of the static operations have a field `tookMs`, whose value changes."
        )
        .success(body(|call, body| body["tookMs"] = json!(call.memory.calls() * 7_919 % 3))),
        variation("no-capabilities", "`capabilities` of each instance is an empty object.")
            .success(body(change("/data/items/*/capabilities", |capabilities| *capabilities = json!({})))),
        variation("code-with-fraction", "The success code of the static operations is written as `200.0`.")
            .success(|call, reply| {
                if let Some(id) = call.operation().filter(|id| *id != OperationId::Extract) {
                    let code = call.contract.operation(id).success.code;
                    reply.edit(|body| body["code"] = json!(code as f64));
                }
            }),
    ]
}

fn leniency() -> Vec<Variation> {
    variations_of![
        "",
        variation(
            "static.unknown-parameters-ignored",
            "Unknown parameters of the static operations are ignored."
        )
        .request(|call| {
            let api_key = &call.contract.search.api_key.name;
            keep_params(call, |name, _| name == api_key);
        }),
        variation("search.unknown-fields-ignored", "Unknown fields in the body of a search are ignored.")
            .request(|call| {
                let known = call.contract.search.properties().map(|property| property.name.clone());
                call.edit(|body| body.retain(|name, _| known.contains(name)));
            }),
        variation("search.null-is-absent", "An optional field that is null counts as absent.").request(
            |call| {
                let ips = &call.contract.search.ips.name;
                call.edit(|body| body.retain(|name, value| name == ips || !value.is_null()));
            }
        ),
        variation("search.empty-filter-is-absent", "A filter that is an empty text counts as absent.")
            .request(|call| {
                let pages = [PAGE, SIZE].map(|page| &page(&call.contract.search).name);
                call.edit(|body| body.retain(|name, value| value != "" || pages.contains(&name)));
            }),
        variation(
            "search.whole-number-with-fraction",
            "A number such as `2.0` is accepted as the integer 2."
        )
        .request(|call| {
            call.edit(|body| {
                for value in body.values_mut() {
                    let whole = value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0);
                    if let Some(number) = whole.filter(|number| number.abs() < 1e15) {
                        *value = json!(number as i64);
                    }
                }
            });
        }),
        variation("search.any-content-type", "A search is accepted with any `Content-Type`, or with none.")
            .request(|call| {
                call.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }),
        variation("search.letter-case-of-country", "`countryCode` matches in small letters, too.").request(
            |call| {
                if let Some(country) = text(call, COUNTRY) {
                    put_property(call, COUNTRY, country.to_uppercase());
                }
            }
        ),
        variation(
            "static.token-by-header",
            "The static operations accept the token in the header `X-API-Key`, too."
        )
        .request(|call| {
            let token = call.header(&call.contract.extract.api_key_header).map(str::to_owned);
            if let Some(token) = token.filter(|_| sent(call, API_KEY).is_none()) {
                put_param(call, API_KEY, &token);
            }
        }),
        variation("static.link-credentials-accepted", "The static operations accept link credentials.")
            .request(|call| {
                let link = call.facts.link_credential.as_ref().map(|link| link.expose().to_owned());
                if link.is_some() && sent(call, API_KEY) == link {
                    call.as_main();
                }
            }),
    ]
}

fn addresses() -> Vec<Variation> {
    let items = |id, decides, how: fn(&str) -> String| Variation::new(id, decides).request(each(how));
    let spelt = |id, decides, how: fn(Ipv6Addr) -> String| {
        Variation::new(id, decides).success(body(change("/data/items/*/ip", move |ip| {
            if let Some(address) = ip.as_str().and_then(|text| text.parse().ok()) {
                *ip = json!(how(address));
            }
        })))
    };
    variations_of![
        "addresses.",
        items("brackets-without-port", "`[IPv6]` without a port is accepted in a search.", |text| {
            text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text).to_owned()
        }),
        items("spaces-trimmed", "Spaces around an address are ignored in a search.", |text| {
            text.trim().to_owned()
        }),
        items(
            "leading-zeros",
            "Leading zeros in an IPv4 address or its port are ignored in a search.",
            |text| {
                let (address, port) =
                    text.split_once(':').map_or((text, None), |(address, port)| (address, Some(port)));
                let octet =
                    |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok());
                let parts: Option<Vec<u8>> = address.split('.').map(|part| octet(part).flatten()).collect();
                match parts.as_deref() {
                    Some([a, b, c, d]) => {
                        let port = port.map(|port| match port.trim_start_matches('0') {
                            "" => ":0".to_owned(),
                            digits => format!(":{digits}"),
                        });
                        format!("{a}.{b}.{c}.{d}{}", port.unwrap_or_default())
                    }
                    _ => text.to_owned(),
                }
            }
        ),
        items("mapped-are-ipv4", "An IPv4-mapped IPv6 address means the IPv4 address.", |text| {
            let mapped = text.parse().ok().and_then(|address: Ipv6Addr| address.to_ipv4_mapped());
            mapped.map_or_else(|| text.to_owned(), |address| address.to_string())
        }),
        spelt("in-full", "IPv6 addresses are returned in full, without `::`.", |address| {
            address.segments().map(|segment| format!("{segment:04x}")).join(":")
        }),
        spelt("in-capitals", "IPv6 addresses are returned in capitals.", |address| {
            address.to_string().to_uppercase()
        }),
    ]
}

fn results() -> Vec<Variation> {
    variations_of![
        "search.",
        variation("descending", "Search results come in descending order of their ids.")
            .consistent()
            .serve(descending),
        variation("page-past-end-rejected", "A page after the last one is rejected with HTTP status 404.")
            .success(|_, reply| past_end(reply, 404, &json!({"code": 40400, "message": "no such page"}))),
        variation(
            "page-past-end-rejected-within-200",
            "A page after the last one is rejected with HTTP status 200 and the code 1404."
        )
        .success(|_, reply| past_end(reply, 200, &json!({"code": 1404, "message": "no such page"}))),
        variation(
            "orders-not-held-rejected",
            "An order that is not the caller's is rejected in place of finding nothing."
        )
        .consistent()
        .request(|call| {
            if text(call, ORDER)
                .is_some_and(|order| call.facts.orders.iter().all(|held| held.number != order))
            {
                call.reject();
            }
        }),
        variation(
            "groups-not-held-rejected",
            "A group that is not the caller's is rejected in place of finding nothing."
        )
        .consistent()
        .serve(|mut call| {
            Box::pin(async move {
                if let Some(group) = integer(&call, GROUP).filter(|group| *group > 0) {
                    let mut listing = call.clone();
                    *listing = ProxiedRequest {
                        method: hyper::Method::GET,
                        path: call.contract.groups.operation.path.clone(),
                        query: call.query.clone(),
                        headers: hyper::HeaderMap::new(),
                        body: bytes::Bytes::new(),
                    };
                    let listing = listing.send().await.json();
                    let mut held = listing["data"]["items"].as_array().into_iter().flatten();
                    if !held.any(|held| held["groupId"] == json!(group)) {
                        call.reject();
                    }
                }
                call.send().await
            })
        }),
    ]
}

/// Rejects a page without instances, unless it is the first one.
fn past_end(reply: &mut Reply, status: u16, body: &Value) {
    let data = &reply.json()["data"];
    if data["items"] == json!([]) && data["page"].as_i64() > Some(1) {
        *reply = Reply::json_with(status, body);
    }
}

/// Responses with the instances in the opposite order, page by page.
fn descending(call: Call<'_>) -> BoxFuture<'_, Reply> {
    Box::pin(async move {
        let mut reply = call.send().await;
        if !call.accepted(&reply) {
            return reply;
        }
        let search = &call.contract.search;
        let (mut all, size) = (Vec::new(), *search.page_sizes.end());
        for page in *search.pages.start().. {
            let mut next = call.clone();
            put_property(&mut next, PAGE, page);
            put_property(&mut next, SIZE, size);
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
            let number =
                |name: &str| body["data"][name].as_u64().and_then(|number| usize::try_from(number).ok());
            let (page, size) = (number("page").unwrap_or(1), number("pageSize").unwrap_or(1));
            let items: Vec<_> = all.into_iter().skip((page - 1) * size).take(size).collect();
            body["data"]["items"] = json!(items);
        });
        reply
    })
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
