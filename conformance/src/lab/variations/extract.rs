//! Variations in extraction.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use serde_json::{Value, json};

use super::entries::{add, entries, rewritten};
use super::keep_params;
use crate::contract::{Extract, OperationId};
use crate::lab::exchange::Reply;
use crate::lab::faults::condition::{LB, SB, is_custom, num, of_empty_region, request_id, without};
use crate::lab::faults::credentials;
use crate::lab::faults::edit::{body, change, set};
use crate::lab::{Call, Variation};

const HEADERS: [&str; 3] = ["x-proxy-requested-count", "x-proxy-returned-count", "x-proxy-partial"];

pub(crate) fn variations() -> Vec<Variation> {
    [text(), results(), parameters()].into_iter().flatten().collect()
}

fn text() -> Vec<Variation> {
    variations_of![
        "extract.",
        variation("text-with-trailing-separator", "A text response ends with its separator.")
            .success(rewritten(|text, separator| format!("{text}{separator}"))),
        variation("text-in-other-charset", "A text response declares the charset `us-ascii`.").success(
            |call, reply| {
                if call.wants_text() {
                    reply.set_header("content-type", "text/plain; charset=us-ascii");
                }
            }
        ),
        variation("text-entries-as-urls", "An entry of a text response is a URL with the scheme `http`.")
            .success(entries(|entry| format!("http://{entry}"))),
        variation(
            "text-entries-with-slash-br",
            "Some entries of a text response are URLs of hosts whose names begin with `br`."
        )
        .success(entries(|entry| match entry.bytes().map(usize::from).sum::<usize>() % 2 {
            0 => format!("http://br{entry}"),
            _ => format!("http://{entry}"),
        })),
        variation(
            "text-entries-in-three-parts",
            "An entry of a text response is host, port and region, divided by `:`."
        )
        .success(entries(|entry| format!("{entry}:USA"))),
        variation("text-entries-with-comma", "An entry of a text response is host, comma, port.")
            .success(entries(|entry| entry.replace(':', ","))),
    ]
}

fn results() -> Vec<Variation> {
    let instead = |id, decides, status: u16, code: i64| {
        Variation::new(id, decides).reply(move |_, reply| {
            if reply.status == StatusCode::SERVICE_UNAVAILABLE {
                *reply = shortage(status, code);
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
            if reply.header("x-proxy-partial") != Some("true") {
                unflag(reply);
            }
        }),
        variation("flag-as-number", "`X-Proxy-Partial` is `1` or `0`.")
            .success(|_, reply| respell(reply, "1", "0")),
        variation("flag-as-word", "`X-Proxy-Partial` is `YES` or `NO`.")
            .success(|_, reply| respell(reply, "YES", "NO")),
        variation("flag-as-partial", "`X-Proxy-Partial` is `partial` or `full`.")
            .success(|_, reply| respell(reply, "partial", "full")),
        variation(
            "shortage-instead-of-partial",
            "Too few gateways are a shortage with `Retry-After`; there are no partial results."
        )
        .reply(|_, reply| {
            if reply.header("x-proxy-partial") == Some("true") {
                *reply = shortage(503, 50301);
            }
        }),
        instead(
            "shortage-within-200",
            "A shortage has HTTP status 200 and the business code 1001.",
            200,
            1001
        ),
        instead("shortage-as-429", "A shortage has HTTP status 429.", 429, 42900),
        instead("shortage-as-404", "A shortage has HTTP status 404.", 404, 40400),
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
            "gateways-lent",
            "An extracted gateway is lent for a time; until then the others are too few for many extractions."
        )
        .serve(lending()),
        variation(
            "one-gateway-for-all",
            "Every entry of an extraction is the same gateway, which chooses the exit itself."
        )
        .success(body(change("/data/*", |entry| *entry = json!({"ip": "gw.proxy.invalid", "port": 20_000})))),
        variation(
            "other-order-each-time",
            "Every second extraction lists its gateways in the opposite order."
        )
        .success(|call, reply| {
            if call.memory.calls() % 2 == 1 {
                reply.edit(|body| call.list(body).into_iter().for_each(|entries| entries.reverse()));
            }
        }),
        variation("empty-msg", "`msg` of an extraction is empty.").success(body(set("/msg", ""))),
        variation(
            "more-fields",
            "An extraction and its entries have further fields, such as a country, an expiry and a total."
        )
        .success(|call, reply| {
            add(reply, "/data", json!({"countryCode": "USA", "expireTime": null}));
            body(set("/requestId", "r"))(call, reply);
            body(set("/total", 1))(call, reply);
        }),
        variation("code-with-fraction", "The success code of an extraction is written as `0.0`.")
            .success(body(set("/code", 0.0))),
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
            let mut known = HashSet::new();
            keep_params(call, |name, _| known.insert(name.to_owned()));
        }),
        variation("empty-parameters-ignored", "An optional parameter without a value counts as absent.")
            .request(|call| {
                if !is_custom(call) {
                    let extract = &call.contract.extract;
                    let required = [&extract.num.name, &extract.api_key.name];
                    let names = names(extract);
                    keep_params(call, |name, value| {
                        !value.is_empty()
                            || !names.contains(&name)
                            || required.iter().any(|known| *known == name)
                    });
                }
            }),
        variation("unused-separator-ignored", "`lb` and `sb` are not looked at where they do not apply.")
            .request(|call| {
                if !call.wants_text() {
                    without(LB)(call);
                    without(SB)(call);
                } else if !is_custom(call) {
                    without(SB)(call);
                }
            }),
        variation("unknown-parameters-ignored", "Unknown parameters of an extraction are ignored.").request(
            |call| {
                let names = names(&call.contract.extract);
                keep_params(call, |name, _| names.contains(&name));
            }
        ),
        variation(
            "first-answer-of-a-request-id",
            "A known request id returns its first response, whatever the other parameters are."
        )
        .serve(|call| {
            Box::pin(async move {
                // A known id gives its first response, whatever else is asked; an id is the account's own.
                let Some(id) = request_id(&call) else { return call.send().await };
                let accounts = credentials(&call);
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
        variation(
            "default-region-by-pools",
            "The default region returns neighbours of an ordered pool: now and then those of one region alone."
        )
        .request(|call| {
            let extract = &call.contract.extract;
            let default = extract.regions.default_text();
            let regions = [&extract.regions, &extract.country].map(|parameter| call.param(&parameter.name));
            // With an id, another region would be another extraction.
            let is_default =
                regions.iter().flatten().all(|region| *region == default) && request_id(call).is_none();
            // No order that a check could follow.
            let is_of_one = call.memory.calls().wrapping_mul(2_654_435_761) >> 7 & 1 == 1;
            if let Some(region) = call.facts.plentiful_region.clone().filter(|_| is_default && is_of_one) {
                call.set_param(&extract.regions.name, &region);
                if regions[1].is_some() {
                    call.set_param(&extract.country.name, &region);
                }
            }
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
                unflag(&mut reply);
                match call.wants_text() {
                    true => reply.body = bytes::Bytes::new(),
                    false => reply.edit(|body| body["data"] = json!([])),
                }
                reply
            })
        }),
    ]
}

