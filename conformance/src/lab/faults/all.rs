//! Faults in what all operations share: tokens, accounts and throttling.

use std::time::Duration;

use crate::contract::OperationId;
use futures::future::BoxFuture;
use hyper::header::{HeaderValue, RETRY_AFTER};
use serde_json::{Value, json};

use super::condition::{in_text, request_id};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [prefix(), tokens(), accounts(), throttling()].into_iter().flatten().collect()
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
    faults_of![
        "all.prefix/",
        elsewhere("extract", "Extraction is not served under the prefix.", OperationId::Extract),
        elsewhere("groups", "Groups are not served under the prefix.", OperationId::Groups),
        elsewhere("search", "Searches are not served under the prefix.", OperationId::Search),
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
    let other_beginning = |context: &Context, sent: &[String]| {
        let end = context.token.without_first_character();
        sent.len() == 1 && sent[0] != context.token.expose() && sent[0].ends_with(end)
    };
    let revoked = |context: &Context, sent: &[String]| {
        context.facts.revoked_token.as_ref().is_some_and(|token| sent == [token.expose()])
    };
    let expired = |context: &Context, sent: &[String]| {
        context.facts.rejected_tokens.iter().any(|rejected| sent == [rejected.token.expose()])
    };
    use OperationId::{Extract, Groups, Search};
    macro_rules! each {
        ($suffix:literal, $what:literal, $bad:expr) => {
            [
                served(
                    concat!("all.token-required/extract-", $suffix),
                    concat!("An extraction ", $what),
                    Extract,
                    $bad,
                ),
                served(
                    concat!("all.token-required/groups-", $suffix),
                    concat!("A listing ", $what),
                    Groups,
                    $bad,
                ),
                served(
                    concat!("all.token-required/search-", $suffix),
                    concat!("A search ", $what),
                    Search,
                    $bad,
                ),
            ]
        };
    }
    let mut faults = faults_of![
        "all.token-required/",
        served("extract-expired", "An extraction accepts an expired token.", Extract, expired),
        served("groups-expired", "A listing accepts an expired token.", Groups, expired),
        served("search-expired", "A search accepts an expired token.", Search, expired),
        request("extract-unknown-header", "Any token is accepted in X-API-Key.", |context, seen| {
            let extract = &context.contract.extract;
            if seen.headers.contains_key(extract.api_key_header.as_str())
                && credentials(context, seen).len() == 1
            {
                context.as_main(seen);
            }
        }),
        request("extract-unknown-bearer", "Any token is accepted in Authorization.", |context, seen| {
            if seen.headers.contains_key(hyper::header::AUTHORIZATION)
                && credentials(context, seen).len() == 1
            {
                context.as_main(seen);
            }
        }),
        request("extract-absent-text", "A plain-text extraction needs no token.", |context, seen| {
            if context.wants_text(seen) && credentials(context, seen).is_empty() {
                context.as_main(seen);
            }
        }),
    ];
    faults.extend(each!("absent", "needs no token.", absent));
    faults.extend(each!("empty", "accepts an empty token.", empty));
    faults.extend(each!("unknown", "accepts any token.", unknown));
    faults.extend(each!("shortened", "accepts a token without its last character.", shortened));
    faults.extend(each!("other-beginning", "accepts a token with another first character.", other_beginning));
    faults.extend(each!("lengthened", "accepts a token with characters appended.", lengthened));
    faults.extend(each!("revoked", "accepts a revoked token.", revoked));
    faults
}

