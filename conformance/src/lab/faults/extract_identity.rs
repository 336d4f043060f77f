//! Faults in request ids and in what a repeated one gives.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::words::*;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "extract.request-id-source/" {
            "query-ignored": "The request id of the query is not read." => ignore(REQUEST_ID);
            "header-ignored": "The request id of the header is not read." => ignore(REQUEST_ID_HEADER);
            "header-first": "The header takes precedence over the query." if with(REQUEST_ID), with(REQUEST_ID_HEADER) => ignore(REQUEST_ID);
            "neither-of-both": "Two different request ids are ignored." if with(REQUEST_ID), with(REQUEST_ID_HEADER) => drop_request_id;
            "both-joined": "Two request ids are joined." if with(REQUEST_ID), with(REQUEST_ID_HEADER) => request(|call| {
                let joined = request_id(call).unwrap_or_default() + &text(call, REQUEST_ID_HEADER).unwrap_or_default();
                put(call, REQUEST_ID, joined);
            });
            "both-rejected": "Two request ids are rejected." if with(REQUEST_ID), with(REQUEST_ID_HEADER) => reject;
            "required" + [text]: "A request id must be sent" if not(with_request_id) => reject;
            "one-for-all": "Calls without a request id all get the same one."
                if not(with_request_id) => request(|call| put(call, REQUEST_ID, "made-by-the-server-once"));
            "header-rejected": "A request id in the header is rejected." if in_header_alone => reject;
            "header-ignored-in-text": "The request id of the header is not read in text." if in_text => ignore(REQUEST_ID_HEADER);
            "header-ignored-by-bearer": "Beside a bearer token the request id of the header is not read." if by_bearer => ignore(REQUEST_ID_HEADER);
            "query-and-header-apart": "An id in the header is another than the same in the query."
                if in_header_alone => request(|call| {
                    let id = text(call, REQUEST_ID_HEADER).unwrap_or_default();
                    ignore(REQUEST_ID_HEADER)(call);
                    put(call, REQUEST_ID, format!("header:{id}"));
                });
        }
        "extract.idempotent/" {
            "forgotten" + [in_text, other_protocol, by_header, by_bearer]: "A repeated request id is a new extraction" => forget;
            "forgotten-in-header": "A repeated request id of the header is a new extraction." if in_header_alone => forget;
            "forgotten-in-query": "A repeated request id of the query is a new extraction." if with(REQUEST_ID) => forget;
            // Another extraction by the server itself gives the same gateways now and then, and one check alone asks for so many.
            "forgotten-at-maximum": "A large extraction is not remembered." if again, at_maximum
                => list(|_, entries| entries.iter_mut().for_each(next_port));
            "forgotten-third": "A request id is remembered for one repetition." if that(|call| seen_before(call) > 1) => forget;
            "one-remembered": "Only the latest request id is remembered." if with_request_id => request(|call| {
                let key = format!("latest {}", request_id(call).unwrap_or_default());
                let latest = call.memory.recall("latest").map(|reply| reply.json());
                if latest != Some(json!(key)) && seen_before(call) > 0 {
                    forget(call);
                }
                call.memory.keep("latest", &Reply::json_with(200, &json!(key)));
            });
            "rejected": "A repeated request id is rejected." if again => reject;
            "conflict": "A repeated request id is a conflict."
                if again => respond(409, json!({"code": 40901, "message": "duplicate request id"}));
            "one-less": "A repetition gives one gateway less." if again => list(|_, entries| drop(entries.pop()));
            "one-other": "A repetition gives one gateway another port." if again
                => list(|_, entries| entries.last_mut().into_iter().for_each(next_port));
            "emptied": "A repetition gives no gateways." if again => list(|_, entries| entries.clear());
            "first-twice": "A repetition gives the first gateway in place of the last." if again => list(|_, entries| {
                let first = entries.first().cloned();
                if let (Some(first), Some(last)) = (first, entries.last_mut()) {
                    *last = first;
                }
            });
            "raced": "Two calls with one request id at the same time are two extractions." => serve(raced);
            "one-entry": "For one entry no request id is remembered." if that(|call| num(call) == Some(1)) => drop_request_id;
            "last-characters": "Only the last four characters of a request id are compared." if with_request_id => accepted(|call, reply| {
                let id = request_id(call).unwrap_or_default();
                let key: String = id.chars().skip(id.chars().count().saturating_sub(4)).collect();
                call.memory.repeat_first(&key, reply);
            });
            "without-hyphens": "Hyphens of a request id do not count." => respell_id(|id| id.replace('-', ""));
            "sixty-four-characters": "A request id counts up to its 64th character." => respell_id(|id| id.chars().take(64).collect());
            "hundred-characters": "A request id counts up to its hundredth character." => respell_id(|id| id.chars().take(100).collect());
            "ascii-alone": "A request id that is not ASCII is ignored."
                if that(|call| request_id(call).is_some_and(|id| !id.is_ascii())) => drop_request_id;
        }
    }
}

fn next_port(entry: &mut Value) {
    entry["port"] = json!(entry["port"].as_u64().unwrap_or_default().saturating_add(1));
}

/// Forgets the id of calls that are under way when another one with it comes.
fn raced<'a>(mut call: Call<'a>) -> BoxFuture<'a, Reply> {
    Box::pin(async move {
        let Some(id) = request_id(&call) else { return call.send().await };
        let (begun, ended) = (format!("begun {id}"), format!("ended {id}"));
        if call.memory.calls_of(&begun) > 0 && call.memory.recall(&ended).is_none() {
            forget(&mut call);
        }
        // Long enough for another call to come meanwhile.
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        let reply = call.send().await;
        call.memory.keep(&ended, &reply);
        reply
    })
}

/// Gives a request an id of its own in place of the one that was sent.
fn forget(call: &mut Call<'_>) {
    static MADE: AtomicU64 = AtomicU64::new(0);
    if request_id(call).is_some() {
        ignore(REQUEST_ID_HEADER)(call);
        put(call, REQUEST_ID, format!("made-up-{}", MADE.fetch_add(1, Ordering::Relaxed)));
    }
}

/// Gives a request id another spelling, in the query.
fn respell_id(how: fn(&str) -> String) -> impl OnRequest {
    move |call| {
        if let Some(sent) = request_id(call) {
            ignore(REQUEST_ID_HEADER)(call);
            put(call, REQUEST_ID, how(&sent));
        }
    }
}

/// Removes the request id, wherever it is.
pub(super) fn drop_request_id(call: &mut Call<'_>) {
    ignore(REQUEST_ID)(call);
    ignore(REQUEST_ID_HEADER)(call);
}

fn in_header_alone(call: &Call<'_>) -> bool {
    text(call, REQUEST_ID_HEADER).is_some() && text(call, REQUEST_ID).is_none()
}

/// The request id was sent before.
fn again(call: &Call<'_>) -> bool {
    seen_before(call) > 0
}

fn seen_before(call: &Call<'_>) -> u64 {
    request_id(call).map_or(0, |id| call.memory.calls_of(&id))
}
