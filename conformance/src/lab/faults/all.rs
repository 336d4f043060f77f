//! Faults in what all operations share: tokens, accounts and throttling.

use std::time::Duration;

use super::search::total;
use crate::contract::OperationId::{self, Extract, Groups, Search};
use hyper::header::{HeaderValue, RETRY_AFTER};
use serde_json::{Value, json};

use super::condition::{API_KEY, by_bearer, by_header, in_text, request_id, sent, with_request_id};
use super::token::{Token, act_as_second, credentials};
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [prefix(), tokens(), accounts(), throttling()].into_iter().flatten().collect()
}

fn prefix() -> Vec<Fault> {
    let elsewhere = |id, breaks, operation| {
        Fault::new(id, breaks)
            .only(operation)
            .serve(|_| Box::pin(async { Reply::json_with(404, &json!({"message": "no such path"})) }))
    };
    faults_of![
        "all.prefix/",
        elsewhere("extract", "Extraction is not served under the prefix.", Extract),
        elsewhere("groups", "Groups are not served under the prefix.", Groups),
        elsewhere("search", "Searches are not served under the prefix.", Search),
    ]
}

fn tokens() -> Vec<Fault> {
    let served = |id, breaks, operation, bad: fn(&Call<'_>, &[String]) -> bool| {
        Fault::new(id, breaks)
            .only(operation)
            .when(move |call| bad(call, &credentials(call)))
            .request(|call| call.as_main())
    };
    let absent = |_: &Call<'_>, sent: &[String]| sent.is_empty();
    let empty = |_: &Call<'_>, sent: &[String]| sent == [""];
    let unknown =
        |call: &Call<'_>, sent: &[String]| sent.len() == 1 && !sent[0].is_empty() && !known(call, &sent[0]);
    let shortened = |call: &Call<'_>, sent: &[String]| {
        sent.len() == 1
            && sent[0].len() + 1 == call.token.expose().len()
            && call.token.expose().starts_with(&sent[0])
    };
    let lengthened = |call: &Call<'_>, sent: &[String]| {
        sent.len() == 1 && sent[0] != call.token.expose() && sent[0].starts_with(call.token.expose())
    };
    let other_beginning = |call: &Call<'_>, sent: &[String]| {
        let end = call.token.without_first_character();
        sent.len() == 1 && sent[0] != call.token.expose() && sent[0].ends_with(end)
    };
    let revoked = |call: &Call<'_>, sent: &[String]| {
        call.facts.revoked_token.as_ref().is_some_and(|token| sent == [token.expose()])
    };
    let expired = |call: &Call<'_>, sent: &[String]| {
        call.facts.rejected_tokens.iter().any(|rejected| sent == [rejected.token.expose()])
    };
    let one_token = |call: &Call<'_>| credentials(call).len() == 1;
    let mut faults = faults_of![
        "all.token-required/",
        fault("extract-unknown-header", "Any token is accepted in X-API-Key.")
            .when(by_header)
            .when(one_token)
            .request(|call| call.as_main()),
        fault("extract-unknown-bearer", "Any token is accepted in Authorization.")
            .when(by_bearer)
            .when(one_token)
            .request(|call| call.as_main()),
        fault("extract-absent-text", "A plain-text extraction needs no token.")
            .when(in_text)
            .when(|call| credentials(call).is_empty())
            .request(|call| call.as_main()),
    ];
    macro_rules! each {
        ($suffix:literal, $what:literal, $bad:expr) => {
            faults.extend([
                each!("extract-" $suffix, "An extraction " $what, Extract, $bad),
                each!("groups-" $suffix, "A listing " $what, Groups, $bad),
                each!("search-" $suffix, "A search " $what, Search, $bad),
            ])
        };
        ($operation:literal $suffix:literal, $who:literal $what:literal, $id:expr, $bad:expr) => {
            served(concat!("all.token-required/", $operation, $suffix), concat!($who, $what), $id, $bad)
        };
    }
    each!("expired", "accepts an expired token.", expired);
    each!("absent", "needs no token.", absent);
    each!("empty", "accepts an empty token.", empty);
    each!("unknown", "accepts any token.", unknown);
    each!("shortened", "accepts a token without its last character.", shortened);
    each!("other-beginning", "accepts a token with another first character.", other_beginning);
    each!("lengthened", "accepts a token with characters appended.", lengthened);
    each!("revoked", "accepts a revoked token.", revoked);
    faults
}

