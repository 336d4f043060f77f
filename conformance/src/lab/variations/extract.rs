//! Variations in extraction.

use crate::contract::OperationId;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use crate::lab::Context;
use crate::lab::Variation;
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::faults::condition::{num, of_empty_region, request_id};
use crate::lab::faults::separator;

const HEADERS: [&str; 3] = ["x-proxy-requested-count", "x-proxy-returned-count", "x-proxy-partial"];

/// All of them.
pub(crate) fn variations() -> Vec<Variation> {
    [text(), results(), parameters()].into_iter().flatten().collect()
}

fn text() -> Vec<Variation> {
    let entries = |id, decides, form: fn(&str) -> String| {
        Variation::success(id, decides, move |context, seen, reply| {
            if is_text(context, seen) {
                let separator = separator(context, seen);
                let text = String::from_utf8_lossy(&reply.body).into_owned();
                let entries: Vec<String> = text.split(&separator).map(form).collect();
                reply.body = entries.join(&separator).into();
            }
        })
    };
    vec![
        Variation::success(
            "extract.text-with-trailing-separator",
            "A text response ends with its separator.",
            |context, seen, reply| {
                if is_text(context, seen) {
                    let text = String::from_utf8_lossy(&reply.body).into_owned();
                    reply.body = format!("{text}{}", separator(context, seen)).into();
                }
            },
        ),
        Variation::success(
            "extract.text-in-other-charset",
            "A text response declares the charset `us-ascii`.",
            |context, seen, reply| {
                if is_text(context, seen) {
                    reply
                        .headers
                        .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=us-ascii"));
                }
            },
        ),
        entries(
            "extract.text-entries-as-urls",
            "An entry of a text response is a URL with the scheme `http`.",
            |entry| format!("http://{entry}"),
        ),
        entries(
            "extract.text-entries-in-three-parts",
            "An entry of a text response is host, port and region, divided by `:`.",
            |entry| format!("{entry}:USA"),
        ),
        entries(
            "extract.text-entries-with-comma",
            "An entry of a text response is host, comma, port.",
            |entry| entry.replace(':', ","),
        ),
    ]
}

