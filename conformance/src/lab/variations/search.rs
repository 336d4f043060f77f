//! Variations in the static operations.

use std::net::{IpAddr, Ipv6Addr};

use crate::contract::OperationId;
use futures::future::BoxFuture;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Map, Value, json};

use crate::lab::Context;
use crate::lab::Variation;
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::faults::edit::{put, visit};

/// All of them.
pub(crate) fn variations() -> Vec<Variation> {
    [times(), responses(), leniency(), addresses(), results()].into_iter().flatten().collect()
}

fn times() -> Vec<Variation> {
    let respelt = |id, decides, how: fn(&str) -> String| {
        Variation::success(id, decides, move |_, _, reply| {
            reply.edit(|body| {
                for name in ["createdAt", "updatedAt", "expiresAt", "activatedAt"] {
                    visit(body, &format!("/data/items/*/{name}"), &mut |time| {
                        if let Some(text) = time.as_str() {
                            *time = json!(how(text));
                        }
                    });
                }
            });
        })
    };
    vec![
        respelt("times.with-zero-offset", "Times have the offset `+00:00` in place of `Z`.", |text| {
            text.replace('Z', "+00:00")
        }),
        respelt("times.in-another-zone", "Times have the offset `-09:00`.", |text| {
            let parsed: Result<jiff::Timestamp, _> = text.parse();
            parsed.map_or_else(
                |_| text.to_owned(),
                |time| time.display_with_offset(jiff::tz::offset(-9)).to_string(),
            )
        }),
        respelt("times.with-nanoseconds", "Times have nine digits after the second.", |text| {
            let parsed: Result<jiff::Timestamp, _> = text.parse();
            parsed.map_or_else(|_| text.to_owned(), |time| format!("{time:.9}"))
        }),
        respelt("times.in-small-letters", "Times are written with small `t` and `z`.", str::to_lowercase),
    ]
}

fn responses() -> Vec<Variation> {
    vec![
        Variation::success(
            "static.more-fields",
            "Responses of the static operations have further fields at every level.",
            |context, seen, reply| {
                if is_static(context, seen) {
                    reply.edit(|body| {
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
                    });
                }
            },
        ),
        Variation::success(
            "static.members-in-other-order",
            "The members of JSON objects come in the opposite order.",
            |_, _, reply| reply.edit(reverse_members),
        ),
        Variation::success(
            "static.empty-message",
            "`message` of the static operations is empty.",
            |context, seen, reply| {
                if is_static(context, seen) {
                    reply.edit(|body| body["message"] = json!(""));
                }
            },
        ),
        Variation::success(
            "static.says-how-long-it-took",
            "Responses of the static operations have a field `tookMs`, whose value changes.",
            |context, seen, reply| {
                if is_static(context, seen) {
                    let took = context.memory.calls() * 7_919 % 3;
                    reply.edit(|body| body["tookMs"] = json!(took));
                }
            },
        ),
        Variation::success(
            "static.no-capabilities",
            "`capabilities` of each instance is an empty object.",
            |_, _, reply| {
                reply.edit(|body| visit(body, "/data/items/*/capabilities", &mut |found| *found = json!({})));
            },
        ),
        Variation::success(
            "static.code-with-fraction",
            "The success code of the static operations is written as `200.0`.",
            |context, seen, reply| {
                if let Some(id) = context.operation(seen).filter(|id| *id != OperationId::Extract) {
                    let code = context.contract.operation(id).success.code;
                    reply.edit(|body| body["code"] = json!(code as f64));
                }
            },
        ),
    ]
}

