//! Faults in what all operations share: tokens, accounts, secrets and throttling.

use crate::contract::OperationId;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::header::{HeaderValue, RETRY_AFTER};
use serde_json::{Value, json};

use super::edit::{put, visit};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [prefix(), tokens(), accounts(), secrets(), throttling()].into_iter().flatten().collect()
}

fn prefix() -> Vec<Fault> {
    let elsewhere = |id, breaks, operation| {
        Fault::serve(id, breaks, move |context, seen| {
            Box::pin(async move {
                if context.operation(&seen) == Some(operation) {
                    return Reply::json_with(404, &json!({"message": "no such path"}));
                }
                context.upstream.call(&seen).await
            })
        })
        .only(operation)
    };
    vec![
        elsewhere("all.prefix/extract", "Extraction is not served under the prefix.", OperationId::Extract),
        elsewhere("all.prefix/groups", "Groups are not served under the prefix.", OperationId::Groups),
        elsewhere("all.prefix/search", "Searches are not served under the prefix.", OperationId::Search),
    ]
}

fn tokens() -> Vec<Fault> {
    let served = |id, breaks, operation: OperationId, bad: fn(&Context, &[String]) -> bool| {
        Fault::request(id, breaks, move |context, seen| {
            if context.operation(seen) == Some(operation) && bad(context, &credentials(context, seen)) {
                context.as_main(seen);
            }
        })
        .only(operation)
    };
    let absent = |_: &Context, sent: &[String]| sent.is_empty();
    let empty = |_: &Context, sent: &[String]| sent == [""];
    let unknown = |context: &Context, sent: &[String]| {
        sent.len() == 1 && !sent[0].is_empty() && !known(context, &sent[0])
    };
    let shortened = |context: &Context, sent: &[String]| {
        sent.len() == 1
            && sent[0].len() + 1 == context.token.expose().len()
            && context.token.expose().starts_with(&sent[0])
    };
    let lengthened = |context: &Context, sent: &[String]| {
        sent.len() == 1 && sent[0] != context.token.expose() && sent[0].starts_with(context.token.expose())
    };
    let revoked = |context: &Context, sent: &[String]| {
        context.facts.revoked_token.as_ref().is_some_and(|token| sent == [token.expose()])
    };
    let expired = |context: &Context, sent: &[String]| {
        context.facts.rejected_tokens.iter().any(|rejected| sent == [rejected.token.expose()])
    };
    use OperationId::{Extract, Groups, Search};
    vec![
        served("all.token-required/extract-absent", "An extraction needs no token.", Extract, absent),
        served("all.token-required/groups-absent", "A listing needs no token.", Groups, absent),
        served("all.token-required/search-absent", "A search needs no token.", Search, absent),
        served("all.token-required/extract-empty", "An extraction takes an empty token.", Extract, empty),
        served("all.token-required/groups-empty", "A listing takes an empty token.", Groups, empty),
        served("all.token-required/search-empty", "A search takes an empty token.", Search, empty),
        served("all.token-required/extract-unknown", "An extraction takes any token.", Extract, unknown),
        served("all.token-required/groups-unknown", "A listing takes any token.", Groups, unknown),
        served("all.token-required/search-unknown", "A search takes any token.", Search, unknown),
        served(
            "all.token-required/extract-shortened",
            "The last character of a token is not compared in an extraction.",
            Extract,
            shortened,
        ),
        served(
            "all.token-required/groups-shortened",
            "The last character of a token is not compared in a listing.",
            Groups,
            shortened,
        ),
        served(
            "all.token-required/search-shortened",
            "The last character of a token is not compared in a search.",
            Search,
            shortened,
        ),
        served(
            "all.token-required/extract-lengthened",
            "A token with more behind it is taken in an extraction.",
            Extract,
            lengthened,
        ),
        served(
            "all.token-required/groups-lengthened",
            "A token with more behind it is taken in a listing.",
            Groups,
            lengthened,
        ),
        served(
            "all.token-required/search-lengthened",
            "A token with more behind it is taken in a search.",
            Search,
            lengthened,
        ),
        served(
            "all.token-required/extract-revoked",
            "An extraction takes a revoked token.",
            Extract,
            revoked,
        ),
        served(
            "all.token-required/extract-expired",
            "An extraction takes an expired token.",
            Extract,
            expired,
        ),
        served("all.token-required/groups-revoked", "A listing takes a revoked token.", Groups, revoked),
        served("all.token-required/search-revoked", "A search takes a revoked token.", Search, revoked),
        Fault::request(
            "all.token-required/extract-unknown-header",
            "A token in X-API-Key is not looked up.",
            |context, seen| {
                let extract = &context.contract.extract;
                if seen.headers.contains_key(extract.api_key_header.as_str())
                    && credentials(context, seen).len() == 1
                {
                    context.as_main(seen);
                }
            },
        ),
        Fault::request(
            "all.token-required/extract-unknown-bearer",
            "A bearer token is not looked up.",
            |context, seen| {
                if seen.headers.contains_key(hyper::header::AUTHORIZATION)
                    && credentials(context, seen).len() == 1
                {
                    context.as_main(seen);
                }
            },
        ),
        Fault::request(
            "all.token-required/extract-absent-text",
            "A plain-text extraction needs no token.",
            |context, seen| {
                if context.wants_text(seen) && credentials(context, seen).is_empty() {
                    context.as_main(seen);
                }
            },
        ),
    ]
}

