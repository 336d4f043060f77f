//! Faults in the listing of groups.

use bytes::Bytes;
use hyper::StatusCode;
use serde_json::{Value, json};

use super::words::*;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "groups.token/" {
            "absent": "A listing without a token is served." => without_token();
            "empty": "A listing with an empty token is served." => empty_token();
            "first-of-two": "Of two tokens the first one counts." => first_of_two_tokens;
            "last-of-two": "Of two tokens the last one counts." => last_of_two_tokens;
            "one-of-three": "Of three tokens the first one counts." if that(|call| query_tokens(call).len() == 3)
                => first_of_two_tokens;
            "encoded-name": "A token whose name is percent-encoded does not count beside another." => drop_encoded;
            "name-in-capitals": "The letter case of api_key does not count." => request(|call| {
                let name = &call.contract.groups.api_key.name;
                let found = call.params().into_iter().find(|(key, _)| key != name && key.eq_ignore_ascii_case(name));
                if let Some((key, token)) = found {
                    call.drop_param(&key);
                    call.act_as(&token);
                }
            });
            "any-of-two": "Of two tokens any good one counts." => any_of_two_tokens();
            "two-accounts": "Of two accounts the first one counts." if known(Fact::SecondToken), that(|call| {
                let second = call.facts.second_token.as_ref();
                second.is_some_and(|second| query_tokens(call).iter().any(|token| token == second.expose()))
            }) => first_of_two_tokens;
        }
        "groups.envelope/" {
            "code-of-extraction": "The code is 0." => set("/code", 0);
            "code-as-text": "The code is a string." => set("/code", "200");
            "code-missing": "There is no code." => remove("/code");
            "message-missing": "There is no message." => remove("/message");
            "message-of-extraction": "The message is called msg, as in an extraction." => rename("/message", "msg");
            "message-null": "The message is null." => set("/message", Value::Null);
            "request-id-missing": "There is no requestId." => remove("/requestId");
            "request-id-number": "The requestId is a number." => set("/requestId", 20_260_101);
            "request-id-once": "Every response but the first has no requestId." if not_first => remove("/requestId");
            "last-group-missing": "The last group, which has no instances, is not listed." => list(|_, items| drop(items.pop()));
            "data-missing": "There is no data." => remove("/data");
            "data-is-the-list": "The data is the list itself." => success(|_, body| body["data"] = body["data"]["items"].take());
            "items-renamed": "The items are called groups." => rename("/data/items", "groups");
            "created": "A listing gets HTTP 201." => with_status(StatusCode::CREATED);
        }
        "groups.headers/" {
            "storable": "There is no Cache-Control." => without_header("cache-control");
            "no-cache": "Cache-Control is no-cache, which allows storing." => with_header("cache-control", "no-cache");
            "private": "Cache-Control is private with an age." => with_header("cache-control", "private, max-age=60");
            "storable-later": "Only the first response has Cache-Control." if not_first => without_header("cache-control");
            "untraced": "There is no X-Request-Id." => without_header("x-request-id");
            "other-name": "The trace id is in X-Trace-Id." => reply(|_, reply| {
                if let Some(id) = reply.headers.remove("x-request-id") {
                    reply.headers.insert("x-trace-id", id);
                }
            });
            "storable-when-empty": "An empty listing may be stored." if of_account(EMPTY) => without_header("cache-control");
            "untraced-when-empty": "An empty listing has no trace id." if of_account(EMPTY) => without_header("x-request-id");
        }
        "groups.order/" {
            "descending": "Groups descend." => list(|_, items| items.reverse());
            "first-two-swapped": "The first two groups are swapped." if of_main_account() => list(|_, items| {
                if let [first, second, ..] = &mut items[..] {
                    std::mem::swap(first, second);
                }
            });
            "last-two-swapped": "The last two groups are swapped." => list(|_, items| {
                if let [.., before, last] = &mut items[..] {
                    std::mem::swap(before, last);
                }
            });
            "by-name": "Groups are sorted by name." => list(|_, items| items.sort_by_key(|item| item["name"].to_string()));
            "by-creation": "Groups are sorted by creation." => list(|_, items| items.sort_by_key(|item| item["createdAt"].to_string()));
            "ids-as-text": "Ids are sorted as texts: the last group, which has more digits, stands among shorter ones."
                if of_main_account() => list(|_, items| {
                    if let Some(last) = items.last_mut() {
                        last["groupId"] = json!(100);
                    }
                    items.sort_by_key(|item| item["groupId"].to_string());
                });
            "newest-last": "The group with the lowest id comes last, as if it had been appended."
                => list(|_, items| {
                    let by = items.len().min(1);
                    items.rotate_left(by);
                });
            "of-second-account": "Only the groups of another account descend." if not(of_main_account()).needs(Need::Token) => list(|_, items| items.reverse());
            "second-listing": "Every listing but the first descends." if not_first => list(|_, items| items.reverse());
            "every-sixth": "Every sixth listing descends." if of_main_account(), that(|call| call.memory.calls() % 6 == 5) => list(|_, items| items.reverse());
        }
        "groups.empty/" {
            "null": "An account without groups gets items that are null." => empty(set("/data/items", Value::Null));
            "missing": "An account without groups gets no items." => empty(set("/data", json!({})));
            "object": "An account without groups gets an empty object as items." => empty(set("/data/items", json!({})));
            "null-data": "An account without groups gets data that is null." => empty(set("/data", Value::Null));
            "list-of-null": "An account without groups gets a list with null in it." => empty(set("/data/items", json!([null])));
            "business-error": "An account without groups gets an error within HTTP 200."
                => empty(|_, body| *body = json!({"code": 404, "message": "no groups", "requestId": "r"}));
            "not-found": "An account without groups gets HTTP 404." => when_empty(respond(404, json!({"code": 404, "message": "no groups"})));
            "no-content": "An account without groups gets HTTP 204 without a body." => when_empty(|_, reply| {
                reply.status = StatusCode::NO_CONTENT;
                reply.body = Bytes::new();
            });
        }
        "groups.fields/" {
            "id-text": "An id is a string." => set("/data/items/*/groupId", "11");
            "id-zero": "The last id is 0." => set("/data/items/-/groupId", 0);
            "id-negative": "An id is negative." => set("/data/items/0/groupId", -1);
            "id-null": "The last id is null." => set("/data/items/-/groupId", Value::Null);
            "id-fraction": "An id is not an integer." => set("/data/items/0/groupId", 0.5);
            "id-renamed": "groupId is called id." => rename("/data/items/*/groupId", "id");
            "name-missing": "The last name is missing." => remove("/data/items/-/name");
            "name-null": "A name is null." => set("/data/items/0/name", Value::Null);
            "name-number": "A name is a number." => set("/data/items/-/name", 17);
            "created-missing": "createdAt is missing." => remove("/data/items/*/createdAt");
            "updated-missing-last": "The last updatedAt is missing." => remove("/data/items/-/updatedAt");
            "updated-null": "An updatedAt is null." => set("/data/items/1/updatedAt", Value::Null);
            "created-seconds": "createdAt is in seconds." => set("/data/items/*/createdAt", 1_767_519_000);
            "created-zoneless": "createdAt has no zone." => set("/data/items/*/createdAt", "2026-01-04T09:30:00");
            "updated-zoneless-last": "The last updatedAt has no zone." => set("/data/items/-/updatedAt", "2026-01-04T09:30:00.5");
            "updated-date": "An updatedAt is a date." => set("/data/items/0/updatedAt", "2026-01-04");
            "created-month-13": "A createdAt has a thirteenth month." => set("/data/items/0/createdAt", "2026-13-04T09:30:00Z");
            "created-february-30": "A createdAt is the 30th of February." => set("/data/items/-/createdAt", "2026-02-30T09:30:00Z");
            "updated-empty": "A group that was never changed has an empty updatedAt." => set("/data/items/0/updatedAt", "");
            "updated-http-date": "updatedAt is an HTTP date." => set("/data/items/*/updatedAt", "Sun, 04 Jan 2026 09:30:00 GMT");
            "created-offset-without-colon": "createdAt has an offset without a colon."
                => set("/data/items/*/createdAt", "2026-01-04T09:30:00+0200");
            "created-hour-24": "A createdAt has the hour 24." => set("/data/items/1/createdAt", "2026-01-04T24:00:00Z");
        }
    }
}

fn drop_encoded(call: &mut Call<'_>) {
    let query = call.query.clone().unwrap_or_default();
    let (encoded, plain): (Vec<_>, Vec<_>) = query.split('&').partition(|pair| pair.starts_with('%'));
    if !encoded.is_empty() && !plain.is_empty() {
        call.query = Some(plain.join("&"));
        let first = query_tokens(call).into_iter().next();
        call.act_as(&first.unwrap_or_default());
    }
}

fn not_first(call: &Call<'_>) -> bool {
    call.memory.calls() > 1
}