fn leniency() -> Vec<Variation> {
    vec![
        Variation::request(
            "static.unknown-parameters-ignored",
            "Unknown parameters of the static operations are ignored.",
            |context, seen| {
                let name = &context.contract.search.api_key.name;
                if is_static(context, seen) {
                    let mut params = seen.params();
                    params.retain(|(known, _)| known == name);
                    seen.set_params(&params);
                }
            },
        ),
        Variation::request(
            "search.unknown-fields-ignored",
            "Unknown fields in the body of a search are ignored.",
            |context, seen| {
                let known = context.contract.search.properties().map(|property| property.name.clone());
                in_body(context, seen, |body| body.retain(|name, _| known.contains(name)));
            },
        ),
        Variation::request(
            "search.null-is-absent",
            "An optional field that is null counts as absent.",
            |context, seen| {
                let ips = &context.contract.search.ips.name;
                in_body(context, seen, |body| body.retain(|name, value| name == ips || !value.is_null()));
            },
        ),
        Variation::request(
            "search.empty-filter-is-absent",
            "A filter that is an empty text counts as absent.",
            |context, seen| {
                let search = &context.contract.search;
                let is_filter = |name: &str| {
                    ![&search.page.name, &search.page_size.name].iter().any(|page| *page == name)
                };
                in_body(context, seen, |body| body.retain(|name, value| value != "" || !is_filter(name)));
            },
        ),
        Variation::request(
            "search.whole-number-with-fraction",
            "A number such as `2.0` is accepted as the integer 2.",
            |context, seen| {
                in_body(context, seen, |body| {
                    for value in body.values_mut() {
                        let whole = value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0);
                        if let Some(number) = whole.filter(|number| number.abs() < 1e15) {
                            *value = json!(number as i64);
                        }
                    }
                });
            },
        ),
        Variation::request(
            "search.any-content-type",
            "A search is accepted with any `Content-Type`, or with none.",
            |context, seen| {
                if is_search(context, seen) {
                    seen.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                }
            },
        ),
        Variation::request(
            "search.letter-case-of-country",
            "`countryCode` matches in small letters, too.",
            |context, seen| {
                let name = &context.contract.search.country_code.name;
                in_body(context, seen, |body| {
                    if let Some(country) = body.get_mut(name) {
                        *country = country
                            .as_str()
                            .map_or_else(|| country.clone(), |text| json!(text.to_uppercase()));
                    }
                });
            },
        ),
        Variation::request(
            "static.token-by-header",
            "The static operations accept the token in the header `X-API-Key`, too.",
            |context, seen| {
                let extract = &context.contract.extract;
                let header =
                    seen.headers.get(extract.api_key_header.as_str()).and_then(|value| value.to_str().ok());
                let token = header.map(str::to_owned);
                if let Some(token) =
                    token.filter(|_| is_static(context, seen) && seen.param(&extract.api_key.name).is_none())
                {
                    seen.set_param(&extract.api_key.name, &token);
                }
            },
        ),
        Variation::request(
            "static.link-credentials-accepted",
            "The static operations accept link credentials.",
            |context, seen| {
                let link = context.facts.link_credential.as_ref().map(|link| link.expose().to_owned());
                if is_static(context, seen)
                    && link.is_some()
                    && seen.param(&context.contract.extract.api_key.name) == link
                {
                    context.as_main(seen);
                }
            },
        ),
    ]
}

fn addresses() -> Vec<Variation> {
    let items = |id, decides, how: fn(&str) -> String| {
        Variation::request(id, decides, move |context, seen| {
            let name = context.contract.search.ips.name.clone();
            in_body(context, seen, |body| {
                for item in body.get_mut(&name).and_then(Value::as_array_mut).into_iter().flatten() {
                    if let Some(text) = item.as_str() {
                        *item = json!(how(text));
                    }
                }
            });
        })
    };
    let spelt = |id, decides, how: fn(Ipv6Addr) -> String| {
        Variation::success(id, decides, move |_, _, reply| {
            reply.edit(|body| {
                visit(body, "/data/items/*/ip", &mut |ip| {
                    if let Some(address) = ip.as_str().and_then(|text| text.parse().ok()) {
                        *ip = json!(how(address));
                    }
                });
            });
        })
    };
    vec![
        items(
            "addresses.brackets-without-port",
            "`[IPv6]` without a port is accepted in a search.",
            |text| text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text).to_owned(),
        ),
        items("addresses.spaces-trimmed", "Spaces around an address are ignored in a search.", |text| {
            text.trim().to_owned()
        }),
        items(
            "addresses.leading-zeros",
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
            },
        ),
        items("addresses.mapped-are-ipv4", "An IPv4-mapped IPv6 address means the IPv4 address.", |text| {
            match text.parse() {
                Ok(IpAddr::V6(address)) => {
                    address.to_ipv4_mapped().map_or_else(|| text.to_owned(), |address| address.to_string())
                }
                _ => text.to_owned(),
            }
        }),
        spelt("addresses.in-full", "IPv6 addresses are returned in full, without `::`.", |address| {
            address.segments().map(|segment| format!("{segment:04x}")).join(":")
        }),
        spelt("addresses.in-capitals", "IPv6 addresses are returned in capitals.", |address| {
            address.to_string().to_uppercase()
        }),
    ]
}

