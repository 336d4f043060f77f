//! Variations in extraction.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::BoxFuture;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use serde_json::{Value, json};

use super::keep_params;
use crate::contract::{Extract, OperationId};
use crate::lab::faults::retext;
use crate::lab::faults::words::*;
use crate::lab::{Call, Reply, Variation};

pub(crate) fn variations() -> Vec<Variation> {
    variations! {
        "extract." {
            "text-entries-with-tab": "An entry of a text response is host, tab, port." => entries(|entry| entry.replace(':', "\t"));
            "text-entries-with-space": "An entry of a text response is host, space, port." => entries(|entry| entry.replace(':', " "));
            "text-entries-with-bar": "An entry of a text response is host, port and region, divided by `|`."
                => entries(|entry| format!("{}|USA", entry.replace(':', "|")));
            "text-entries-as-json": "An entry of a text response is a JSON object with `ip` and `port`." => entries(|entry| {
                let (ip, port) = entry.split_once(':').unwrap_or((entry, ""));
                json!({"ip": ip, "port": port}).to_string()
            });
            "text-with-line-break-at-its-end": "A text response ends with a line break, whatever its separator is."
                => rewritten(|text, _| format!("{text}\n"));
            "text-with-separator-and-line-break-at-its-end": "A text response ends with its separator and a line break."
                => rewritten(|text, separator| format!("{text}{separator}\r\n"));
            "entries-with-time-to-live": "Entries of an extraction have a further field `ttl`, whose value changes with each response."
                => accepted(|call, reply| add(reply, "/data", &json!({"ttl": 900 - call.memory.calls() % 800})));
            "entries-with-names-that-sound-secret":
                "Entries of an extraction have further fields whose names speak of passwords and tokens, without a secret in them."
                => accepted(|_, reply| add(reply, "/data", &json!({
                    "passwordRequired": false, "password": "", "tokenExpiresAt": "2030-01-01T00:00:00Z",
                    "upstreamRegion": "EU", "_links": {},
                })));
        }
        "static." {
            "items-that-speak-of-passwords":
                "Groups and instances have further fields that say when a password was set, without the password."
                => accepted(|_, reply| add(reply, "/data/items", &json!({"passwordUpdatedAt": "2030-01-01T00:00:00Z", "passwordSet": true})));
        }
        "extract." {
            "link-credential-by-header-alone": "A link credential is accepted in a header only, and rejected in the query." => request(|call| {
                let link = call.facts.link_credential.as_ref().map(|link| link.expose().to_owned());
                if text(call, API_KEY) == link {
                    call.reject();
                }
            });
            "proxy-on-this-machine-trusted":
                "The caller's address is taken from `X-Forwarded-For`, because a proxy on the same machine is trusted."
                => accepted(|call, reply| if let Some(claimed) = call.header("x-forwarded-for") {
                    reply.edit(|body| put_at(body, "/request_ip", &json!(claimed)));
                });
            "text-with-trailing-separator": "A text response ends with its separator." => rewritten(|text, separator| format!("{text}{separator}"));
            "text-in-other-charset": "A text response declares the charset `us-ascii`." => accepted(|call, reply| {
                if call.wants_text() {
                    reply.set_header("content-type", "text/plain; charset=us-ascii");
                }
            });
            "text-entries-as-urls": "An entry of a text response is a URL with the scheme `http`." => entries(|entry| format!("http://{entry}"));
            "text-entries-with-slash-br": "Some entries of a text response are URLs of hosts whose names begin with `br`."
                => entries(|entry| match entry.bytes().map(usize::from).sum::<usize>() % 2 {
                    0 => format!("http://br{entry}"),
                    _ => format!("http://{entry}"),
                });
            "text-entries-in-three-parts": "An entry of a text response is host, port and region, divided by `:`."
                => entries(|entry| format!("{entry}:USA"));
            "text-entries-with-comma": "An entry of a text response is host, comma, port." => entries(|entry| entry.replace(':', ","));
            "full-result-without-headers": "A full result has no `X-Proxy` headers; only a partial one has them." => accepted(|_, reply| {
                if !is_partial(reply) {
                    unflag(reply);
                }
            });
            "flag-as-number": "`X-Proxy-Partial` is `1` or `0`." => flag("1", "0");
            "flag-as-word": "`X-Proxy-Partial` is `YES` or `NO`." => flag("YES", "NO");
            "flag-as-partial": "`X-Proxy-Partial` is `partial` or `full`." => flag("partial", "full");
            "shortage-instead-of-partial": "Too few gateways are a shortage with `Retry-After`; there are no partial results." => reply(|_, reply| {
                if is_partial(reply) {
                    *reply = shortage(503, 50301);
                }
            });
            "shortage-within-200": "A shortage has HTTP status 200 and the business code 1001." => shortage_as(200, 1001);
            "shortage-as-429": "A shortage has HTTP status 429." => shortage_as(429, 42900);
            "shortage-as-404": "A shortage has HTTP status 404." => shortage_as(404, 40400);
            "always-partial": "A region without gateways gives a partial result of none, not a shortage." => reply(partial_of_none);
            "gateways-lent": "An extracted gateway is lent for a time; until then the others are too few for many extractions." => serve(lending());
            "one-gateway-for-all": "Every entry of an extraction is the same gateway, which chooses the exit itself."
                => change("/data/*", |entry| *entry = json!({"ip": "gw.proxy.invalid", "port": 20_000}));
            "other-order-each-time": "Every second extraction lists its gateways in the opposite order." => accepted(|call, reply| {
                if call.memory.calls() % 2 == 1 {
                    reply.edit(|body| call.list(body).into_iter().for_each(|entries| entries.reverse()));
                }
            });
            "empty-msg": "`msg` of an extraction is empty." => set("/msg", "");
            "more-fields": "An extraction and its entries have further fields, such as a country, an expiry and a total." => accepted(|_, reply| {
                add(reply, "/data", &json!({"countryCode": "USA", "expireTime": null}));
                add(reply, "", &json!({"requestId": "r", "total": 1}));
            });
            "code-with-fraction": "The success code of an extraction is written as `0.0`." => set("/code", 0.0);
            "first-of-repeated-parameters": "Of a parameter that is sent several times, the first value counts." => request(|call| {
                let mut known = HashSet::new();
                keep_params(call, |name, _| known.insert(name.to_owned()));
            });
            "empty-parameters-ignored": "An optional parameter without a value counts as absent." => request(|call| if !is_custom(call) {
                let extract = &call.contract.extract;
                let required = [&extract.num.name, &extract.operation.api_key.name];
                let names = names(extract);
                keep_params(call, |name, value| !value.is_empty() || !names.contains(&name) || required.iter().any(|known| *known == name));
            });
            "unused-separator-ignored": "`lb` and `sb` are not looked at where they do not apply." => request(|call| {
                if !call.wants_text() {
                    ignore(LB)(call);
                    ignore(SB)(call);
                } else if !is_custom(call) {
                    ignore(SB)(call);
                }
            });
            "unknown-parameters-ignored": "Unknown parameters of an extraction are ignored." => request(|call| {
                let names = names(&call.contract.extract);
                keep_params(call, |name, _| names.contains(&name));
            });
            "first-answer-of-a-request-id": "A known request id returns its first response, whatever the other parameters are."
                => reply(|call, reply| {
                    // An id is the account's own.
                    let Some(id) = request_id(call) else { return };
                    if reply.status == StatusCode::CONFLICT || call.accepted(reply) {
                        call.memory.repeat_first(&format!("{id} {:?} {}", credentials(call), call.wants_text()), reply);
                    }
                });
            "default-region-by-pools": "The default region returns neighbours of an ordered pool: now and then those of one region alone."
                => request(take_pool);
            "unknown-region-is-global": "An unknown region means the default region." => request(|call| {
                take_default_for_unknown(call);
            });
            "empty-region-is-unknown":
                "An empty region is rejected as an unknown parameter is, and an unknown region gets the shortage of the empty one."
                => request(swap_empty_and_unknown);
            "unknown-region-is-empty": "An unknown region gives a success without gateways, and nothing says more."
                => serve(|mut call| Box::pin(async move {
                    let is_unknown = take_default_for_unknown(&mut call);
                    let mut reply = call.send().await;
                    if is_unknown && call.accepted(&reply) {
                        unflag(&mut reply);
                        match call.wants_text() {
                            true => reply.body = Bytes::new(),
                            false => reply.edit(|body| body["data"] = json!([])),
                        }
                    }
                    reply
                }));
        }
    }
}

