//! Variations in extraction.

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use sallyport_conformance::contract::OperationId;
use serde_json::{Value, json};

use crate::fault::Scene;
use crate::faults::condition::{num, of_empty_region, request_id};
use crate::faults::separator;
use crate::proxy::{ProxiedRequest, Reply};
use crate::variation::Variation;

const HEADERS: [&str; 3] = ["x-proxy-requested-count", "x-proxy-returned-count", "x-proxy-partial"];

/// All of them.
pub fn variations() -> Vec<Variation> {
    [text(), results(), parameters()].into_iter().flatten().collect()
}

fn text() -> Vec<Variation> {
    let entries = |id, form: fn(&str) -> String| {
        Variation::success(id, move |scene, seen, reply| {
            if is_text(scene, seen) {
                let separator = separator(scene, seen);
                let text = String::from_utf8_lossy(&reply.body).into_owned();
                let entries: Vec<String> = text.split(&separator).map(form).collect();
                reply.body = entries.join(&separator).into();
            }
        })
    };
    vec![
        Variation::success("extract.text-with-trailing-separator", |scene, seen, reply| {
            if is_text(scene, seen) {
                let text = String::from_utf8_lossy(&reply.body).into_owned();
                reply.body = format!("{text}{}", separator(scene, seen)).into();
            }
        }),
        Variation::success("extract.text-in-other-charset", |scene, seen, reply| {
            if is_text(scene, seen) {
                reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=us-ascii"));
            }
        }),
        entries("extract.text-entries-as-urls", |entry| format!("http://{entry}")),
        entries("extract.text-entries-in-three-parts", |entry| format!("{entry}:USA")),
        entries("extract.text-entries-with-comma", |entry| entry.replace(':', ",")),
    ]
}

fn results() -> Vec<Variation> {
    vec![
        Variation::success("extract.full-result-without-headers", |scene, seen, reply| {
            let flag = reply.headers.get("x-proxy-partial").and_then(|value| value.to_str().ok());
            if is_extract(scene, seen) && flag != Some("true") {
                for name in HEADERS {
                    reply.headers.remove(name);
                }
            }
        }),
        Variation::success("extract.flag-as-number", |_, _, reply| respell(reply, "1", "0")),
        Variation::success("extract.flag-as-word", |_, _, reply| respell(reply, "YES", "NO")),
        Variation::success("extract.flag-as-partial", |_, _, reply| respell(reply, "partial", "full")),
        Variation::reply("extract.shortage-instead-of-partial", |scene, seen, reply| {
            let flag = reply.headers.get("x-proxy-partial").and_then(|value| value.to_str().ok());
            if is_extract(scene, seen) && flag == Some("true") {
                *reply = shortage(503, 50301);
            }
        }),
        Variation::reply("extract.shortage-within-200", |scene, seen, reply| {
            if is_extract(scene, seen) && reply.status == StatusCode::SERVICE_UNAVAILABLE {
                *reply = shortage(200, 1001);
            }
        }),
        Variation::reply("extract.shortage-as-429", |scene, seen, reply| {
            if is_extract(scene, seen) && reply.status == StatusCode::SERVICE_UNAVAILABLE {
                *reply = shortage(429, 42900);
            }
        }),
        Variation::reply("extract.shortage-as-404", |scene, seen, reply| {
            if is_extract(scene, seen) && reply.status == StatusCode::SERVICE_UNAVAILABLE {
                *reply = shortage(404, 40400);
            }
        }),
        Variation::serve("extract.always-partial", |scene, seen| {
            Box::pin(async move {
                // An empty region gives an empty result that says so.
                let reply = scene.upstream.call(&seen).await;
                let short = is_extract(scene, &seen) && reply.status == StatusCode::SERVICE_UNAVAILABLE;
                if !short || !of_empty_region(scene, &seen) {
                    return reply;
                }
                let body =
                    json!({"code": 0, "success": true, "msg": "none", "data": [], "request_ip": "127.0.0.1"});
                let mut reply = Reply::json_with(200, &body);
                if is_text(scene, &seen) {
                    reply.body = bytes::Bytes::new();
                }
                let asked = num(scene, &seen).unwrap_or_default();
                for (name, value) in
                    HEADERS.into_iter().zip([asked.to_string(), "0".to_owned(), "true".to_owned()])
                {
                    reply.headers.insert(name, HeaderValue::from_str(&value).expect("digits and letters"));
                }
                reply.headers.insert("retry-after", HeaderValue::from_static("30"));
                reply
            })
        }),
        Variation::success("extract.one-gateway-for-all", |scene, seen, reply| {
            if is_extract(scene, seen) && !is_text(scene, seen) {
                reply.edit(|body| {
                    for entry in body["data"].as_array_mut().into_iter().flatten() {
                        *entry = json!({"ip": "gw.proxy.invalid", "port": 20_000});
                    }
                });
            }
        }),
        Variation::success("extract.other-order-each-time", |scene, seen, reply| {
            if is_extract(scene, seen) && scene.memory.calls() % 2 == 1 {
                reply.edit(|body| {
                    if let Some(entries) = body["data"].as_array_mut() {
                        entries.reverse();
                    }
                });
            }
        }),
        Variation::success("extract.empty-msg", |scene, seen, reply| {
            if is_extract(scene, seen) {
                reply.edit(|body| body["msg"] = json!(""));
            }
        }),
        Variation::success("extract.more-fields", |scene, seen, reply| {
            if is_extract(scene, seen) {
                reply.edit(|body| {
                    for entry in body["data"].as_array_mut().into_iter().flatten() {
                        entry["countryCode"] = json!("USA");
                        entry["expireTime"] = Value::Null;
                    }
                    body["requestId"] = json!("r");
                    body["total"] = json!(1);
                });
            }
        }),
        Variation::success("extract.code-with-fraction", |scene, seen, reply| {
            if is_extract(scene, seen) {
                reply.edit(|body| body["code"] = json!(0.0));
            }
        }),
    ]
}

