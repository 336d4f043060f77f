//! Faults in the listing of groups.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::all::{
    any_of_two_tokens, empty_token, first_of_two_tokens, last_of_two_tokens, query_tokens, without_token,
};
use super::edit::{change, remove, rename, set, with_header, with_status, without_header};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [token(), envelope(), headers(), order(), empty(), fields()].into_iter().flatten().collect()
}

fn token() -> Vec<Fault> {
    faults_of![
        "groups.token/",
        request("absent", "A listing without a token is served.", without_token),
        request("empty", "A listing with an empty token is served.", empty_token),
        request("first-of-two", "Of two tokens the first one counts.", first_of_two_tokens),
        request("last-of-two", "Of two tokens the last one counts.", last_of_two_tokens),
        request("one-of-three", "Of three tokens the first one counts.", |context, seen| {
            if let [first, _, _] = &query_tokens(context, seen)[..] {
                context.act_as(seen, first);
            }
        }),
        request(
            "encoded-name",
            "A token whose name is percent-encoded does not count beside another.",
            |context, seen| {
                let query = seen.query.clone().unwrap_or_default();
                let (encoded, plain): (Vec<_>, Vec<_>) =
                    query.split('&').partition(|pair| pair.starts_with('%'));
                if !encoded.is_empty() && !plain.is_empty() {
                    seen.query = Some(plain.join("&"));
                    let first = query_tokens(context, seen).into_iter().next();
                    context.act_as(seen, &first.unwrap_or_default());
                }
            }
        ),
        request("name-in-capitals", "The letter case of api_key does not count.", |context, seen| {
            let name = &context.contract.groups.api_key.name;
            let found =
                seen.params().into_iter().find(|(key, _)| key != name && key.eq_ignore_ascii_case(name));
            if let Some((key, token)) = found {
                seen.drop_param(&key);
                context.act_as(seen, &token);
            }
        }),
        request("any-of-two", "Of two tokens any good one counts.", any_of_two_tokens),
        request("two-accounts", "Of two accounts the first one counts.", |context, seen| {
            let tokens = query_tokens(context, seen);
            let second = context.facts.second_token.as_ref().map(|token| token.expose().to_owned());
            if tokens.len() > 1 && second.is_some_and(|second| tokens.contains(&second)) {
                context.act_as(seen, &tokens[0]);
            }
        }),
    ]
}

fn envelope() -> Vec<Fault> {
    faults_of![
        "groups.envelope/",
        success("code-of-extraction", "The code is 0.", set("/code", 0)),
        success("code-as-text", "The code is a string.", set("/code", "200")),
        success("code-missing", "There is no code.", remove("/code")),
        success("message-missing", "There is no message.", remove("/message")),
        success(
            "message-of-extraction",
            "The message is called msg, as in an extraction.",
            rename("/message", "msg")
        ),
        success("message-null", "The message is null.", set("/message", Value::Null)),
        success("request-id-missing", "There is no requestId.", remove("/requestId")),
        success("request-id-number", "The requestId is a number.", set("/requestId", 20_260_101)),
        success("request-id-once", "Every response but the first has no requestId.", remove("/requestId"))
            .when(not_first),
        success(
            "last-group-missing",
            "The last group, which has no instances, is not listed.",
            |_, _, body| {
                if let Some(items) = body["data"]["items"].as_array_mut() {
                    items.pop();
                }
            }
        ),
        success("data-missing", "There is no data.", remove("/data")),
        success("data-is-the-list", "The data is the list itself.", |_, _, body| {
            body["data"] = body["data"]["items"].take();
        }),
        success("items-renamed", "The items are called groups.", rename("/data/items", "groups")),
        reply("created", "A listing gets HTTP 201.", with_status(StatusCode::CREATED)),
    ]
}