/// Changes the text of an extraction, which `how` gets with its separator.
fn rewritten(how: impl Fn(&str, &str) -> String + Send + Sync + 'static) -> Act {
    let change = retext(how);
    accepted(move |call, reply| {
        if in_text(call) {
            change(call, reply);
        }
    })
}

/// Changes each entry of a text.
fn entries(form: fn(&str) -> String) -> Act {
    rewritten(move |text, separator| text.split(separator).map(form).collect::<Vec<_>>().join(separator))
}

/// Adds members to an object, or to each object of a list.
fn add(reply: &mut Reply, at: &str, members: &Value) {
    reply.edit(|body| {
        let found = match body.pointer_mut(at) {
            Some(Value::Array(items)) => items.iter_mut().collect(),
            found => Vec::from_iter(found),
        };
        for object in found.into_iter().filter_map(Value::as_object_mut) {
            object.extend(members.as_object().cloned().unwrap_or_default());
        }
    });
}

/// Spells the flag of a partial result in another way.
fn flag(yes: &'static str, no: &'static str) -> Act {
    accepted(move |_, reply| {
        if reply.headers.contains_key("x-proxy-partial") {
            reply.set_header("x-proxy-partial", if is_partial(reply) { yes } else { no });
        }
    })
}

fn is_partial(reply: &Reply) -> bool {
    reply.header("x-proxy-partial") == Some("true")
}