fn results() -> Vec<Variation> {
    vec![
        Variation::success(
            "extract.full-result-without-headers",
            "A full result has no `X-Proxy` headers; only a partial one has them.",
            |context, seen, reply| {
                let flag = reply.headers.get("x-proxy-partial").and_then(|value| value.to_str().ok());
                if is_extract(context, seen) && flag != Some("true") {
                    for name in HEADERS {
                        reply.headers.remove(name);
                    }
                }
            },
        ),
        Variation::success("extract.flag-as-number", "`X-Proxy-Partial` is `1` or `0`.", |_, _, reply| {
            respell(reply, "1", "0")
        }),
        Variation::success("extract.flag-as-word", "`X-Proxy-Partial` is `YES` or `NO`.", |_, _, reply| {
            respell(reply, "YES", "NO")
        }),
        Variation::success(
            "extract.flag-as-partial",
            "`X-Proxy-Partial` is `partial` or `full`.",
            |_, _, reply| respell(reply, "partial", "full"),
        ),
        Variation::reply(
            "extract.shortage-instead-of-partial",
            "Too few gateways are a shortage with `Retry-After`; there are no partial results.",
            |context, seen, reply| {
                let flag = reply.headers.get("x-proxy-partial").and_then(|value| value.to_str().ok());
                if is_extract(context, seen) && flag == Some("true") {
                    *reply = shortage(503, 50301);
                }
            },
        ),
        Variation::reply(
            "extract.shortage-within-200",
            "A shortage has HTTP status 200 and the business code 1001.",
            |context, seen, reply| {
                if is_extract(context, seen) && reply.status == StatusCode::SERVICE_UNAVAILABLE {
                    *reply = shortage(200, 1001);
                }
            },
        ),
        Variation::reply(
            "extract.shortage-as-429",
            "A shortage has HTTP status 429.",
            |context, seen, reply| {
                if is_extract(context, seen) && reply.status == StatusCode::SERVICE_UNAVAILABLE {
                    *reply = shortage(429, 42900);
                }
            },
        ),
        Variation::reply(
            "extract.shortage-as-404",
            "A shortage has HTTP status 404.",
            |context, seen, reply| {
                if is_extract(context, seen) && reply.status == StatusCode::SERVICE_UNAVAILABLE {
                    *reply = shortage(404, 40400);
                }
            },
        ),
        Variation::serve(
            "extract.always-partial",
            "A region without gateways gives a partial result of none, not a shortage.",
            |context, seen| {
                Box::pin(async move {
                    // An empty region gives an empty result that says so.
                    let reply = context.upstream.call(&seen).await;
                    let short = is_extract(context, &seen) && reply.status == StatusCode::SERVICE_UNAVAILABLE;
                    if !short || !of_empty_region(context, &seen) {
                        return reply;
                    }
                    let body = json!({"code": 0, "success": true, "msg": "none", "data": [], "request_ip": "127.0.0.1"});
                    let mut reply = Reply::json_with(200, &body);
                    if is_text(context, &seen) {
                        reply.body = bytes::Bytes::new();
                    }
                    let asked = num(context, &seen).unwrap_or_default();
                    for (name, value) in
                        HEADERS.into_iter().zip([asked.to_string(), "0".to_owned(), "true".to_owned()])
                    {
                        reply.set_header(name, &value);
                    }
                    reply.headers.insert("retry-after", HeaderValue::from_static("30"));
                    reply
                })
            },
        ),
        Variation::success(
            "extract.one-gateway-for-all",
            "Every entry of an extraction is the same gateway, which chooses the exit itself.",
            |context, seen, reply| {
                if is_extract(context, seen) && !is_text(context, seen) {
                    reply.edit(|body| {
                        for entry in body["data"].as_array_mut().into_iter().flatten() {
                            *entry = json!({"ip": "gw.proxy.invalid", "port": 20_000});
                        }
                    });
                }
            },
        ),
        Variation::success(
            "extract.other-order-each-time",
            "Every second extraction lists its gateways in the opposite order.",
            |context, seen, reply| {
                if is_extract(context, seen) && context.memory.calls() % 2 == 1 {
                    reply.edit(|body| {
                        if let Some(entries) = body["data"].as_array_mut() {
                            entries.reverse();
                        }
                    });
                }
            },
        ),
        Variation::success(
            "extract.empty-msg",
            "`msg` of an extraction is empty.",
            |context, seen, reply| {
                if is_extract(context, seen) {
                    reply.edit(|body| body["msg"] = json!(""));
                }
            },
        ),
        Variation::success(
            "extract.more-fields",
            "An extraction and its entries have further fields, such as a country, an expiry and a total.",
            |context, seen, reply| {
                if is_extract(context, seen) {
                    reply.edit(|body| {
                        for entry in body["data"].as_array_mut().into_iter().flatten() {
                            entry["countryCode"] = json!("USA");
                            entry["expireTime"] = Value::Null;
                        }
                        body["requestId"] = json!("r");
                        body["total"] = json!(1);
                    });
                }
            },
        ),
        Variation::success(
            "extract.code-with-fraction",
            "The success code of an extraction is written as `0.0`.",
            |context, seen, reply| {
                if is_extract(context, seen) {
                    reply.edit(|body| body["code"] = json!(0.0));
                }
            },
        ),
    ]
}

