//! Variations in extraction.

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
            if context.wants_text(seen) {
                let separator = separator(context, seen);
                let text = String::from_utf8_lossy(&reply.body).into_owned();
                let entries: Vec<String> = text.split(&separator).map(form).collect();
                reply.body = entries.join(&separator).into();
            }
        })
    };
    variations_of![
        "extract.",
        success(
            "text-with-trailing-separator",
            "A text response ends with its separator.",
            |context, seen, reply| {
                if context.wants_text(seen) {
                    let text = String::from_utf8_lossy(&reply.body).into_owned();
                    reply.body = format!("{text}{}", separator(context, seen)).into();
                }
            }
        ),
        success(
            "text-in-other-charset",
            "A text response declares the charset `us-ascii`.",
            |context, seen, reply| {
                if context.wants_text(seen) {
                    reply
                        .headers
                        .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=us-ascii"));
                }
            }
        ),
        entries(
            "text-entries-as-urls",
            "An entry of a text response is a URL with the scheme `http`.",
            |entry| format!("http://{entry}")
        ),
        entries(
            "text-entries-in-three-parts",
            "An entry of a text response is host, port and region, divided by `:`.",
            |entry| format!("{entry}:USA")
        ),
        entries("text-entries-with-comma", "An entry of a text response is host, comma, port.", |entry| {
            entry.replace(':', ",")
        }),
    ]
}