fn accounts() -> Vec<Fault> {
    vec![
        Fault::serve(
            "all.own-account/groups-of-second-added",
            "A listing holds the groups of another account too.",
            |context, seen| {
                Box::pin(async move {
                    let mut reply = context.upstream.call(&seen).await;
                    if context.operation(&seen) == Some(OperationId::Groups)
                        && context.accepted(&seen, &reply)
                    {
                        let others = as_second(context, &seen).await.json();
                        merge(&mut reply, others["data"]["items"].as_array(), "groupId");
                    }
                    reply
                })
            },
        ),
        Fault::serve(
            "all.own-account/one-foreign-group",
            "A listing holds one group of another account.",
            |context, seen| {
                Box::pin(async move {
                    let mut reply = context.upstream.call(&seen).await;
                    if context.operation(&seen) == Some(OperationId::Groups)
                        && context.accepted(&seen, &reply)
                    {
                        let others = as_second(context, &seen).await.json();
                        let one = others["data"]["items"].as_array().map(|items| vec![items[0].clone()]);
                        merge(&mut reply, one.as_ref(), "groupId");
                    }
                    reply
                })
            },
        ),
        Fault::serve(
            "all.own-account/groups-cached",
            "The first listing is given to every account.",
            |context, seen| {
                Box::pin(async move {
                    if context.operation(&seen) != Some(OperationId::Groups) {
                        return context.upstream.call(&seen).await;
                    }
                    let reply = context.upstream.call(&seen).await;
                    if !context.accepted(&seen, &reply) {
                        return reply;
                    }
                    if let Some(first) = context.memory.recall("groups") {
                        return first;
                    }
                    context.memory.keep("groups", &reply);
                    reply
                })
            },
        ),
        Fault::serve(
            "all.own-account/search-sees-all",
            "A search finds the instances of another account too.",
            |context, seen| {
                Box::pin(async move {
                    let mut reply = context.upstream.call(&seen).await;
                    if context.operation(&seen) == Some(OperationId::Search)
                        && context.accepted(&seen, &reply)
                    {
                        add_second(context, &seen, &mut reply).await;
                    }
                    reply
                })
            },
        ),
        Fault::serve(
            "all.own-account/search-of-shared-address",
            "An address that two accounts hold shows the instances of both.",
            |context, seen| {
                Box::pin(async move {
                    let mut reply = context.upstream.call(&seen).await;
                    let shared = context.facts.shared_address.as_deref().unwrap_or_default();
                    let asked =
                        seen.json()["ips"].as_array().is_some_and(|ips| ips.iter().any(|ip| ip == shared));
                    if context.operation(&seen) == Some(OperationId::Search)
                        && asked
                        && context.accepted(&seen, &reply)
                    {
                        add_second(context, &seen, &mut reply).await;
                    }
                    reply
                })
            },
        ),
        Fault::request(
            "all.own-account/empty-account-sees-main",
            "An account without instances finds those of another.",
            |context, seen| {
                let empty = context.facts.empty_token.as_ref().map(|token| token.expose().to_owned());
                if context.operation(seen) == Some(OperationId::Search)
                    && seen.param(api_key(context)) == empty
                {
                    context.as_main(seen);
                }
            },
        ),
        Fault::request(
            "all.own-account/foreign-group-lifts-the-account",
            "Filtering by a group of another account searches that account.",
            |context, seen| {
                let group = context.facts.foreign_group.unwrap_or_default();
                if context.operation(seen) == Some(OperationId::Search)
                    && seen.json()["groupId"] == json!(group)
                {
                    act_as_second(context, seen);
                }
            },
        ),
        Fault::request(
            "all.own-account/foreign-order-lifts-the-account",
            "Filtering by an order of another account searches that account.",
            |context, seen| {
                let order = json!(context.facts.foreign_order);
                if context.operation(seen) == Some(OperationId::Search) && seen.json()["orderNo"] == order {
                    act_as_second(context, seen);
                }
            },
        ),
        Fault::request(
            "all.own-account/last-account-sticks",
            "A token of another account goes on working with the data of the one before.",
            |context, seen| {
                let second = context.facts.second_token.as_ref().map(|token| token.expose().to_owned());
                if context.operation(seen) != Some(OperationId::Extract)
                    && seen.param(api_key(context)) == second
                {
                    context.as_main(seen);
                }
            },
        ),
        Fault::request(
            "extract.idempotent/shared-by-accounts",
            "A request id of one account gives another account its extraction.",
            |context, seen| {
                let extract = &context.contract.extract;
                let second = context.facts.second_token.as_ref().map(|token| token.expose().to_owned());
                let has_id = seen.param(&extract.request_id.name).is_some()
                    || seen.headers.contains_key(extract.request_id_header.name.as_str());
                if context.operation(seen) == Some(OperationId::Extract)
                    && has_id
                    && seen.param(api_key(context)) == second
                {
                    context.as_main(seen);
                }
            },
        ),
    ]
}