fn results() -> Vec<Variation> {
    vec![
        Variation::serve(
            "search.descending",
            "Search results come in descending order of their ids.",
            |context, seen| descending(context, seen),
        )
        .consistent(),
        Variation::serve(
            "search.page-past-end-rejected",
            "A page after the last one is rejected with HTTP status 404.",
            |context, seen| {
                Box::pin(async move {
                    let reply = context.upstream.call(&seen).await;
                    let data = &reply.json()["data"];
                    let past = data["items"] == json!([]) && data["page"].as_i64() > Some(1);
                    if is_search(context, &seen) && context.accepted(&seen, &reply) && past {
                        return Reply::json_with(404, &json!({"code": 40400, "message": "no such page"}));
                    }
                    reply
                })
            },
        ),
        Variation::serve(
            "search.page-past-end-rejected-within-200",
            "A page after the last one is rejected with HTTP status 200 and the code 1404.",
            |context, seen| {
                Box::pin(async move {
                    let reply = context.upstream.call(&seen).await;
                    let data = &reply.json()["data"];
                    let past = data["items"] == json!([]) && data["page"].as_i64() > Some(1);
                    if is_search(context, &seen) && context.accepted(&seen, &reply) && past {
                        return Reply::json_with(200, &json!({"code": 1404, "message": "no such page"}));
                    }
                    reply
                })
            },
        ),
        Variation::request(
            "search.orders-not-held-rejected",
            "An order that is not the caller's is rejected in place of finding nothing.",
            |context, seen| {
                let order = seen.json()[&context.contract.search.order_no.name].as_str().map(str::to_owned);
                let held = |order: &String| context.facts.orders.iter().any(|held| held.number == *order);
                if is_search(context, seen) && order.is_some_and(|order| !held(&order)) {
                    context.reject(seen);
                }
            },
        )
        .consistent(),
        Variation::serve(
            "search.groups-not-held-rejected",
            "A group that is not the caller's is rejected in place of finding nothing.",
            |context, seen| {
                Box::pin(async move {
                    let mut seen = seen;
                    let group = seen.json()[&context.contract.search.group_id.name]
                        .as_i64()
                        .filter(|group| *group > 0);
                    if let Some(group) = group.filter(|_| is_search(context, &seen)) {
                        let groups = &context.contract.groups.operation;
                        let listing = ProxiedRequest {
                            method: hyper::Method::GET,
                            path: groups.path.clone(),
                            query: seen.query.clone(),
                            headers: hyper::HeaderMap::new(),
                            body: bytes::Bytes::new(),
                        };
                        let listing = context.upstream.call(&listing).await.json();
                        let held = listing["data"]["items"].as_array().into_iter().flatten();
                        if !held.into_iter().any(|held| held["groupId"] == json!(group)) {
                            context.reject(&mut seen);
                        }
                    }
                    context.upstream.call(&seen).await
                })
            },
        )
        .consistent(),
    ]
}

/// Responses with the instances in the opposite order, page by page.
fn descending<'a>(context: &'a Context, seen: ProxiedRequest) -> BoxFuture<'a, Reply> {
    Box::pin(async move {
        let mut reply = context.upstream.call(&seen).await;
        if !is_search(context, &seen) || !context.accepted(&seen, &reply) {
            return reply;
        }
        let search = &context.contract.search;
        let mut all = Vec::new();
        let size = *search.page_sizes.end();
        for page in *search.pages.start().. {
            let mut next = seen.clone();
            next.edit(|body| {
                body.insert(search.page.name.clone(), json!(page));
                body.insert(search.page_size.name.clone(), json!(size));
            });
            let items = context.upstream.call(&next).await.json()["data"]["items"].take();
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

fn is_search(context: &Context, seen: &ProxiedRequest) -> bool {
    context.operation(seen) == Some(OperationId::Search)
}

fn is_static(context: &Context, seen: &ProxiedRequest) -> bool {
    context.operation(seen).is_some_and(|operation| operation != OperationId::Extract)
}

fn in_body(context: &Context, seen: &mut ProxiedRequest, change: impl FnOnce(&mut Map<String, Value>)) {
    if is_search(context, seen) {
        seen.edit(change);
    }
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