fn headers() -> Vec<Fault> {
    faults_of![
        "groups.headers/",
        reply("storable", "There is no Cache-Control.", without_header("cache-control")),
        reply(
            "no-cache",
            "Cache-Control is no-cache, which allows storing.",
            with_header("cache-control", "no-cache")
        ),
        reply(
            "private",
            "Cache-Control is private with an age.",
            with_header("cache-control", "private, max-age=60")
        ),
        reply(
            "storable-later",
            "Only the first response has Cache-Control.",
            without_header("cache-control")
        )
        .when(not_first),
        reply("untraced", "There is no X-Request-Id.", without_header("x-request-id")),
        reply("other-name", "The trace id is in X-Trace-Id.", |_, _, reply: &mut Reply| {
            if let Some(id) = reply.headers.remove("x-request-id") {
                reply.headers.insert("x-trace-id", id);
            }
        }),
        reply("storable-when-empty", "An empty listing may be stored.", without_header("cache-control"))
            .when(of_empty_account),
        reply("untraced-when-empty", "An empty listing has no trace id.", without_header("x-request-id"))
            .when(of_empty_account),
    ]
}

fn order() -> Vec<Fault> {
    let with_items = |how: fn(&mut Vec<Value>)| {
        change("/data/items", move |items| {
            if let Some(items) = items.as_array_mut() {
                how(items);
            }
        })
    };
    faults_of![
        "groups.order/",
        success("descending", "Groups descend.", with_items(|items| items.reverse())),
        success(
            "first-two-swapped",
            "The first two groups are swapped.",
            with_items(|items| {
                if let [first, second, ..] = &mut items[..] {
                    std::mem::swap(first, second);
                }
            })
        )
        .when(of_main_account),
        success(
            "last-two-swapped",
            "The last two groups are swapped.",
            with_items(|items| {
                if let [.., before, last] = &mut items[..] {
                    std::mem::swap(before, last);
                }
            })
        ),
        success(
            "by-name",
            "Groups are sorted by name.",
            with_items(|items| items.sort_by_key(|item| item["name"].to_string()))
        ),
        success(
            "by-creation",
            "Groups are sorted by creation.",
            with_items(|items| items.sort_by_key(|item| item["createdAt"].to_string()))
        ),
        success(
            "ids-as-text",
            "Ids are sorted as texts: the last group, which has more digits, stands among shorter ones.",
            with_items(|items| {
                if let Some(last) = items.last_mut() {
                    last["groupId"] = json!(100);
                }
                items.sort_by_key(|item| item["groupId"].to_string());
            })
        )
        .when(of_main_account),
        success(
            "newest-last",
            "The group with the lowest id comes last, as if it had been appended.",
            with_items(|items| {
                if !items.is_empty() {
                    items.rotate_left(1);
                }
            })
        ),
        success(
            "of-second-account",
            "Only the groups of another account descend.",
            with_items(|items| items.reverse())
        )
        .when(|context, seen| !of_main_account(context, seen)),
        success(
            "second-listing",
            "Every listing but the first descends.",
            with_items(|items| items.reverse())
        )
        .when(not_first),
        success("every-sixth", "Every sixth listing descends.", with_items(|items| items.reverse()))
            .when(|context, seen| of_main_account(context, seen) && context.memory.calls() % 6 == 5),
    ]
}

fn empty() -> Vec<Fault> {
    let no_groups = |id, breaks, how: fn(&mut Value)| {
        Fault::success(id, breaks, move |_, _, body| {
            if body["data"]["items"] == json!([]) {
                how(body);
            }
        })
    };
    faults_of![
        "groups.empty/",
        no_groups("null", "An account without groups gets items that are null.", |body| {
            body["data"]["items"] = Value::Null
        }),
        no_groups("missing", "An account without groups gets no items.", |body| { body["data"] = json!({}) }),
        no_groups("object", "An account without groups gets an empty object as items.", |body| {
            body["data"]["items"] = json!({});
        }),
        no_groups("null-data", "An account without groups gets data that is null.", |body| {
            body["data"] = Value::Null
        }),
        no_groups("list-of-null", "An account without groups gets a list with null in it.", |body| {
            body["data"]["items"] = json!([null]);
        }),
        no_groups("business-error", "An account without groups gets an error within HTTP 200.", |body| {
            *body = json!({"code": 404, "message": "no groups", "requestId": "r"});
        }),
        reply("not-found", "An account without groups gets HTTP 404.", |_, _, reply| {
            if reply.json()["data"]["items"] == json!([]) {
                *reply = Reply::json_with(404, &json!({"code": 404, "message": "no groups"}));
            }
        }),
        reply("no-content", "An account without groups gets HTTP 204 without a body.", |_, _, reply| {
            if reply.json()["data"]["items"] == json!([]) {
                reply.status = hyper::StatusCode::NO_CONTENT;
                reply.body = bytes::Bytes::new();
            }
        }),
    ]
}