fn secrets() -> Vec<Fault> {
    let leak = |id, breaks, operation: OperationId, path: &'static str| {
        Fault::success(id, breaks, move |context, seen, body| {
            if context.operation(seen) == Some(operation) {
                put(body, path, &json!(canary(context)));
            }
        })
        .only(operation)
    };
    use OperationId::{Extract, Groups, Search};
    vec![
        leak(
            "all.no-secrets/instance-password",
            "An instance has its proxy password.",
            Search,
            "/data/items/*/proxyPassword",
        ),
        leak(
            "all.no-secrets/last-instance-password",
            "The last instance of a page has its proxy password.",
            Search,
            "/data/items/-/password",
        ),
        leak(
            "all.no-secrets/instance-capabilities",
            "Capabilities hold a password.",
            Search,
            "/data/items/0/capabilities/note",
        ),
        leak(
            "all.no-secrets/search-message",
            "The message of a search holds a password.",
            Search,
            "/message",
        ),
        leak("all.no-secrets/group-password", "A group has a password.", Groups, "/data/items/*/secret"),
        leak(
            "all.no-secrets/group-name",
            "The last group's name holds a password.",
            Groups,
            "/data/items/-/name",
        ),
        leak(
            "all.no-secrets/listing-beside",
            "A password stands beside the list of groups.",
            Groups,
            "/data/password",
        ),
        leak("all.no-secrets/endpoint-password", "A gateway has its password.", Extract, "/data/*/password"),
        leak("all.no-secrets/endpoint-last", "The last gateway has its password.", Extract, "/data/-/pass"),
        leak("all.no-secrets/extraction-msg", "The msg of an extraction holds a password.", Extract, "/msg"),
        Fault::success(
            "all.no-secrets/endpoint-userinfo",
            "A gateway's ip holds user and password.",
            |context, _, body| {
                let canary = canary(context);
                visit(body, "/data/*/ip", &mut |ip| {
                    *ip = json!(format!("user:{canary}@{}", ip.as_str().unwrap_or_default()));
                });
            },
        ),
        Fault::reply(
            "all.no-secrets/text-entry",
            "An entry of a plain-text response ends with user and password.",
            |context, seen, reply| {
                if context.wants_text(seen) && context.accepted(seen, reply) {
                    let text = format!("{}:user:{}", String::from_utf8_lossy(&reply.body), canary(context));
                    reply.body = text.into();
                }
            },
        ),
        Fault::reply("all.no-secrets/header", "A header holds a password.", |context, _, reply| {
            reply.set_header("x-proxy-password", canary(context));
        }),
        Fault::reply(
            "all.no-secrets/basic-header",
            "A header holds user and password in base64.",
            |context, _, reply| {
                let value =
                    format!("Basic {}", BASE64_STANDARD.encode(format!("user-1:{}", canary(context))));
                reply.set_header("x-proxy-authorization", &value);
            },
        ),
        Fault::reply(
            "all.no-secrets/escaped",
            "A password is written with JSON escapes.",
            |context, seen, reply| {
                if context.accepted(seen, reply) && !reply.json().is_null() {
                    let escaped: String =
                        canary(context).encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                    let text = String::from_utf8_lossy(&reply.body).replacen(
                        '{',
                        &format!("{{\"note\":\"{escaped}\","),
                        1,
                    );
                    reply.body = text.into();
                }
            },
        ),
        Fault::rejection(
            "all.no-secrets/extract-error",
            "The message of a rejected extraction holds a password.",
            |context, seen, reply| {
                if context.operation(seen) == Some(Extract) {
                    reply.edit(|body| body["message"] = json!(format!("upstream said: {}", canary(context))));
                }
            },
        ),
        Fault::rejection(
            "all.no-secrets/static-error",
            "A rejected search shows a password.",
            |context, seen, reply| {
                if context.operation(seen) == Some(Search) {
                    reply.edit(|body| body["debug"] = json!({"row": [1, canary(context)]}));
                }
            },
        ),
        Fault::success(
            "all.no-secrets/empty-result",
            "An empty result shows a password.",
            |context, _, body| {
                if body["data"]["items"] == json!([]) {
                    body["debug"] = json!(canary(context));
                }
            },
        ),
        Fault::success(
            "all.no-secrets/unnamed",
            "An instance has a member proxy_password with a text that nobody named.",
            |_, _, body| {
                put(body, "/data/items/0/proxy_password", &json!("correct horse"));
            },
        ),
        Fault::success("all.no-secrets/nested", "Credentials of a gateway are shown.", |_, _, body| {
            put(body, "/data/0/auth", &json!({"user": "u1", "passwd": "hunter2"}));
        }),
    ]
}