/// Lends at most twice as many gateways as one extraction may ask for, each for a little over a second.
fn lending() -> impl for<'a> Fn(Call<'a>) -> BoxFuture<'a, Reply> + Send + Sync + 'static {
    const LENT_FOR: Duration = Duration::from_millis(1_200);
    let lent: Arc<Mutex<Vec<(Instant, i64)>>> = Arc::default();
    move |call| {
        let lent = Arc::clone(&lent);
        Box::pin(async move {
            let reply = call.send().await;
            let id = request_id(&call).map(|id| format!("{id} {:?}", credentials(&call)));
            let repeated = id.as_ref().is_some_and(|id| call.memory.recall(id).is_some());
            if call.operation() != Some(OperationId::Extract) || !call.accepted(&reply) || repeated {
                return reply;
            }
            let asked = num(&call).unwrap_or_default();
            let mut lent = lent.lock().unwrap_or_else(PoisonError::into_inner);
            lent.retain(|(since, _)| since.elapsed() < LENT_FOR);
            let pool = 2 * call.contract.extract.num_range.end();
            if lent.iter().map(|(_, gateways)| gateways).sum::<i64>() + asked > pool {
                let mut shortage = shortage(503, 50301);
                shortage.headers.insert("retry-after", HeaderValue::from_static("1"));
                return shortage;
            }
            lent.push((Instant::now(), asked));
            if let Some(id) = id {
                call.memory.keep(&id, &reply);
            }
            reply
        })
    }
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

/// The parameters of an extraction.
fn names(extract: &'static Extract) -> [&'static str; 9] {
    let parameters = [
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
    parameters.map(|parameter| parameter.name.as_str())
}

fn respell(reply: &mut Reply, yes: &'static str, no: &'static str) {
    let spelt = match reply.header("x-proxy-partial") {
        Some("true") => yes,
        Some(_) => no,
        None => return,
    };
    reply.headers.insert("x-proxy-partial", HeaderValue::from_static(spelt));
}

/// Removes the headers of a partial result.
fn unflag(reply: &mut Reply) {
    for name in HEADERS {
        reply.headers.remove(name);
    }
}

fn shortage(status: u16, code: i64) -> Reply {
    let mut reply = Reply::json_with(status, &json!({"code": code, "message": "too few gateways"}));
    reply.headers.insert("retry-after", HeaderValue::from_static("0"));
    reply
}
