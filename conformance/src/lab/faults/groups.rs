//! Faults in the listing of groups.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::edit::{remove, rename, set, with_header, with_status, without_header};
use super::token::{
    any_of_two_tokens, empty_token, first_of_two_tokens, last_of_two_tokens, query_tokens, without_token,
};
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [token(), envelope(), headers(), order(), empty(), fields()].into_iter().flatten().collect()
}

fn token() -> Vec<Fault> {
    faults_of![
        "groups.token/",
        fault("absent", "A listing without a token is served.").request(without_token),
        fault("empty", "A listing with an empty token is served.").request(empty_token),
        fault("first-of-two", "Of two tokens the first one counts.").request(first_of_two_tokens),
        fault("last-of-two", "Of two tokens the last one counts.").request(last_of_two_tokens),
        fault("one-of-three", "Of three tokens the first one counts.").request(|call| {
            if let [first, _, _] = &query_tokens(call)[..] {
                call.act_as(first);
            }
        }),
        fault("encoded-name", "A token whose name is percent-encoded does not count beside another.")
            .request(|call| {
                let query = call.query.clone().unwrap_or_default();
                let (encoded, plain): (Vec<_>, Vec<_>) =
                    query.split('&').partition(|pair| pair.starts_with('%'));
                if !encoded.is_empty() && !plain.is_empty() {
                    call.query = Some(plain.join("&"));
                    let first = query_tokens(call).into_iter().next();
                    call.act_as(&first.unwrap_or_default());
                }
            }),
        fault("name-in-capitals", "The letter case of api_key does not count.").request(|call| {
            let name = &call.contract.groups.api_key.name;
            let found =
                call.params().into_iter().find(|(key, _)| key != name && key.eq_ignore_ascii_case(name));
            if let Some((key, token)) = found {
                call.drop_param(&key);
                call.act_as(&token);
            }
        }),
        fault("any-of-two", "Of two tokens any good one counts.").request(any_of_two_tokens),
        fault("two-accounts", "Of two accounts the first one counts.").request(|call| {
            let (tokens, second) = (query_tokens(call), call.facts.second_token.as_ref());
            let is_second = |token: &String| second.is_some_and(|second| token == second.expose());
            if tokens.len() > 1 && tokens.iter().any(is_second) {
                call.act_as(&tokens[0]);
            }
        }),
    ]
}

fn envelope() -> Vec<Fault> {
    faults_of![
        "groups.envelope/",
        fault("code-of-extraction", "The code is 0.").success(set("/code", 0)),
        fault("code-as-text", "The code is a string.").success(set("/code", "200")),
        fault("code-missing", "There is no code.").success(remove("/code")),
        fault("message-missing", "There is no message.").success(remove("/message")),
        fault("message-of-extraction", "The message is called msg, as in an extraction.")
            .success(rename("/message", "msg")),
        fault("message-null", "The message is null.").success(set("/message", Value::Null)),
        fault("request-id-missing", "There is no requestId.").success(remove("/requestId")),
        fault("request-id-number", "The requestId is a number.").success(set("/requestId", 20_260_101)),
        fault("request-id-once", "Every response but the first has no requestId.")
            .when(not_first)
            .success(remove("/requestId")),
        fault("last-group-missing", "The last group, which has no instances, is not listed.")
            .list(|_, items| drop(items.pop())),
        fault("data-missing", "There is no data.").success(remove("/data")),
        fault("data-is-the-list", "The data is the list itself.").success(|_, body| {
            body["data"] = body["data"]["items"].take();
        }),
        fault("items-renamed", "The items are called groups.").success(rename("/data/items", "groups")),
        fault("created", "A listing gets HTTP 201.").reply(with_status(StatusCode::CREATED)),
    ]
}

fn headers() -> Vec<Fault> {
    faults_of![
        "groups.headers/",
        fault("storable", "There is no Cache-Control.").reply(without_header("cache-control")),
        fault("no-cache", "Cache-Control is no-cache, which allows storing.")
            .reply(with_header("cache-control", "no-cache")),
        fault("private", "Cache-Control is private with an age.")
            .reply(with_header("cache-control", "private, max-age=60")),
        fault("storable-later", "Only the first response has Cache-Control.")
            .when(not_first)
            .reply(without_header("cache-control")),
        fault("untraced", "There is no X-Request-Id.").reply(without_header("x-request-id")),
        fault("other-name", "The trace id is in X-Trace-Id.").reply(|_, reply| {
            if let Some(id) = reply.headers.remove("x-request-id") {
                reply.headers.insert("x-trace-id", id);
            }
        }),
        fault("storable-when-empty", "An empty listing may be stored.")
            .when(of_empty_account)
            .reply(without_header("cache-control")),
        fault("untraced-when-empty", "An empty listing has no trace id.")
            .when(of_empty_account)
            .reply(without_header("x-request-id")),
    ]
}