fn results() -> Vec<Variation> {
    let instead = |id, decides, shortage: fn() -> Reply| {
        Variation::reply(id, decides, move |_, _, reply| {
            if reply.status == StatusCode::SERVICE_UNAVAILABLE {
                *reply = shortage();
            }
        })
    };
    variations_of![
        "extract.",
        success(
            "full-result-without-headers",
            "A full result has no `X-Proxy` headers; only a partial one has them.",
            |_, _, reply| {
                let flag = reply.headers.get("x-proxy-partial").and_then(|value| value.to_str().ok());
                if flag != Some("true") {
                    for name in HEADERS {
                        reply.headers.remove(name);
                    }
                }
            }
        ),
        success("flag-as-number", "`X-Proxy-Partial` is `1` or `0`.", |_, _, reply| {
            respell(reply, "1", "0")
        }),
        success("flag-as-word", "`X-Proxy-Partial` is `YES` or `NO`.", |_, _, reply| {
            respell(reply, "YES", "NO")
        }),
        success("flag-as-partial", "`X-Proxy-Partial` is `partial` or `full`.", |_, _, reply| respell(
            reply, "partial", "full"
        )),
        reply(
            "shortage-instead-of-partial",
            "Too few gateways are a shortage with `Retry-After`; there are no partial results.",
            |_, _, reply| {
                let flag = reply.headers.get("x-proxy-partial").and_then(|value| value.to_str().ok());
                if flag == Some("true") {
                    *reply = shortage(503, 50301);
                }
            }
        ),
        instead("shortage-within-200", "A shortage has HTTP status 200 and the business code 1001.", || {
            shortage(200, 1001)
        }),
        instead("shortage-as-429", "A shortage has HTTP status 429.", || shortage(429, 42900)),
        instead("shortage-as-404", "A shortage has HTTP status 404.", || shortage(404, 40400)),
        serve(
            "always-partial",
            "A region without gateways gives a partial result of none, not a shortage.",
            |context, seen| {
                Box::pin(async move {
                    // An empty region gives an empty result that says so.
                    let reply = context.upstream.call(&seen).await;
                    let short = reply.status == StatusCode::SERVICE_UNAVAILABLE;
                    if !short || !of_empty_region(context, &seen) {
                        return reply;
                    }
                    let body = json!({"code": 0, "success": true, "msg": "none", "data": [], "request_ip": "127.0.0.1"});
                    let mut reply = Reply::json_with(200, &body);
                    if context.wants_text(&seen) {
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
            }
        ),
        success(
            "one-gateway-for-all",
            "Every entry of an extraction is the same gateway, which chooses the exit itself.",
            |context, seen, reply| {
                if !context.wants_text(seen) {
                    reply.edit(|body| {
                        for entry in body["data"].as_array_mut().into_iter().flatten() {
                            *entry = json!({"ip": "gw.proxy.invalid", "port": 20_000});
                        }
                    });
                }
            }
        ),
        success(
            "other-order-each-time",
            "Every second extraction lists its gateways in the opposite order.",
            |context, _, reply| {
                if context.memory.calls() % 2 == 1 {
                    reply.edit(|body| {
                        if let Some(entries) = body["data"].as_array_mut() {
                            entries.reverse();
                        }
                    });
                }
            }
        ),
        success("empty-msg", "`msg` of an extraction is empty.", |_, _, reply| {
            reply.edit(|body| body["msg"] = json!(""));
        }),
        success(
            "more-fields",
            "An extraction and its entries have further fields, such as a country, an expiry and a total.",
            |_, _, reply| {
                reply.edit(|body| {
                    for entry in body["data"].as_array_mut().into_iter().flatten() {
                        entry["countryCode"] = json!("USA");
                        entry["expireTime"] = Value::Null;
                    }
                    body["requestId"] = json!("r");
                    body["total"] = json!(1);
                });
            }
        ),
        success(
            "code-with-fraction",
            "The success code of an extraction is written as `0.0`.",
            |_, _, reply| {
                reply.edit(|body| body["code"] = json!(0.0));
            }
        ),
    ]
}

fn parameters() -> Vec<Variation> {
    variations_of![
        "extract.",
        request(
            "first-of-repeated-parameters",
            "Of a parameter that is sent several times, the first value counts.",
            |_, seen| {
                let mut known = Vec::new();
                let mut params = seen.params();
                params.retain(|(name, _)| {
                    let first = !known.contains(name);
                    known.push(name.clone());
                    first
                });
                seen.set_params(&params);
            }
        ),
        request(
            "empty-parameters-ignored",
            "An optional parameter without a value counts as absent.",
            |context, seen| {
                let extract = &context.contract.extract;
                if !custom(context, seen) {
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
            }
        ),
        request(
            "unused-separator-ignored",
            "`lb` and `sb` are not looked at where they do not apply.",
            |context, seen| {
                let extract = &context.contract.extract;
                if !context.wants_text(seen) {
                    seen.drop_param(&extract.lb.name);
                    seen.drop_param(&extract.sb.name);
                } else if !custom(context, seen) {
                    seen.drop_param(&extract.sb.name);
                }
            }
        ),
        request(
            "unknown-parameters-ignored",
            "Unknown parameters of an extraction are ignored.",
            |context, seen| {
                let extract = &context.contract.extract;
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
        ),
        serve(
            "first-answer-of-a-request-id",
            "A known request id returns its first response, whatever the other parameters are.",
            |context, seen| {
                Box::pin(async move {
                    // A known id gives its first response, whatever else is asked; an id is the account's own.
                    let Some(id) = request_id(context, &seen) else {
                        return context.upstream.call(&seen).await;
                    };
                    let accounts = crate::lab::faults::credentials(context, &seen);
                    let key = format!("{id} {accounts:?} {}", context.wants_text(&seen));
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
            }
        ),
        request(
            "unknown-region-is-global",
            "An unknown region means the default region.",
            |context, seen| {
                take_default_for_unknown(context, seen);
            }
        ),
        serve(
            "unknown-region-is-empty",
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
                    match context.wants_text(&seen) {
                        true => reply.body = bytes::Bytes::new(),
                        false => reply.edit(|body| body["data"] = json!([])),
                    }
                    reply
                })
            }
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
        if names_unknown && seen.params().len() > 1 {
            seen.set_param(name, default);
            is_unknown = true;
        }
    }
    is_unknown
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