fn parameters() -> Vec<Variation> {
    vec![
        Variation::request(
            "extract.first-of-repeated-parameters",
            "Of a parameter that is sent several times, the first value counts.",
            |context, seen| {
                if is_extract(context, seen) {
                    let mut known = Vec::new();
                    let mut params = seen.params();
                    params.retain(|(name, _)| {
                        let first = !known.contains(name);
                        known.push(name.clone());
                        first
                    });
                    seen.set_params(&params);
                }
            },
        ),
        Variation::request(
            "extract.empty-parameters-ignored",
            "An optional parameter without a value counts as absent.",
            |context, seen| {
                let extract = &context.contract.extract;
                if is_extract(context, seen) && !custom(context, seen) {
                    let optional = [
                        &extract.regions,
                        &extract.country,
                        &extract.protocol,
                        &extract.return_type,
                        &extract.lb,
                        &extract.sb,
                        &extract.request_id,
                    ];
                    let mut params = seen.params();
                    params.retain(|(name, value)| {
                        !value.is_empty() || optional.iter().all(|known| known.name != *name)
                    });
                    seen.set_params(&params);
                }
            },
        ),
        Variation::request(
            "extract.unused-separator-ignored",
            "`lb` and `sb` are not looked at where they do not apply.",
            |context, seen| {
                let extract = &context.contract.extract;
                if is_extract(context, seen) && !is_text(context, seen) {
                    seen.drop_param(&extract.lb.name);
                    seen.drop_param(&extract.sb.name);
                } else if is_extract(context, seen) && !custom(context, seen) {
                    seen.drop_param(&extract.sb.name);
                }
            },
        ),
        Variation::request(
            "extract.unknown-parameters-ignored",
            "Unknown parameters of an extraction are ignored.",
            |context, seen| {
                let extract = &context.contract.extract;
                if is_extract(context, seen) {
                    let known = [
                        &extract.num,
                        &extract.regions,
                        &extract.country,
                        &extract.protocol,
                        &extract.return_type,
                        &extract.lb,
                        &extract.sb,
                        &extract.request_id,
                        &extract.api_key,
                    ];
                    let mut params = seen.params();
                    params.retain(|(name, _)| known.iter().any(|known| known.name == *name));
                    seen.set_params(&params);
                }
            },
        ),
        Variation::serve(
            "extract.first-answer-of-a-request-id",
            "A known request id returns its first response, whatever the other parameters are.",
            |context, seen| {
                Box::pin(async move {
                    // A known id gives its first response, whatever else is asked; an id is the account's own.
                    let Some(id) = request_id(context, &seen).filter(|_| is_extract(context, &seen)) else {
                        return context.upstream.call(&seen).await;
                    };
                    let accounts = crate::lab::faults::credentials(context, &seen);
                    let key = format!("{id} {accounts:?} {}", is_text(context, &seen));
                    let reply = context.upstream.call(&seen).await;
                    if reply.status != StatusCode::CONFLICT && !context.accepted(&seen, &reply) {
                        return reply;
                    }
                    if let Some(first) = context.memory.recall(&key) {
                        return first;
                    }
                    context.memory.keep(&key, &reply);
                    reply
                })
            },
        ),
        Variation::request(
            "extract.unknown-region-is-global",
            "An unknown region means the default region.",
            |context, seen| {
                take_default_for_unknown(context, seen);
            },
        ),
        Variation::serve(
            "extract.unknown-region-is-empty",
            "An unknown region gives a success without gateways, and nothing says more.",
            |context, mut seen| {
                Box::pin(async move {
                    let is_unknown = take_default_for_unknown(context, &mut seen);
                    let mut reply = context.upstream.call(&seen).await;
                    if !is_unknown || !context.accepted(&seen, &reply) {
                        return reply;
                    }
                    for name in HEADERS {
                        reply.headers.remove(name);
                    }
                    match is_text(context, &seen) {
                        true => reply.body = bytes::Bytes::new(),
                        false => reply.edit(|body| body["data"] = json!([])),
                    }
                    reply
                })
            },
        ),
    ]
}

/// Asks for the default region where an unknown one is named; says whether it was.
fn take_default_for_unknown(context: &Context, seen: &mut ProxiedRequest) -> bool {
    let (extract, facts) = (&context.contract.extract, &context.facts);
    let default = extract.regions.schema.default.as_ref().and_then(Value::as_str).unwrap_or_default();
    let regions = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region];
    let pools = facts.known_gateways.iter().map(|pool| &pool.region);
    let known: Vec<&str> =
        regions.into_iter().flatten().chain(pools).map(String::as_str).chain([default]).collect();
    let mut is_unknown = false;
    for name in [&extract.regions.name, &extract.country.name] {
        let names_unknown = seen.param(name).is_some_and(|sent| !known.contains(&sent.as_str()));
        if is_extract(context, seen) && names_unknown && seen.params().len() > 1 {
            seen.set_param(name, default);
            is_unknown = true;
        }
    }
    is_unknown
}

fn is_extract(context: &Context, seen: &ProxiedRequest) -> bool {
    context.operation(seen) == Some(OperationId::Extract)
}

fn is_text(context: &Context, seen: &ProxiedRequest) -> bool {
    is_extract(context, seen) && context.wants_text(seen)
}

fn custom(context: &Context, seen: &ProxiedRequest) -> bool {
    let extract = &context.contract.extract;
    seen.param(&extract.lb.name).as_ref() == Some(&extract.custom_separator)
}

fn respell(reply: &mut Reply, yes: &'static str, no: &'static str) {
    let flag = reply.headers.get("x-proxy-partial").and_then(|value| value.to_str().ok());
    let spelt = match flag {
        Some("true") => yes,
        Some(_) => no,
        None => return,
    };
    reply.headers.insert("x-proxy-partial", HeaderValue::from_static(spelt));
}

fn shortage(status: u16, code: i64) -> Reply {
    let mut reply = Reply::json_with(status, &json!({"code": code, "message": "too few gateways"}));
    reply.headers.insert("retry-after", HeaderValue::from_static("0"));
    reply
}