fn accounts() -> Vec<Fault> {
    faults_of![
        "",
        reply(
            "all.own-account/earlier-extraction-in-text",
            "In text a request id of another account gives the gateways of that account.",
            |context, seen, reply| {
                let Some(id) = request_id(context, seen).filter(|_| in_text(context, seen)) else { return };
                if context.accepted(seen, reply) {
                    match context.memory.recall(&id) {
                        Some(earlier) => *reply = earlier,
                        None => context.memory.keep(&id, reply),
                    }
                }
            }
        )
        .only(OperationId::Extract),
        after(
            "all.own-account/groups-of-second-added",
            "A listing holds the groups of another account too.",
            OperationId::Groups,
            |context, seen, reply| {
                Box::pin(async move {
                    let others = as_second(context, seen).await.json();
                    merge(reply, others["data"]["items"].as_array(), "groupId");
                })
            }
        ),
        after(
            "all.own-account/one-foreign-group",
            "A listing holds one group of another account.",
            OperationId::Groups,
            |context, seen, reply| {
                Box::pin(async move {
                    let others = as_second(context, seen).await.json();
                    let one = others["data"]["items"]
                        .as_array()
                        .map(|items| items.iter().take(1).cloned().collect());
                    merge(reply, one.as_ref(), "groupId");
                })
            }
        ),
        reply(
            "all.own-account/groups-cached",
            "The first listing is given to every account.",
            |context, seen, reply| {
                if context.operation(seen) != Some(OperationId::Groups) || !context.accepted(seen, reply) {
                    return;
                }
                match context.memory.recall("groups") {
                    Some(first) => *reply = first,
                    None => context.memory.keep("groups", reply),
                }
            }
        ),
        after(
            "all.own-account/search-sees-all",
            "A search finds the instances of another account too.",
            OperationId::Search,
            add_second
        ),
        after(
            "all.own-account/search-of-shared-address",
            "A search for an address of two accounts finds the instances of both.",
            OperationId::Search,
            add_second
        )
        .when(|context, seen| {
            let shared = context.facts.shared_address.as_deref().unwrap_or_default();
            seen.json()["ips"].as_array().is_some_and(|ips| ips.iter().any(|ip| ip == shared))
        }),
        serve(
            "all.own-account/simultaneous-listings",
            "Listings at the same time share one response, whatever their tokens.",
            |context, seen| Box::pin(shared_listing(context, seen))
        ),
        request(
            "all.own-account/empty-account-sees-main",
            "An account without instances finds those of another.",
            |context, seen| {
                let empty = context.facts.empty_token.as_ref().map(|token| token.expose().to_owned());
                if context.operation(seen) == Some(OperationId::Search)
                    && empty.is_some()
                    && seen.param(api_key(context)) == empty
                {
                    context.as_main(seen);
                }
            }
        ),
        request(
            "all.own-account/foreign-group-lifts-the-account",
            "Filtering by a group of another account searches that account.",
            |context, seen| {
                let Some(group) = context.facts.foreign_group else { return };
                if context.operation(seen) == Some(OperationId::Search)
                    && seen.json()["groupId"] == json!(group)
                {
                    act_as_second(context, seen);
                }
            }
        ),
        request(
            "all.own-account/foreign-order-lifts-the-account",
            "Filtering by an order of another account searches that account.",
            |context, seen| {
                let Some(order) = &context.facts.foreign_order else { return };
                if context.operation(seen) == Some(OperationId::Search) && seen.json()["orderNo"] == *order {
                    act_as_second(context, seen);
                }
            }
        ),
        request(
            "all.own-account/last-account-sticks",
            "A token of another account goes on working with the data of the one before.",
            |context, seen| {
                let second = context.facts.second_token.as_ref().map(|token| token.expose().to_owned());
                if context.operation(seen) != Some(OperationId::Extract)
                    && second.is_some()
                    && seen.param(api_key(context)) == second
                {
                    context.as_main(seen);
                }
            }
        ),
        request(
            "extract.idempotent/shared-by-accounts",
            "A request id of one account gives another account its extraction.",
            |context, seen| {
                let extract = &context.contract.extract;
                let second = context.facts.second_token.as_ref().map(|token| token.expose().to_owned());
                let has_id = seen.param(&extract.request_id.name).is_some()
                    || seen.headers.contains_key(extract.request_id_header.name.as_str());
                if context.operation(seen) == Some(OperationId::Extract)
                    && has_id
                    && second.is_some()
                    && seen.param(api_key(context)) == second
                {
                    context.as_main(seen);
                }
            }
        ),
    ]
}

/// Whoever comes while another listing is under way gets the response of that one.
async fn shared_listing(context: &Context, seen: ProxiedRequest) -> Reply {
    const OVERLAP: Duration = Duration::from_millis(15);
    if context.operation(&seen) != Some(OperationId::Groups) {
        return context.upstream.call(&seen).await;
    }
    let begun = context.memory.calls_of("begun") + 1;
    let is_alone = begun == context.memory.count("ended") + 1;
    tokio::time::sleep(if is_alone { OVERLAP } else { 2 * OVERLAP }).await;
    let reply = match context.memory.recall("shared").filter(|_| !is_alone) {
        Some(shared) => shared,
        None => context.upstream.call(&seen).await,
    };
    context.memory.keep("shared", &reply);
    context.memory.calls_of("ended");
    reply
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
    faults_of![
        "all.throttled-retry-after/",
        throttle("extract-untold", "A throttled extraction does not say how long to wait.", Extract, None),
        throttle("groups-untold", "A throttled listing does not say how long to wait.", Groups, None),
        throttle("search-untold", "A throttled search does not say how long to wait.", Search, None),
        throttle("word", "Retry-After is a word.", Groups, Some("soon")),
        throttle("negative", "Retry-After is negative.", Groups, Some("-1")),
        throttle("fraction", "Retry-After is a fraction.", Extract, Some("0.5")),
        throttle("unit", "Retry-After has a unit.", Search, Some("1s")),
        throttle("iso-date", "Retry-After is an RFC 3339 time.", Groups, Some("2026-01-01T00:00:00Z")),
        throttle("empty", "Retry-After is empty.", Search, Some("")),
        reply("other-header", "A throttled call says how long to wait in another header.", |_, _, reply| {
            *reply = Reply::json_with(429, &json!({"code": 42900, "message": "slow down"}));
            reply.headers.insert("x-ratelimit-reset", HeaderValue::from_static("1"));
        })
        .when(|context, _| context.memory.calls() == 3),
    ]
}