/// Removes the headers of a partial result.
fn unflag(reply: &mut Reply) {
    for name in ["x-proxy-requested-count", "x-proxy-returned-count", "x-proxy-partial"] {
        reply.headers.remove(name);
    }
}

fn shortage(status: u16, code: i64) -> Reply {
    let mut reply = Reply::json_with(status, &json!({"code": code, "message": "too few gateways"}));
    reply.headers.insert("retry-after", HeaderValue::from_static("0"));
    reply
}

fn shortage_as(status: u16, code: i64) -> Act {
    reply(move |_, reply| {
        if reply.status == StatusCode::SERVICE_UNAVAILABLE {
            *reply = shortage(status, code);
        }
    })
}

/// An empty region gives an empty result that says so.
fn partial_of_none(call: &Call<'_>, reply: &mut Reply) {
    if reply.status != StatusCode::SERVICE_UNAVAILABLE || call.facts.empty_region != Some(region(call)) {
        return;
    }
    let body = json!({"code": 0, "success": true, "msg": "none", "data": [], "request_ip": "127.0.0.1"});
    *reply = Reply::json_with(200, &body);
    if call.wants_text() {
        reply.body = Bytes::new();
    }
    reply.set_header("x-proxy-requested-count", &num(call).unwrap_or_default().to_string());
    reply.set_header("x-proxy-returned-count", "0");
    reply.set_header("x-proxy-partial", "true");
    reply.set_header("retry-after", "30");
}

/// Takes the plentiful region in place of the default one now and then.
fn take_pool(call: &mut Call<'_>) {
    let extract = &call.contract.extract;
    let default = extract.regions.default_text();
    let regions = [&extract.regions, &extract.country].map(|parameter| call.param(&parameter.name));
    // With an id, another region would be another extraction.
    let is_default = regions.iter().flatten().all(|region| *region == default) && request_id(call).is_none();
    // No order that a check could follow.
    let is_of_one = call.memory.calls().wrapping_mul(2_654_435_761) >> 7 & 1 == 1;
    if let Some(region) = call.facts.plentiful_region.clone().filter(|_| is_default && is_of_one) {
        call.set_param(&extract.regions.name, &region);
        if regions[1].is_some() {
            call.set_param(&extract.country.name, &region);
        }
    }
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
    let extract = &call.contract.extract;
    let default = extract.regions.default_text();
    let mut is_unknown = false;
    for name in [&extract.regions.name, &extract.country.name] {
        let names_unknown = call.param(name).is_some_and(|sent| !is_known_region(call, &sent));
        if names_unknown && call.params().len() > 1 {
            call.set_param(name, &default);
            is_unknown = true;
        }
    }
    is_unknown
}

/// Takes an unknown region in place of the empty one, and the empty one in place of an unknown one. Regions that differ stay.
fn swap_empty_and_unknown(call: &mut Call<'_>) {
    const UNKNOWN: &str = "no-region";
    let extract = &call.contract.extract;
    let Some(empty) = call.facts.empty_region.clone() else { return };
    let names = [&extract.regions.name, &extract.country.name];
    let mut params = call.params();
    let mut sent: Vec<_> =
        params.iter_mut().filter(|(name, _)| names.contains(&name)).map(|(_, sent)| sent).collect();
    let Some(first) = sent.first().map(|sent| sent.to_string()) else { return };
    let other = match first {
        _ if sent.iter().any(|sent| **sent != first) => return,
        _ if first == empty => UNKNOWN.to_owned(),
        _ if !is_known_region(call, &first) => empty,
        _ => return,
    };
    for sent in &mut sent {
        (*sent).clone_from(&other);
    }
    call.set_params(&params);
}

fn is_known_region(call: &Call<'_>, region: &str) -> bool {
    let facts = call.facts;
    let supplied = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region];
    let pools = facts.known_gateways.iter().map(|pool| &pool.region);
    region == call.contract.extract.regions.default_text()
        || supplied.into_iter().flatten().chain(pools).any(|known| known == region)
}

/// The parameters of an extraction.
fn names(extract: &'static Extract) -> [&'static str; 9] {
    let Extract { num, regions, country, protocol, return_type, lb, sb, request_id, operation, .. } = extract;
    [num, regions, country, protocol, return_type, lb, sb, request_id, &operation.api_key]
        .map(|part| part.name.as_str())
}