fn parameters() -> Vec<Variation> {
    vec![
        Variation::request("extract.first-of-repeated-parameters", |scene, seen| {
            if is_extract(scene, seen) {
                let mut known = Vec::new();
                let mut params = seen.params();
                params.retain(|(name, _)| {
                    let first = !known.contains(name);
                    known.push(name.clone());
                    first
                });
                seen.set_params(&params);
            }
        }),
        Variation::request("extract.empty-parameters-ignored", |scene, seen| {
            let extract = &scene.contract.extract;
            if is_extract(scene, seen) && !custom(scene, seen) {
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
        }),
        Variation::request("extract.unused-separator-ignored", |scene, seen| {
            let extract = &scene.contract.extract;
            if is_extract(scene, seen) && !is_text(scene, seen) {
                seen.drop_param(&extract.lb.name);
                seen.drop_param(&extract.sb.name);
            } else if is_extract(scene, seen) && !custom(scene, seen) {
                seen.drop_param(&extract.sb.name);
            }
        }),
        Variation::request("extract.unknown-parameters-ignored", |scene, seen| {
            let extract = &scene.contract.extract;
            if is_extract(scene, seen) {
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
        }),
        Variation::serve("extract.first-answer-of-a-request-id", |scene, seen| {
            Box::pin(async move {
                // A known id gives its first response, whatever else is asked; an id is the account's own.
                let Some(id) = request_id(scene, &seen).filter(|_| is_extract(scene, &seen)) else {
                    return scene.upstream.call(&seen).await;
                };
                let accounts = crate::faults::credentials(scene, &seen);
                let key = format!("{id} {accounts:?} {}", is_text(scene, &seen));
                let reply = scene.upstream.call(&seen).await;
                if reply.status != StatusCode::CONFLICT && !scene.accepted(&seen, &reply) {
                    return reply;
                }
                if let Some(first) = scene.memory.recall(&key) {
                    return first;
                }
                scene.memory.keep(&key, &reply);
                reply
            })
        }),
        Variation::request("extract.unknown-region-is-global", |scene, seen| {
            let extract = &scene.contract.extract;
            let facts = &scene.facts;
            let regions = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region];
            let pools = facts.known_gateways.iter().map(|pool| &pool.region);
            let known: Vec<&String> = regions.into_iter().flatten().chain(pools).collect();
            for name in [&extract.regions.name, &extract.country.name] {
                let sent = seen.param(name);
                let unknown = sent.as_ref().is_some_and(|sent| !known.contains(&sent));
                if is_extract(scene, seen) && unknown && seen.params().len() > 1 {
                    let default = extract.regions.schema.default.as_ref().and_then(Value::as_str);
                    seen.set_param(name, default.unwrap_or_default());
                }
            }
        }),
    ]
}

fn is_extract(scene: &Scene, seen: &ProxiedRequest) -> bool {
    scene.operation(seen) == Some(OperationId::Extract)
}

fn is_text(scene: &Scene, seen: &ProxiedRequest) -> bool {
    is_extract(scene, seen) && scene.wants_text(seen)
}

fn custom(scene: &Scene, seen: &ProxiedRequest) -> bool {
    let extract = &scene.contract.extract;
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