fn throttling() -> Vec<Fault> {
    let throttle = |id, breaks, operation: OperationId, retry_after: Option<&'static str>| {
        Fault::reply(id, breaks, move |_, _, reply| {
            *reply = Reply::json_with(429, &json!({"code": 42900, "message": "slow down"}));
            if let Some(value) = retry_after {
                reply.headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
            }
        })
        .when(move |context, seen| {
            // The suite's first listing only asks whether anybody is there.
            let spared = u64::from(operation == OperationId::Groups);
            context.operation(seen) == Some(operation) && context.memory.calls() == spared
        })
        .only(operation)
    };
    use OperationId::{Extract, Groups, Search};
    vec![
        throttle(
            "all.throttled-retry-after/extract-untold",
            "A throttled extraction does not say how long to wait.",
            Extract,
            None,
        ),
        throttle(
            "all.throttled-retry-after/groups-untold",
            "A throttled listing does not say how long to wait.",
            Groups,
            None,
        ),
        throttle(
            "all.throttled-retry-after/search-untold",
            "A throttled search does not say how long to wait.",
            Search,
            None,
        ),
        throttle("all.throttled-retry-after/word", "Retry-After is a word.", Groups, Some("soon")),
        throttle("all.throttled-retry-after/negative", "Retry-After is negative.", Groups, Some("-1")),
        throttle("all.throttled-retry-after/fraction", "Retry-After is a fraction.", Extract, Some("0.5")),
        throttle("all.throttled-retry-after/unit", "Retry-After has a unit.", Search, Some("1s")),
        throttle(
            "all.throttled-retry-after/iso-date",
            "Retry-After is an RFC 3339 time.",
            Groups,
            Some("2026-01-01T00:00:00Z"),
        ),
        throttle("all.throttled-retry-after/empty", "Retry-After is empty.", Search, Some("")),
        Fault::reply(
            "all.throttled-retry-after/other-header",
            "A throttled call says how long to wait in another header.",
            |_, _, reply| {
                *reply = Reply::json_with(429, &json!({"code": 42900, "message": "slow down"}));
                reply.headers.insert("x-ratelimit-reset", HeaderValue::from_static("1"));
            },
        )
        .when(|context, _| context.memory.calls() == 3),
    ]
}

