//! Faults in request ids and in what a repeated one gives.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::condition::{at_maximum, by_bearer, in_text, request_id};
use super::edit::respond;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    source().into_iter().chain(idempotent()).collect()
}

fn source() -> Vec<Fault> {
    let absent = |call: &Call<'_>| request_id(call).is_none();
    let both = |call: &Call<'_>| in_query(call) && in_header(call);
    faults_of![
        "extract.request-id-source/",
        fault("query-ignored", "The request id of the query is not read.").request(drop_query),
        fault("header-ignored", "The request id of the header is not read.").request(drop_header),
        fault("header-first", "The header takes precedence over the query.").when(both).request(drop_query),
        fault("neither-of-both", "Two different request ids are ignored.")
            .when(both)
            .request(drop_request_id),
        fault("both-joined", "Two request ids are joined.").when(both).request(|call| {
            let joined = request_id(call).unwrap_or_default();
            let header = header_id(call).unwrap_or_default();
            call.set_param(&call.contract.extract.request_id.name, &format!("{joined}{header}"));
        }),
        reject("both-rejected", "Two request ids are rejected.").when(both),
        reject("required", "A request id must be sent.").when(absent),
        reject("required-in-text", "A request id must be sent in text.").when(absent).when(in_text),
        fault("one-for-all", "Calls without a request id all get the same one.").when(absent).request(
            |call| {
                call.set_param(&call.contract.extract.request_id.name, "made-by-the-server-once");
            }
        ),
        reject("header-rejected", "A request id in the header is rejected.")
            .when(|call| in_header(call) && !in_query(call)),
        fault("header-ignored-in-text", "The request id of the header is not read in text.")
            .when(in_text)
            .request(drop_header),
        fault("header-ignored-by-bearer", "Beside a bearer token the request id of the header is not read.")
            .when(by_bearer)
            .request(drop_header),
        fault("query-and-header-apart", "An id in the header is another than the same in the query.")
            .request(|call| {
                if let Some(id) = header_id(call).filter(|_| !in_query(call)) {
                    drop_header(call);
                    call.set_param(&call.contract.extract.request_id.name, &format!("header:{id}"));
                }
            }),
    ]
}

fn idempotent() -> Vec<Fault> {
    let forgotten = |id, breaks| Fault::new(id, breaks).request(forget);
    let repeated = |id, breaks, how: fn(&mut Vec<Value>)| {
        Fault::new(id, breaks).when(again).success(move |_, body| {
            if let Some(entries) = body["data"].as_array_mut() {
                how(entries);
            }
        })
    };
    faults_of![
        "extract.idempotent/",
        forgotten("forgotten", "A repeated request id is a new extraction."),
        forgotten("forgotten-in-header", "A repeated request id of the header is a new extraction.")
            .when(|call| in_header(call) && !in_query(call)),
        forgotten("forgotten-in-query", "A repeated request id of the query is a new extraction.")
            .when(in_query),
        // Another extraction by the server itself gives the same gateways now and then, and one check alone asks for so many.
        repeated("forgotten-at-maximum", "A large extraction is not remembered.", |entries| {
            for entry in entries {
                entry["port"] = json!(entry["port"].as_u64().unwrap_or_default().saturating_add(1));
            }
        })
        .when(at_maximum),
        forgotten("forgotten-third", "A request id is remembered for one repetition.")
            .when(|call| seen_before(call) > 1),
        fault("one-remembered", "Only the latest request id is remembered.")
            .when(|call| request_id(call).is_some())
            .request(|call| {
                let id = request_id(call).unwrap_or_default();
                let key = format!("latest {id}");
                let latest = call.memory.recall("latest").map(|reply| reply.json());
                if latest != Some(json!(key)) && seen_before(call) > 0 {
                    forget(call);
                }
                call.memory.keep("latest", &Reply::json_with(200, &json!(key)));
            }),
        reject("rejected", "A repeated request id is rejected.").when(again),
        fault("conflict", "A repeated request id is a conflict.")
            .when(again)
            .reply(respond(409, json!({"code": 40901, "message": "duplicate request id"}))),
        repeated("one-less", "A repetition gives one gateway less.", |entries| {
            entries.pop();
        }),
        repeated("one-other", "A repetition gives one gateway another port.", |entries| {
            if let Some(last) = entries.last_mut() {
                last["port"] = json!(last["port"].as_u64().unwrap_or_default().saturating_add(1));
            }
        }),
        repeated("emptied", "A repetition gives no gateways.", Vec::clear),
        repeated("first-twice", "A repetition gives the first gateway in place of the last.", |entries| {
            let first = entries.first().cloned();
            if let (Some(first), Some(last)) = (first, entries.last_mut()) {
                *last = first;
            }
        }),
        fault("raced", "Two calls with one request id at the same time are two extractions.").serve(raced),
        several("forgotten-", "A repeated request id is a new extraction", forgotten).under([
            in_text,
            with_other_protocol,
            by_header,
            by_bearer
        ]),
    ]
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
        drop_header(call);
        let id = format!("made-up-{}", MADE.fetch_add(1, Ordering::Relaxed));
        call.set_param(&call.contract.extract.request_id.name, &id);
    }
}

/// Removes the request id, wherever it is.
pub(super) fn drop_request_id(call: &mut Call<'_>) {
    drop_query(call);
    drop_header(call);
}

fn drop_query(call: &mut Call<'_>) {
    call.drop_param(&call.contract.extract.request_id.name);
}

pub(super) fn drop_header(call: &mut Call<'_>) {
    let name = &call.contract.extract.request_id_header.name;
    call.headers.remove(name.as_str());
}

fn in_query(call: &Call<'_>) -> bool {
    call.param(&call.contract.extract.request_id.name).is_some()
}

fn in_header(call: &Call<'_>) -> bool {
    header_id(call).is_some()
}

fn header_id(call: &Call<'_>) -> Option<String> {
    let value = call.headers.get(call.contract.extract.request_id_header.name.as_str())?;
    value.to_str().ok().map(str::to_owned)
}

/// The request id was sent before.
fn again(call: &Call<'_>) -> bool {
    seen_before(call) > 0
}

fn seen_before(call: &Call<'_>) -> u64 {
    request_id(call).map_or(0, |id| call.memory.calls_of(&id))
}
