//! Faults in the listing of groups.

use bytes::Bytes;
use hyper::StatusCode;
use serde_json::{Value, json};

use super::words::*;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "groups.envelope/" {
            "last-group-missing": "The last group, which has no instances, is not listed." => list(|_, items| drop(items.pop()));
            "data-is-the-list": "The data is the list itself." => success(|_, body| body["data"] = body["data"]["items"].take());
            "items-renamed": "The items are called groups." => rename("/data/items", "groups");
        }
        "groups.headers/" {
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

/// Whether it is not the first call.
pub(super) fn not_first(call: &Call<'_>) -> bool {
    call.memory.calls() > 1
}
