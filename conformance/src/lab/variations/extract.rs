//! Variations in extraction.

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use crate::lab::exchange::Reply;
use crate::lab::faults::condition::{num, of_empty_region, request_id};
use crate::lab::faults::separator;
use crate::lab::{Call, Variation};

const HEADERS: [&str; 3] = ["x-proxy-requested-count", "x-proxy-returned-count", "x-proxy-partial"];

pub(crate) fn variations() -> Vec<Variation> {
    [text(), results(), parameters()].into_iter().flatten().collect()
}

fn text() -> Vec<Variation> {
    let entries = |id, decides, form: fn(&str) -> String| {
        Variation::new(id, decides).success(move |call, reply| {
            if call.wants_text() {
                let separator = separator(call);
                let text = String::from_utf8_lossy(&reply.body).into_owned();
                let entries: Vec<String> = text.split(&separator).map(form).collect();
                reply.body = entries.join(&separator).into();
            }
        })
    };
    variations_of![
        "extract.",
        variation("text-with-trailing-separator", "A text response ends with its separator.").success(
            |call, reply| {
                if call.wants_text() {
                    let text = String::from_utf8_lossy(&reply.body).into_owned();
                    reply.body = format!("{text}{}", separator(call)).into();
                }
            }
        ),
        variation("text-in-other-charset", "A text response declares the charset `us-ascii`.").success(
            |call, reply| {
                if call.wants_text() {
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
        Variation::new(id, decides).reply(move |_, reply| {
            if reply.status == StatusCode::SERVICE_UNAVAILABLE {
                *reply = shortage();
            }
        })
    };
    variations_of![
        "extract.",
        variation(
            "full-result-without-headers",
            "A full result has no `X-Proxy` headers; only a partial one has them."
        )
        .success(|_, reply| {
            let flag = reply.headers.get("x-proxy-partial").and_then(|value| value.to_str().ok());
            if flag != Some("true") {
                for name in HEADERS {
                    reply.headers.remove(name);
                }
            }
        }),
        variation("flag-as-number", "`X-Proxy-Partial` is `1` or `0`.")
            .success(|_, reply| { respell(reply, "1", "0") }),
        variation("flag-as-word", "`X-Proxy-Partial` is `YES` or `NO`.")
            .success(|_, reply| { respell(reply, "YES", "NO") }),
        variation("flag-as-partial", "`X-Proxy-Partial` is `partial` or `full`.")
            .success(|_, reply| respell(reply, "partial", "full")),
        variation(
            "shortage-instead-of-partial",
            "Too few gateways are a shortage with `Retry-After`; there are no partial results."
        )
        .reply(|_, reply| {
            let flag = reply.headers.get("x-proxy-partial").and_then(|value| value.to_str().ok());
            if flag == Some("true") {
                *reply = shortage(503, 50301);
            }
        }),
        instead("shortage-within-200", "A shortage has HTTP status 200 and the business code 1001.", || {
            shortage(200, 1001)
        }),
        instead("shortage-as-429", "A shortage has HTTP status 429.", || shortage(429, 42900)),
        instead("shortage-as-404", "A shortage has HTTP status 404.", || shortage(404, 40400)),
        variation(
            "always-partial",
            "A region without gateways gives a partial result of none, not a shortage."
        )
        .serve(|call| {
            Box::pin(async move {
                // An empty region gives an empty result that says so.
                let reply = call.send().await;
                let short = reply.status == StatusCode::SERVICE_UNAVAILABLE;
                if !short || !of_empty_region(&call) {
                    return reply;
                }
                let body =
                    json!({"code": 0, "success": true, "msg": "none", "data": [], "request_ip": "127.0.0.1"});
                let mut reply = Reply::json_with(200, &body);
                if call.wants_text() {
                    reply.body = bytes::Bytes::new();
                }
                let asked = num(&call).unwrap_or_default();
                for (name, value) in
                    HEADERS.into_iter().zip([asked.to_string(), "0".to_owned(), "true".to_owned()])
                {
                    reply.set_header(name, &value);
                }
                reply.headers.insert("retry-after", HeaderValue::from_static("30"));
                reply
            })
        }),
        variation(
            "one-gateway-for-all",
            "Every entry of an extraction is the same gateway, which chooses the exit itself."
        )
        .success(|call, reply| {
            if !call.wants_text() {
                reply.edit(|body| {
                    for entry in body["data"].as_array_mut().into_iter().flatten() {
                        *entry = json!({"ip": "gw.proxy.invalid", "port": 20_000});
                    }
                });
            }
        }),
        variation(
            "other-order-each-time",
            "Every second extraction lists its gateways in the opposite order."
        )
        .success(|call, reply| {
            if call.memory.calls() % 2 == 1 {
                reply.edit(|body| {
                    if let Some(entries) = body["data"].as_array_mut() {
                        entries.reverse();
                    }
                });
            }
        }),
        variation("empty-msg", "`msg` of an extraction is empty.").success(|_, reply| {
            reply.edit(|body| body["msg"] = json!(""));
        }),
        variation(
            "more-fields",
            "An extraction and its entries have further fields, such as a country, an expiry and a total."
        )
        .success(|_, reply| {
            reply.edit(|body| {
                for entry in body["data"].as_array_mut().into_iter().flatten() {
                    entry["countryCode"] = json!("USA");
                    entry["expireTime"] = Value::Null;
                }
                body["requestId"] = json!("r");
                body["total"] = json!(1);
            });
        }),
        variation("code-with-fraction", "The success code of an extraction is written as `0.0`.").success(
            |_, reply| {
                reply.edit(|body| body["code"] = json!(0.0));
            }
        ),
    ]
}

fn parameters() -> Vec<Variation> {
    variations_of![
        "extract.",
        variation(
            "first-of-repeated-parameters",
            "Of a parameter that is sent several times, the first value counts."
        )
        .request(|call| {
            let mut known = Vec::new();
            let mut params = call.params();
            params.retain(|(name, _)| {
                let first = !known.contains(name);
                known.push(name.clone());
                first
            });
            call.set_params(&params);
        }),
        variation("empty-parameters-ignored", "An optional parameter without a value counts as absent.")
            .request(|call| {
                let extract = &call.contract.extract;
                if !custom(call) {
                    let optional = [
                        &extract.regions,
                        &extract.country,
                        &extract.protocol,
                        &extract.return_type,
                        &extract.lb,
                        &extract.sb,
                        &extract.request_id,
                    ];
                    let mut params = call.params();
                    params.retain(|(name, value)| {
                        !value.is_empty() || optional.iter().all(|known| known.name != *name)
                    });
                    call.set_params(&params);
                }
            }),
        variation("unused-separator-ignored", "`lb` and `sb` are not looked at where they do not apply.")
            .request(|call| {
                let extract = &call.contract.extract;
                if !call.wants_text() {
                    call.drop_param(&extract.lb.name);
                    call.drop_param(&extract.sb.name);
                } else if !custom(call) {
                    call.drop_param(&extract.sb.name);
                }
            }),
        variation("unknown-parameters-ignored", "Unknown parameters of an extraction are ignored.").request(
            |call| {
                let extract = &call.contract.extract;
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
                let mut params = call.params();
                params.retain(|(name, _)| known.iter().any(|known| known.name == *name));
                call.set_params(&params);
            }
        ),
        variation(
            "first-answer-of-a-request-id",
            "A known request id returns its first response, whatever the other parameters are."
        )
        .serve(|call| {
            Box::pin(async move {
                // A known id gives its first response, whatever else is asked; an id is the account's own.
                let Some(id) = request_id(&call) else {
                    return call.send().await;
                };
                let accounts = crate::lab::faults::credentials(&call);
                let key = format!("{id} {accounts:?} {}", call.wants_text());
                let reply = call.send().await;
                if reply.status != StatusCode::CONFLICT && !call.accepted(&reply) {
                    return reply;
                }
                if let Some(first) = call.memory.recall(&key) {
                    return first;
                }
                call.memory.keep(&key, &reply);
                reply
            })
        }),
        variation("unknown-region-is-global", "An unknown region means the default region.").request(
            |call| {
                take_default_for_unknown(call);
            }
        ),
        variation(
            "unknown-region-is-empty",
            "An unknown region gives a success without gateways, and nothing says more."
        )
        .serve(|mut call| {
            Box::pin(async move {
                let is_unknown = take_default_for_unknown(&mut call);
                let mut reply = call.send().await;
                if !is_unknown || !call.accepted(&reply) {
                    return reply;
                }
                for name in HEADERS {
                    reply.headers.remove(name);
                }
                match call.wants_text() {
                    true => reply.body = bytes::Bytes::new(),
                    false => reply.edit(|body| body["data"] = json!([])),
                }
                reply
            })
        }),
    ]
}

/// Asks for the default region where an unknown one is named; says whether it was.
fn take_default_for_unknown(call: &mut Call<'_>) -> bool {
    let (extract, facts) = (&call.contract.extract, &call.facts);
    let default = extract.regions.schema.default.as_ref().and_then(Value::as_str).unwrap_or_default();
    let regions = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region];
    let pools = facts.known_gateways.iter().map(|pool| &pool.region);
    let known: Vec<&str> =
        regions.into_iter().flatten().chain(pools).map(String::as_str).chain([default]).collect();
    let mut is_unknown = false;
    for name in [&extract.regions.name, &extract.country.name] {
        let names_unknown = call.param(name).is_some_and(|sent| !known.contains(&sent.as_str()));
        if names_unknown && call.params().len() > 1 {
            call.set_param(name, default);
            is_unknown = true;
        }
    }
    is_unknown
}

fn custom(call: &Call<'_>) -> bool {
    let extract = &call.contract.extract;
    call.param(&extract.lb.name).as_ref() == Some(&extract.custom_separator)
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
