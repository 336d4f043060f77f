//! Faults in what all operations share: tokens, accounts, throttling and secrets.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::header::{HeaderValue, RETRY_AFTER};
use serde_json::{Value, json};

use super::words::*;
use crate::contract::OperationId::{self, Extract, Groups, Search};
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    let mut faults = faults! {
        "all.prefix/" {
            "extract": "Extraction is not served under the prefix." of Extract => serve(|_| Box::pin(async { no_such_path() }));
            "groups": "Groups are not served under the prefix." of Groups => serve(|_| Box::pin(async { no_such_path() }));
            "search": "Searches are not served under the prefix." of Search => serve(|_| Box::pin(async { no_such_path() }));
        }
        "all.token-required/" {
            "extract-unknown-header": "Any token is accepted in X-API-Key." if by_header, one_token => as_main();
            "extract-unknown-bearer": "Any token is accepted in Authorization." if by_bearer, one_token => as_main();
            "extract-absent-text": "A plain-text extraction needs no token." if in_text, no_token => as_main();
            "wildcard": "A percent sign matches every token." if tokens_are(|token| token == "%") => as_main();
            "null": "The token null is served." if tokens_are(|token| token == "null") => as_main();
            "undefined": "The token undefined is served." if tokens_are(|token| token == "undefined") => as_main();
            "zero": "The token 0 is served." if tokens_are(|token| token == "0") => as_main();
            "behind-nul": "A token is read up to a NUL." if that(|call| {
                let is_main = |token: &str| token.split_once('\0').is_some_and(|(before, _)| before == call.token.expose());
                !no_token(call) && credentials(call).iter().all(|token| is_main(token))
            }) => as_main();
        }
        "all.own-account/" {
            "earlier-extraction-in-text": "In text a request id of another account gives the gateways of that account." of Extract
                if in_text, with_request_id => accepted(|call, reply| call.memory.repeat_first(&request_id(call).unwrap_or_default(), reply));
            "groups-of-second-added": "A listing holds the groups of another account too."
                if known(Fact::SecondToken), is_for(Groups) => compared(act_as_second, |_, others, body| merge(body, found(others), "groupId"));
            "one-foreign-group": "A listing holds one group of another account."
                if known(Fact::SecondToken), is_for(Groups) => compared(act_as_second, |_, others, body| merge(body, found(others).take(1), "groupId"));
            "groups-cached": "The first listing is given to every account."
                if is_for(Groups) => accepted(|call, reply| call.memory.repeat_first("groups", reply));
            "search-sees-all": "A search finds the instances of another account too."
                if known(Fact::SecondToken), is_for(Search) => compared(act_as_second, add_second);
            "search-of-shared-address": "A search for an address of two accounts finds the instances of both."
                if known(Fact::SecondToken), known(Fact::SharedAddress), is_for(Search), that(|call| {
                    let shared = call.facts.shared_address.as_deref().unwrap_or_default();
                    call.json()["ips"].as_array().is_some_and(|ips| ips.iter().any(|ip| ip == shared))
                }) => compared(act_as_second, add_second);
            "simultaneous-listings": "Listings at the same time share one response, whatever their tokens."
                => serve(|call| Box::pin(shared_listing(call)));
            "empty-account-sees-main": "An account without instances finds those of another." if is_for(Search), of_account(EMPTY) => as_main();
            "foreign-group-lifts-the-account": "Filtering by a group of another account searches that account."
                if known(Fact::ForeignGroup), is_for(Search), that(|call| call.facts.foreign_group.is_some_and(|group| call.json()["groupId"] == json!(group)))
                => as_second();
            "foreign-order-lifts-the-account": "Filtering by an order of another account searches that account."
                if known(Fact::ForeignOrder), is_for(Search), that(|call| call.facts.foreign_order.as_ref().is_some_and(|order| call.json()["orderNo"] == **order))
                => as_second();
            "last-account-sticks": "A call with the token of another account gets the data of the previous account."
                if not(is_for(Extract)), of_account(SECOND) => as_main();
        }
        "extract.idempotent/" {
            "shared-by-accounts": "A request id of one account gives another account its extraction."
                if with_request_id, of_account(SECOND) => as_main();
        }
        "all.throttled-retry-after/" {
            "extract-untold": "A throttled extraction does not say how long to wait." of Extract if at_call(0) => slow_down;
            "groups-untold": "A throttled listing does not say how long to wait." of Groups if at_call(1) => slow_down;
            "search-untold": "A throttled search does not say how long to wait." of Search if at_call(0) => slow_down;
            "word": "Retry-After is a word." of Groups if at_call(1) => throttle("soon");
            "negative": "Retry-After is negative." of Groups if at_call(1) => throttle("-1");
            "fraction": "Retry-After is a fraction." of Extract if at_call(0) => throttle("0.5");
            "unit": "Retry-After has a unit." of Search if at_call(0) => throttle("1s");
            "iso-date": "Retry-After is an RFC 3339 time." of Groups if at_call(1) => throttle("2026-01-01T00:00:00Z");
            "empty": "Retry-After is empty." of Search if at_call(0) => throttle("");
            "other-header": "A throttled call says how long to wait in another header." if at_call(3) => reply(|call, reply| {
                slow_down(call, reply);
                reply.headers.insert("x-ratelimit-reset", HeaderValue::from_static("1"));
            });
        }
        "all.no-secrets/" {
            "instance-password": "An instance has its proxy password." of Search => leak("/data/items/*/proxyPassword");
            "last-instance-password": "The last instance of a page has its proxy password." of Search => leak("/data/items/-/password");
            "instance-capabilities": "Capabilities hold a password." of Search => leak("/data/items/0/capabilities/note");
            "search-message": "The message of a search holds a password." of Search => leak("/message");
            "group-password": "A group has a password." of Groups => leak("/data/items/*/secret");
            "group-name": "The last group's name holds a password." of Groups => leak("/data/items/-/name");
            "listing-beside": "A password stands beside the list of groups." of Groups => leak("/data/password");
            "endpoint-password": "A gateway has its password." of Extract => leak("/data/*/password");
            "endpoint-last": "The last gateway has its password." of Extract => leak("/data/-/pass");
            "extraction-msg": "The msg of an extraction holds a password." of Extract => leak("/msg");
            "endpoint-userinfo": "A gateway's ip holds user and password." => success(|call, body| visit(body, "/data/*/ip", &mut |ip| {
                *ip = json!(format!("user:{}@{}", canary(call), ip.as_str().unwrap_or_default()));
            }));
            "text-entry": "An entry of a plain-text response ends with user and password."
                if in_text => accepted(|call, reply| reply.body = format!("{}:user:{}", reply.text(), canary(call)).into());
            "text-entry-unknown": "Entries of a plain-text response end with user and password, which nobody supplied."
                if in_text => accepted(|_, reply| reply.body = format!("{}:user7:pAss-77", reply.text()).into());
            "header": "A header holds a password." => reply(|call, reply| reply.set_header("x-proxy-password", canary(call)));
            "basic-header": "A header holds user and password in base64." => reply(|call, reply| {
                let value = format!("Basic {}", BASE64_STANDARD.encode(format!("user-1:{}", canary(call))));
                reply.set_header("x-proxy-authorization", &value);
            });
            "escaped": "A password is written with JSON escapes." => accepted(|call, reply| if !reply.json().is_null() {
                let escaped: String = canary(call).encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                reply.body = reply.text().replacen('{', &format!("{{\"note\":\"{escaped}\","), 1).into();
            });
            "extract-error": "The message of a rejected extraction holds a password."
                if is_for(Extract) => error(|call, body| body["message"] = json!(format!("upstream said: {}", canary(call))));
            "static-error": "A rejected search shows a password."
                if is_for(Search) => error(|call, body| body["debug"] = json!({"row": [1, canary(call)]}));
            "empty-result": "An empty result shows a password." => empty(|call, body| body["debug"] = json!(canary(call)));
            "unnamed": "An instance has a member proxy_password with a text that nobody named."
                => set("/data/items/0/proxy_password", "correct horse");
            "nested": "Credentials of a gateway are shown." => set("/data/0/auth", json!({"user": "u1", "passwd": "hunter2"}));
        }
    };
    macro_rules! in_each_operation {
        ($($id:literal $breaks:literal if $($when:expr),+;)+) => { faults! {
            "all.token-required/extract-" { $($id: (concat!("An extraction ", $breaks)) of Extract if $($when),+ => as_main();)+ }
            "all.token-required/groups-" { $($id: (concat!("A listing ", $breaks)) of Groups if $($when),+ => as_main();)+ }
            "all.token-required/search-" { $($id: (concat!("A search ", $breaks)) of Search if $($when),+ => as_main();)+ }
        } };
    }
    faults.extend(in_each_operation! {
        "expired" "accepts an expired token."
            if known(Fact::RejectedTokens), token(|call, sent| call.facts.rejected_tokens.iter().any(|rejected| sent == rejected.token.expose()));
        "absent" "needs no token." if no_token;
        "empty" "accepts an empty token." if token(|_, sent| sent.is_empty());
        "unknown" "accepts any token." if token(|call, sent| {
            !sent.is_empty() && sent != call.token.expose() && call.facts.secrets().all(|secret| secret.expose() != sent)
        });
        "shortened" "accepts a token without its last character."
            if token(|call, sent| sent.len() + 1 == call.token.expose().len() && call.token.expose().starts_with(sent));
        "other-beginning" "accepts a token with another first character."
            if token(|call, sent| sent != call.token.expose() && sent.ends_with(call.token.without_first_character()));
        "lengthened" "accepts a token with characters appended."
            if token(|call, sent| sent != call.token.expose() && sent.starts_with(call.token.expose()));
        "revoked" "accepts a revoked token."
            if known(Fact::RevokedToken), token(|call, sent| call.facts.revoked_token.as_ref().is_some_and(|token| sent == token.expose()));
    });
    faults
}

