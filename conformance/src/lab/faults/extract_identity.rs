//! Faults in request ids and in what a repeated one gives.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::condition::{at_maximum, by_bearer, in_text, request_id, under};
use super::edit::respond;
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    source().into_iter().chain(idempotent()).collect()
}

fn source() -> Vec<Fault> {
    let absent = |context: &Context, seen: &ProxiedRequest| request_id(context, seen).is_none();
    let both = |context: &Context, seen: &ProxiedRequest| in_query(context, seen) && in_header(context, seen);
    faults_of![
        "extract.request-id-source/",
        request("query-ignored", "The request id of the query is not read.", drop_query),
        request("header-ignored", "The request id of the header is not read.", drop_header),
        request("header-first", "The header goes before the query.", drop_query).when(both),
        request("neither-of-both", "Two different request ids are ignored.", |context, seen| {
            drop_query(context, seen);
            drop_header(context, seen);
        })
        .when(both),
        request("both-joined", "Two request ids are joined.", |context, seen| {
            let joined = request_id(context, seen).unwrap_or_default();
            let header = header_id(context, seen).unwrap_or_default();
            seen.set_param(&context.contract.extract.request_id.name, &format!("{joined}{header}"));
        })
        .when(both),
        reject("both-rejected", "Two request ids are rejected.").when(both),
        reject("required", "A request id must be sent.").when(absent),
        reject("required-in-text", "A request id must be sent in text.").when(absent).when(in_text),
        request("one-for-all", "Calls without a request id all get the same one.", |context, seen| {
            seen.set_param(&context.contract.extract.request_id.name, "made-by-the-server-once");
        })
        .when(absent),
        reject("header-rejected", "A request id in the header is rejected.")
            .when(|context, seen| in_header(context, seen) && !in_query(context, seen)),
        request("header-ignored-in-text", "The request id of the header is not read in text.", drop_header)
            .when(in_text),
        request(
            "header-ignored-by-bearer",
            "Beside a bearer token the request id of the header is not read.",
            drop_header
        )
        .when(by_bearer),
        request(
            "query-and-header-apart",
            "An id in the header is another than the same in the query.",
            |context, seen| {
                if let Some(id) = header_id(context, seen).filter(|_| !in_query(context, seen)) {
                    drop_header(context, seen);
                    seen.set_param(&context.contract.extract.request_id.name, &format!("header:{id}"));
                }
            }
        ),
    ]
}

fn idempotent() -> Vec<Fault> {
    let forgotten = |id, breaks| Fault::request(id, breaks, forget);
    let repeated = |id, breaks, how: fn(&mut Vec<Value>)| {
        Fault::success(id, breaks, move |_, _, body| {
            if let Some(entries) = body["data"].as_array_mut() {
                how(entries);
            }
        })
        .when(again)
    };
    let mut faults = faults_of![
        "extract.idempotent/",
        forgotten("forgotten", "A repeated request id is a new extraction."),
        forgotten("forgotten-in-header", "A repeated request id of the header is a new extraction.")
            .when(|context, seen| in_header(context, seen) && !in_query(context, seen)),
        forgotten("forgotten-in-query", "A repeated request id of the query is a new extraction.")
            .when(in_query),
        // Another extraction by the server itself gives the same gateways now and then, and one check alone asks for so many.
        repeated("forgotten-at-maximum", "A large extraction is not remembered.", |entries| {
            for entry in entries {
                entry["port"] = json!(entry["port"].as_u64().unwrap_or_default() + 1);
            }
        })
        .when(at_maximum),
        forgotten("forgotten-third", "A request id is remembered for one repetition.")
            .when(|context, seen| seen_before(context, seen) > 1),
        request("one-remembered", "Only the latest request id is remembered.", |context, seen| {
            let id = request_id(context, seen).unwrap_or_default();
            let key = format!("latest {id}");
            let latest = context.memory.recall("latest").map(|reply| reply.json());
            if latest != Some(json!(key)) && seen_before(context, seen) > 0 {
                forget(context, seen);
            }
            context.memory.keep("latest", &Reply::json_with(200, &json!(key)));
        })
        .when(|context, seen| request_id(context, seen).is_some()),
        reject("rejected", "A repeated request id is rejected.").when(again),
        reply(
            "conflict",
            "A repeated request id is a conflict.",
            respond(409, json!({"code": 40901, "message": "duplicate request id"}))
        )
        .when(again),
        repeated("one-less", "A repetition gives one gateway less.", |entries| {
            entries.pop();
        }),
        repeated("one-other", "A repetition gives one gateway another port.", |entries| {
            if let Some(last) = entries.last_mut() {
                last["port"] = json!(last["port"].as_u64().unwrap_or_default() + 1);
            }
        }),
        repeated("emptied", "A repetition gives no gateways.", Vec::clear),
        repeated("first-twice", "A repetition gives the first gateway in place of the last.", |entries| {
            let first = entries.first().cloned();
            if let (Some(first), Some(last)) = (first, entries.last_mut()) {
                *last = first;
            }
        }),
        serve("raced", "Two calls with one request id at the same time are two extractions.", raced),
    ];
    faults.extend(under!(
        forgotten,
        "extract.idempotent/forgotten-",
        "A repeated request id is a new extraction",
        [in_text, with_other_protocol, by_header, by_bearer]
    ));
    faults
}

/// Forgets the id of calls that are under way when another one with it comes.
fn raced<'a>(context: &'a Context, mut seen: ProxiedRequest) -> BoxFuture<'a, Reply> {
    Box::pin(async move {
        let Some(id) = request_id(context, &seen) else { return context.upstream.call(&seen).await };
        let (begun, ended) = (format!("begun {id}"), format!("ended {id}"));
        if context.memory.calls_of(&begun) > 0 && context.memory.recall(&ended).is_none() {
            forget(context, &mut seen);
        }
        // Long enough for another call to come meanwhile.
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        let reply = context.upstream.call(&seen).await;
        context.memory.keep(&ended, &reply);
        reply
    })
}

/// Gives a request an id of its own in place of the one that was sent.
fn forget(context: &Context, seen: &mut ProxiedRequest) {
    static MADE: AtomicU64 = AtomicU64::new(0);
    if request_id(context, seen).is_some() {
        drop_header(context, seen);
        let id = format!("made-up-{}", MADE.fetch_add(1, Ordering::Relaxed));
        seen.set_param(&context.contract.extract.request_id.name, &id);
    }
}

fn drop_query(context: &Context, seen: &mut ProxiedRequest) {
    seen.drop_param(&context.contract.extract.request_id.name);
}

fn drop_header(context: &Context, seen: &mut ProxiedRequest) {
    seen.headers.remove(context.contract.extract.request_id_header.name.as_str());
}

fn in_query(context: &Context, seen: &ProxiedRequest) -> bool {
    seen.param(&context.contract.extract.request_id.name).is_some()
}

fn in_header(context: &Context, seen: &ProxiedRequest) -> bool {
    header_id(context, seen).is_some()
}

fn header_id(context: &Context, seen: &ProxiedRequest) -> Option<String> {
    let value = seen.headers.get(context.contract.extract.request_id_header.name.as_str())?;
    value.to_str().ok().map(str::to_owned)
}

/// The request id was sent before.
fn again(context: &Context, seen: &ProxiedRequest) -> bool {
    seen_before(context, seen) > 0
}

fn seen_before(context: &Context, seen: &ProxiedRequest) -> u64 {
    request_id(context, seen).map_or(0, |id| context.memory.calls_of(&id))
}