fn accounts() -> Vec<Fault> {
    let beside_second = |id, breaks| Fault::new(id, breaks).when(|call| call.facts.second_token.is_some());
    faults_of![
        "",
        fault(
            "all.own-account/earlier-extraction-in-text",
            "In text a request id of another account gives the gateways of that account."
        )
        .only(Extract)
        .reply(|call, reply| {
            let Some(id) = request_id(call).filter(|_| in_text(call)) else { return };
            if call.accepted(reply) {
                call.memory.repeat_first(&id, reply);
            }
        }),
        beside_second(
            "all.own-account/groups-of-second-added",
            "A listing holds the groups of another account too."
        )
        .when(of(Groups))
        .compared(act_as_second, |_, others, body| merge(body, found(others), "groupId")),
        beside_second("all.own-account/one-foreign-group", "A listing holds one group of another account.")
            .when(of(Groups))
            .compared(act_as_second, |_, others, body| merge(body, found(others).take(1), "groupId")),
        fault("all.own-account/groups-cached", "The first listing is given to every account.")
            .when(of(Groups))
            .reply(|call, reply| {
                if call.accepted(reply) {
                    call.memory.repeat_first("groups", reply);
                }
            }),
        beside_second(
            "all.own-account/search-sees-all",
            "A search finds the instances of another account too."
        )
        .when(of(Search))
        .compared(act_as_second, add_second),
        beside_second(
            "all.own-account/search-of-shared-address",
            "A search for an address of two accounts finds the instances of both."
        )
        .when(of(Search))
        .when(|call| {
            let shared = call.facts.shared_address.as_deref().unwrap_or_default();
            call.json()["ips"].as_array().is_some_and(|ips| ips.iter().any(|ip| ip == shared))
        })
        .compared(act_as_second, add_second),
        fault(
            "all.own-account/simultaneous-listings",
            "Listings at the same time share one response, whatever their tokens."
        )
        .serve(|call| Box::pin(shared_listing(call))),
        fault(
            "all.own-account/empty-account-sees-main",
            "An account without instances finds those of another."
        )
        .when(of(Search))
        .when(of_account(|facts| facts.empty_token.as_ref()))
        .request(|call| call.as_main()),
        fault(
            "all.own-account/foreign-group-lifts-the-account",
            "Filtering by a group of another account searches that account."
        )
        .when(of(Search))
        .when(|call| call.facts.foreign_group.is_some_and(|group| call.json()["groupId"] == json!(group)))
        .request(act_as_second),
        fault(
            "all.own-account/foreign-order-lifts-the-account",
            "Filtering by an order of another account searches that account."
        )
        .when(of(Search))
        .when(|call| call.facts.foreign_order.as_ref().is_some_and(|order| call.json()["orderNo"] == **order))
        .request(act_as_second),
        fault(
            "all.own-account/last-account-sticks",
            "A call with the token of another account gets the data of the previous account."
        )
        .when(|call| !of(Extract)(call))
        .when(of_account(|facts| facts.second_token.as_ref()))
        .request(|call| call.as_main()),
        fault(
            "extract.idempotent/shared-by-accounts",
            "A request id of one account gives another account its extraction."
        )
        .when(with_request_id)
        .when(of_account(|facts| facts.second_token.as_ref()))
        .request(|call| call.as_main()),
    ]
}

/// Whoever comes while another listing is under way gets the response of that one.
async fn shared_listing(call: Call<'_>) -> Reply {
    const OVERLAP: Duration = Duration::from_millis(15);
    if call.operation() != Some(Groups) {
        return call.send().await;
    }
    let begun = call.memory.calls_of("begun") + 1;
    let is_alone = begun == call.memory.count("ended") + 1;
    tokio::time::sleep(if is_alone { OVERLAP } else { 2 * OVERLAP }).await;
    let reply = match call.memory.recall("shared").filter(|_| !is_alone) {
        Some(shared) => shared,
        None => call.send().await,
    };
    call.memory.keep("shared", &reply);
    call.memory.calls_of("ended");
    reply
}

fn throttling() -> Vec<Fault> {
    let throttle = |id, breaks, operation, retry_after: Option<&'static str>| {
        // The suite's first listing only asks whether anybody is there.
        let spared = u64::from(operation == Groups);
        Fault::new(id, breaks).only(operation).when(move |call| call.memory.calls() == spared).reply(
            move |_, reply| {
                *reply = slow_down();
                if let Some(value) = retry_after {
                    reply.headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
                }
            },
        )
    };
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
        fault("other-header", "A throttled call says how long to wait in another header.")
            .when(|call| call.memory.calls() == 3)
            .reply(|_, reply| {
                *reply = slow_down();
                reply.headers.insert("x-ratelimit-reset", HeaderValue::from_static("1"));
            }),
    ]
}

fn slow_down() -> Reply {
    Reply::json_with(429, &json!({"code": 42900, "message": "slow down"}))
}

fn known(call: &Call<'_>, token: &str) -> bool {
    token == call.token.expose() || call.facts.secrets().any(|secret| secret.expose() == token)
}

/// The request is for an operation.
fn of(operation: OperationId) -> impl Fn(&Call<'_>) -> bool + Send + Sync {
    move |call| call.operation() == Some(operation)
}

/// The token of the query is this one.
fn of_account(token: Token) -> impl Fn(&Call<'_>) -> bool + Send + Sync {
    move |call| {
        token(call.facts).is_some_and(|token| sent(call, API_KEY).is_some_and(|sent| sent == token.expose()))
    }
}

/// The groups or instances of a response.
fn found(body: &Value) -> impl Iterator<Item = &Value> {
    body["data"]["items"].as_array().into_iter().flatten()
}

/// Adds what the second account would have found.
fn add_second(_: &Call<'_>, others: &Value, body: &mut Value) {
    merge(body, found(others), "instanceId");
    body["data"]["total"] = json!(total(body) + total(others));
}

/// Adds items in the order of their ids, so that nothing but their being there is wrong.
fn merge<'a>(body: &mut Value, others: impl Iterator<Item = &'a Value>, id: &str) {
    let Some(items) = body["data"]["items"].as_array_mut() else { return };
    items.extend(others.cloned());
    items.sort_by_key(|item| item[id].as_i64());
    items.dedup_by_key(|item| item[id].as_i64());
}