/// Every token that a request carries, in whatever way.
pub(crate) fn credentials(context: &Context, seen: &ProxiedRequest) -> Vec<String> {
    let extract = &context.contract.extract;
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let query = seen.params().into_iter().filter(|(key, _)| key == api_key(context)).map(|(_, value)| value);
    let header = seen.headers.get_all(extract.api_key_header.as_str()).iter().map(text);
    let bearer = seen.headers.get_all(hyper::header::AUTHORIZATION).iter().map(text);
    let bearer = bearer.map(|value| value.trim_start_matches("Bearer").trim_start().to_owned());
    query.chain(header).chain(bearer).collect()
}

fn known(context: &Context, token: &str) -> bool {
    token == context.token.expose() || context.facts.secrets().any(|secret| secret.expose() == token)
}

fn api_key(context: &Context) -> &str {
    &context.contract.extract.api_key.name
}

fn canary(context: &Context) -> &str {
    context.facts.canaries.first().map_or("no canary", |canary| canary.expose())
}

fn act_as_second(context: &Context, seen: &mut ProxiedRequest) {
    if let Some(second) = &context.facts.second_token {
        context.act_as(seen, second.expose());
    }
}

async fn as_second(context: &Context, seen: &ProxiedRequest) -> Reply {
    let mut seen = seen.clone();
    act_as_second(context, &mut seen);
    context.upstream.call(&seen).await
}

/// Adds what the second account would have found.
async fn add_second(context: &Context, seen: &ProxiedRequest, reply: &mut Reply) {
    let others = as_second(context, seen).await.json();
    merge(reply, others["data"]["items"].as_array(), "instanceId");
    let more = others["data"]["total"].as_u64().unwrap_or_default();
    reply.edit(|body| {
        body["data"]["total"] = json!(body["data"]["total"].as_u64().unwrap_or_default() + more)
    });
}

/// Adds items in the order of their ids, so that nothing but their being there is wrong.
fn merge(reply: &mut Reply, others: Option<&Vec<Value>>, id: &str) {
    reply.edit(|body| {
        let Some(items) = body["data"]["items"].as_array_mut() else { return };
        items.extend(others.into_iter().flatten().cloned());
        items.sort_by_key(|item| item[id].as_i64());
        items.dedup_by_key(|item| item[id].as_i64());
    });
}