fn no_such_path() -> Reply {
    Reply::json_with(404, &json!({"message": "no such path"}))
}

fn no_token(call: &Call<'_>) -> bool {
    credentials(call).is_empty()
}

fn one_token(call: &Call<'_>) -> bool {
    credentials(call).len() == 1
}

/// One token is sent, and it fits.
fn token(fits: fn(&Call<'_>, &str) -> bool) -> When {
    that(move |call| matches!(&credentials(call)[..], [sent] if fits(call, sent)))
}

/// Tokens are sent, and all fit.
fn tokens_are(fits: fn(&str) -> bool) -> When {
    that(move |call| !no_token(call) && credentials(call).iter().all(|token| fits(token)))
}

/// The request is for an operation.
fn is_for(operation: OperationId) -> When {
    that(move |call| call.operation() == Some(operation))
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

/// So many calls came before. The suite's first listing only asks whether anybody is there.
fn at_call(number: u64) -> When {
    that(move |call| call.memory.calls() == number)
}

fn slow_down(_: &Call<'_>, reply: &mut Reply) {
    *reply = Reply::json_with(429, &json!({"code": 42900, "message": "slow down"}));
}

fn throttle(retry_after: &'static str) -> Act {
    reply(move |call, reply| {
        slow_down(call, reply);
        reply.headers.insert(RETRY_AFTER, HeaderValue::from_static(retry_after));
    })
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

fn canary<'a>(call: &Call<'a>) -> &'a str {
    call.facts.canaries.first().map_or("no canary", |canary| canary.expose())
}

/// Shows a password at a path.
fn leak(path: &'static str) -> impl OnBody {
    move |call, body| put_at(body, path, &json!(canary(call)))
}