fn fields() -> Vec<Fault> {
    let time = |id, breaks, path, text: &'static str| Fault::success(id, breaks, set(path, json!(text)));
    faults_of![
        "groups.fields/",
        success("id-text", "An id is a string.", set("/data/items/*/groupId", "11")),
        success("id-zero", "The last id is 0.", set("/data/items/-/groupId", 0)),
        success("id-negative", "An id is negative.", set("/data/items/0/groupId", -1)),
        success("id-null", "The last id is null.", set("/data/items/-/groupId", Value::Null)),
        success("id-fraction", "An id is not an integer.", set("/data/items/0/groupId", 0.5)),
        success("id-renamed", "groupId is called id.", rename("/data/items/*/groupId", "id")),
        success("name-missing", "The last name is missing.", remove("/data/items/-/name")),
        success("name-null", "A name is null.", set("/data/items/0/name", Value::Null)),
        success("name-number", "A name is a number.", set("/data/items/-/name", 17)),
        success("created-missing", "createdAt is missing.", remove("/data/items/*/createdAt")),
        success("updated-missing-last", "The last updatedAt is missing.", remove("/data/items/-/updatedAt")),
        success("updated-null", "An updatedAt is null.", set("/data/items/1/updatedAt", Value::Null)),
        success("created-seconds", "createdAt is in seconds.", set("/data/items/*/createdAt", 1_767_519_000)),
        time("created-zoneless", "createdAt has no zone.", "/data/items/*/createdAt", "2026-01-04T09:30:00"),
        time(
            "updated-zoneless-last",
            "The last updatedAt has no zone.",
            "/data/items/-/updatedAt",
            "2026-01-04T09:30:00.5"
        ),
        time("updated-date", "An updatedAt is a date.", "/data/items/0/updatedAt", "2026-01-04"),
        time(
            "created-month-13",
            "A createdAt has a thirteenth month.",
            "/data/items/0/createdAt",
            "2026-13-04T09:30:00Z"
        ),
        time(
            "created-february-30",
            "A createdAt is the 30th of February.",
            "/data/items/-/createdAt",
            "2026-02-30T09:30:00Z"
        ),
        time("updated-empty", "A group never changed has an empty updatedAt.", "/data/items/0/updatedAt", ""),
        time(
            "updated-http-date",
            "updatedAt is an HTTP date.",
            "/data/items/*/updatedAt",
            "Sun, 04 Jan 2026 09:30:00 GMT"
        ),
        time(
            "created-offset-without-colon",
            "createdAt has an offset without a colon.",
            "/data/items/*/createdAt",
            "2026-01-04T09:30:00+0200"
        ),
        time(
            "created-hour-24",
            "A createdAt has the hour 24.",
            "/data/items/1/createdAt",
            "2026-01-04T24:00:00Z"
        ),
    ]
}

fn not_first(context: &Context, _: &ProxiedRequest) -> bool {
    context.memory.calls() > 1
}

fn of_main_account(context: &Context, seen: &ProxiedRequest) -> bool {
    query_tokens(context, seen).iter().any(|token| token == context.token.expose())
}

fn of_empty_account(context: &Context, seen: &ProxiedRequest) -> bool {
    let empty = context.facts.empty_token.as_ref().map(|token| token.expose().to_owned());
    empty.is_some_and(|empty| query_tokens(context, seen).contains(&empty))
}