fn order() -> Vec<Fault> {
    faults_of![
        "groups.order/",
        fault("descending", "Groups descend.").list(|_, items| items.reverse()),
        fault("first-two-swapped", "The first two groups are swapped.").when(of_main_account).list(
            |_, items| {
                if let [first, second, ..] = &mut items[..] {
                    std::mem::swap(first, second);
                }
            }
        ),
        fault("last-two-swapped", "The last two groups are swapped.").list(|_, items| {
            if let [.., before, last] = &mut items[..] {
                std::mem::swap(before, last);
            }
        }),
        fault("by-name", "Groups are sorted by name.")
            .list(|_, items| items.sort_by_key(|item| item["name"].to_string())),
        fault("by-creation", "Groups are sorted by creation.")
            .list(|_, items| items.sort_by_key(|item| item["createdAt"].to_string())),
        fault(
            "ids-as-text",
            "Ids are sorted as texts: the last group, which has more digits, stands among shorter ones."
        )
        .when(of_main_account)
        .list(|_, items| {
            if let Some(last) = items.last_mut() {
                last["groupId"] = json!(100);
            }
            items.sort_by_key(|item| item["groupId"].to_string());
        }),
        fault("newest-last", "The group with the lowest id comes last, as if it had been appended.").list(
            |_, items| {
                let by = items.len().min(1);
                items.rotate_left(by);
            }
        ),
        fault("of-second-account", "Only the groups of another account descend.")
            .when(|call| !of_main_account(call))
            .list(|_, items| items.reverse()),
        fault("second-listing", "Every listing but the first descends.")
            .when(not_first)
            .list(|_, items| items.reverse()),
        fault("every-sixth", "Every sixth listing descends.")
            .when(of_main_account)
            .when(|call| call.memory.calls() % 6 == 5)
            .list(|_, items| items.reverse()),
    ]
}

fn empty() -> Vec<Fault> {
    faults_of![
        "groups.empty/",
        fault("null", "An account without groups gets items that are null.")
            .empty(set("/data/items", Value::Null)),
        fault("missing", "An account without groups gets no items.").empty(set("/data", json!({}))),
        fault("object", "An account without groups gets an empty object as items.")
            .empty(set("/data/items", json!({}))),
        fault("null-data", "An account without groups gets data that is null.")
            .empty(set("/data", Value::Null)),
        fault("list-of-null", "An account without groups gets a list with null in it.")
            .empty(set("/data/items", json!([null]))),
        fault("business-error", "An account without groups gets an error within HTTP 200.")
            .empty(|_, body| *body = json!({"code": 404, "message": "no groups", "requestId": "r"})),
        fault("not-found", "An account without groups gets HTTP 404.").reply(|_, reply| {
            if reply.json()["data"]["items"] == json!([]) {
                *reply = Reply::json_with(404, &json!({"code": 404, "message": "no groups"}));
            }
        }),
        fault("no-content", "An account without groups gets HTTP 204 without a body.").reply(|_, reply| {
            if reply.json()["data"]["items"] == json!([]) {
                reply.status = StatusCode::NO_CONTENT;
                reply.body = bytes::Bytes::new();
            }
        }),
    ]
}

fn fields() -> Vec<Fault> {
    faults_of![
        "groups.fields/",
        fault("id-text", "An id is a string.").success(set("/data/items/*/groupId", "11")),
        fault("id-zero", "The last id is 0.").success(set("/data/items/-/groupId", 0)),
        fault("id-negative", "An id is negative.").success(set("/data/items/0/groupId", -1)),
        fault("id-null", "The last id is null.").success(set("/data/items/-/groupId", Value::Null)),
        fault("id-fraction", "An id is not an integer.").success(set("/data/items/0/groupId", 0.5)),
        fault("id-renamed", "groupId is called id.").success(rename("/data/items/*/groupId", "id")),
        fault("name-missing", "The last name is missing.").success(remove("/data/items/-/name")),
        fault("name-null", "A name is null.").success(set("/data/items/0/name", Value::Null)),
        fault("name-number", "A name is a number.").success(set("/data/items/-/name", 17)),
        fault("created-missing", "createdAt is missing.").success(remove("/data/items/*/createdAt")),
        fault("updated-missing-last", "The last updatedAt is missing.")
            .success(remove("/data/items/-/updatedAt")),
        fault("updated-null", "An updatedAt is null.").success(set("/data/items/1/updatedAt", Value::Null)),
        fault("created-seconds", "createdAt is in seconds.")
            .success(set("/data/items/*/createdAt", 1_767_519_000)),
        fault("created-zoneless", "createdAt has no zone.")
            .success(set("/data/items/*/createdAt", "2026-01-04T09:30:00")),
        fault("updated-zoneless-last", "The last updatedAt has no zone.")
            .success(set("/data/items/-/updatedAt", "2026-01-04T09:30:00.5")),
        fault("updated-date", "An updatedAt is a date.")
            .success(set("/data/items/0/updatedAt", "2026-01-04")),
        fault("created-month-13", "A createdAt has a thirteenth month.")
            .success(set("/data/items/0/createdAt", "2026-13-04T09:30:00Z")),
        fault("created-february-30", "A createdAt is the 30th of February.")
            .success(set("/data/items/-/createdAt", "2026-02-30T09:30:00Z")),
        fault("updated-empty", "A group that was never changed has an empty updatedAt.")
            .success(set("/data/items/0/updatedAt", "")),
        fault("updated-http-date", "updatedAt is an HTTP date.")
            .success(set("/data/items/*/updatedAt", "Sun, 04 Jan 2026 09:30:00 GMT")),
        fault("created-offset-without-colon", "createdAt has an offset without a colon.")
            .success(set("/data/items/*/createdAt", "2026-01-04T09:30:00+0200")),
        fault("created-hour-24", "A createdAt has the hour 24.")
            .success(set("/data/items/1/createdAt", "2026-01-04T24:00:00Z")),
    ]
}

fn not_first(call: &Call<'_>) -> bool {
    call.memory.calls() > 1
}

fn of_main_account(call: &Call<'_>) -> bool {
    query_tokens(call).iter().any(|token| token == call.token.expose())
}

fn of_empty_account(call: &Call<'_>) -> bool {
    let empty = call.facts.empty_token.as_ref();
    empty.is_some_and(|empty| query_tokens(call).iter().any(|token| token == empty.expose()))
}