/// Every token that a request carries, in whatever way.
pub(crate) fn credentials(context: &Context, seen: &ProxiedRequest) -> Vec<String> {
    let extract = &context.contract.extract;
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let header = seen.headers.get_all(extract.api_key_header.as_str()).iter().map(text);
    let bearer = seen.headers.get_all(hyper::header::AUTHORIZATION).iter().map(text);
    let bearer = bearer.map(|value| value.trim_start_matches("Bearer").trim_start().to_owned());
    query_tokens(context, seen).into_iter().chain(header).chain(bearer).collect()
}

/// The tokens of the query.
pub(super) fn query_tokens(context: &Context, seen: &ProxiedRequest) -> Vec<String> {
    seen.params().into_iter().filter(|(key, _)| key == api_key(context)).map(|(_, value)| value).collect()
}

// Which requests are served although the token of the query is missing or ambiguous.

pub(super) fn without_token(context: &Context, seen: &mut ProxiedRequest) {
    if query_tokens(context, seen).is_empty() {
        context.as_main(seen);
    }
}

pub(super) fn empty_token(context: &Context, seen: &mut ProxiedRequest) {
    if query_tokens(context, seen) == [""] {
        context.as_main(seen);
    }
}

pub(super) fn first_of_two_tokens(context: &Context, seen: &mut ProxiedRequest) {
    if let [first, _, ..] = &query_tokens(context, seen)[..] {
        context.act_as(seen, first);
    }
}

pub(super) fn last_of_two_tokens(context: &Context, seen: &mut ProxiedRequest) {
    if let [_, .., last] = &query_tokens(context, seen)[..] {
        context.act_as(seen, last);
    }
}

pub(super) fn any_of_two_tokens(context: &Context, seen: &mut ProxiedRequest) {
    let tokens = query_tokens(context, seen);
    if tokens.len() > 1 && tokens.iter().any(|token| token == context.token.expose()) {
        context.as_main(seen);
    }
}

fn known(context: &Context, token: &str) -> bool {
    token == context.token.expose() || context.facts.secrets().any(|secret| secret.expose() == token)
}

fn api_key(context: &Context) -> &str {
    &context.contract.extract.api_key.name
}

pub(super) fn act_as_second(context: &Context, seen: &mut ProxiedRequest) {
    if let Some(second) = &context.facts.second_token {
        context.act_as(seen, second.expose());
    }
}

async fn as_second(context: &Context, seen: &ProxiedRequest) -> Reply {
    let mut seen = seen.clone();
    act_as_second(context, &mut seen);
    context.upstream.call(&seen).await
}

/// A change of a response that sends requests of its own.
type LaterChange = for<'a> fn(&'a Context, &'a ProxiedRequest, &'a mut Reply) -> BoxFuture<'a, ()>;

/// Changes the successes of an operation, by what the second account gets.
fn after(id: &'static str, breaks: &'static str, operation: OperationId, change: LaterChange) -> Fault {
    Fault::serve(id, breaks, move |context, seen| {
        Box::pin(async move {
            let mut reply = context.upstream.call(&seen).await;
            let has_second = context.facts.second_token.is_some();
            if has_second && context.operation(&seen) == Some(operation) && context.accepted(&seen, &reply) {
                change(context, &seen, &mut reply).await;
            }
            reply
        })
    })
}

/// Adds what the second account would have found.
fn add_second<'a>(context: &'a Context, seen: &'a ProxiedRequest, reply: &'a mut Reply) -> BoxFuture<'a, ()> {
    Box::pin(async move {
        let others = as_second(context, seen).await.json();
        merge(reply, others["data"]["items"].as_array(), "instanceId");
        let more = others["data"]["total"].as_u64().unwrap_or_default();
        reply.edit(|body| {
            body["data"]["total"] = json!(body["data"]["total"].as_u64().unwrap_or_default() + more)
        });
    })
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
