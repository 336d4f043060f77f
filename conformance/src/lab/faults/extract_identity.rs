//! Faults in request ids and in what a repeated one gives.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::condition::{at_maximum, by_bearer, by_header, in_text, request_id, with_other_protocol};
use crate::fault::{Fault, Scene};
use crate::proxy::{ProxiedRequest, Reply};

/// All of them.
pub fn faults() -> Vec<Fault> {
    source().into_iter().chain(idempotent()).collect()
}

fn source() -> Vec<Fault> {
    let absent = |scene: &Scene, seen: &ProxiedRequest| request_id(scene, seen).is_none();
    let both = |scene: &Scene, seen: &ProxiedRequest| in_query(scene, seen) && in_header(scene, seen);
    vec![
        Fault::request(
            "extract.request-id-source/query-ignored",
            "The request id of the query is not read.",
            drop_query,
        ),
        Fault::request(
            "extract.request-id-source/header-ignored",
            "The request id of the header is not read.",
            drop_header,
        ),
        Fault::request(
            "extract.request-id-source/header-first",
            "The header goes before the query.",
            drop_query,
        )
        .when(both),
        Fault::request(
            "extract.request-id-source/neither-of-both",
            "Two request ids are taken for none.",
            |scene, seen| {
                drop_query(scene, seen);
                drop_header(scene, seen);
            },
        )
        .when(both),
        Fault::request(
            "extract.request-id-source/both-joined",
            "Two request ids are joined.",
            |scene, seen| {
                let joined = request_id(scene, seen).unwrap_or_default();
                let header = header_id(scene, seen).unwrap_or_default();
                seen.set_param(&scene.contract.extract.request_id.name, &format!("{joined}{header}"));
            },
        )
        .when(both),
        Fault::request(
            "extract.request-id-source/both-rejected",
            "Two request ids are rejected.",
            Scene::reject,
        )
        .when(both),
        Fault::request("extract.request-id-source/required", "A request id must be sent.", Scene::reject)
            .when(absent),
        Fault::request(
            "extract.request-id-source/required-in-text",
            "A request id must be sent in text.",
            Scene::reject,
        )
        .when(absent)
        .when(in_text),
        Fault::request(
            "extract.request-id-source/one-for-all",
            "Calls without a request id all get the same one.",
            |scene, seen| {
                seen.set_param(&scene.contract.extract.request_id.name, "made-by-the-server-once");
            },
        )
        .when(absent),
        Fault::request(
            "extract.request-id-source/header-rejected",
            "A request id in the header is rejected.",
            Scene::reject,
        )
        .when(|scene, seen| in_header(scene, seen) && !in_query(scene, seen)),
        Fault::request(
            "extract.request-id-source/header-ignored-in-text",
            "The request id of the header is not read in text.",
            drop_header,
        )
        .when(in_text),
        Fault::request(
            "extract.request-id-source/header-ignored-by-bearer",
            "Beside a bearer token the request id of the header is not read.",
            drop_header,
        )
        .when(by_bearer),
        Fault::request(
            "extract.request-id-source/query-and-header-apart",
            "An id in the header is another than the same in the query.",
            |scene, seen| {
                if let Some(id) = header_id(scene, seen).filter(|_| !in_query(scene, seen)) {
                    drop_header(scene, seen);
                    seen.set_param(&scene.contract.extract.request_id.name, &format!("header:{id}"));
                }
            },
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
    vec![
        forgotten("extract.idempotent/forgotten", "A repeated request id is a new extraction."),
        forgotten(
            "extract.idempotent/forgotten-in-text",
            "A repeated request id is a new extraction in text.",
        )
        .when(in_text),
        forgotten(
            "extract.idempotent/forgotten-other-protocol",
            "A repeated request id is a new extraction for the other protocol.",
        )
        .when(with_other_protocol),
        forgotten(
            "extract.idempotent/forgotten-in-header",
            "A repeated request id of the header is a new extraction.",
        )
        .when(|scene, seen| in_header(scene, seen) && !in_query(scene, seen)),
        forgotten(
            "extract.idempotent/forgotten-in-query",
            "A repeated request id of the query is a new extraction.",
        )
        .when(in_query),
        forgotten(
            "extract.idempotent/forgotten-by-header",
            "With X-API-Key a repeated request id is a new extraction.",
        )
        .when(by_header),
        forgotten(
            "extract.idempotent/forgotten-by-bearer",
            "With a bearer token a repeated request id is a new extraction.",
        )
        .when(by_bearer),
        // Another extraction by the server itself gives the same gateways now and then, and one check alone asks for so many.
        repeated(
            "extract.idempotent/forgotten-at-maximum",
            "A large extraction is not remembered.",
            |entries| {
                for entry in entries {
                    entry["port"] = json!(entry["port"].as_u64().unwrap_or_default() + 1);
                }
            },
        )
        .when(at_maximum),
        forgotten("extract.idempotent/forgotten-third", "A request id is remembered for one repetition.")
            .when(|scene, seen| seen_before(scene, seen) > 1),
        Fault::request(
            "extract.idempotent/one-remembered",
            "Only the latest request id is remembered.",
            |scene, seen| {
                let id = request_id(scene, seen).unwrap_or_default();
                let key = format!("latest {id}");
                let latest = scene.memory.recall("latest").map(|reply| reply.json());
                if latest != Some(json!(key)) && seen_before(scene, seen) > 0 {
                    forget(scene, seen);
                }
                scene.memory.keep("latest", &Reply::json_with(200, &json!(key)));
            },
        )
        .when(|scene, seen| request_id(scene, seen).is_some()),
        Fault::request("extract.idempotent/rejected", "A repeated request id is rejected.", Scene::reject)
            .when(again),
        Fault::reply("extract.idempotent/conflict", "A repeated request id is a conflict.", |_, _, reply| {
            *reply = Reply::json_with(409, &json!({"code": 40901, "message": "duplicate request id"}));
        })
        .when(again),
        repeated("extract.idempotent/one-less", "A repetition gives one gateway less.", |entries| {
            entries.pop();
        }),
        repeated("extract.idempotent/one-other", "A repetition gives one gateway another port.", |entries| {
            if let Some(last) = entries.last_mut() {
                last["port"] = json!(last["port"].as_u64().unwrap_or_default() + 1);
            }
        }),
        repeated("extract.idempotent/emptied", "A repetition gives no gateways.", Vec::clear),
        repeated(
            "extract.idempotent/first-twice",
            "A repetition gives the first gateway in place of the last.",
            |entries| {
                let first = entries.first().cloned();
                if let (Some(first), Some(last)) = (first, entries.last_mut()) {
                    *last = first;
                }
            },
        ),
        Fault::serve(
            "extract.idempotent/raced",
            "Two calls with one request id at the same time are two extractions.",
            raced,
        ),
    ]
}

/// Forgets the id of calls that are under way when another one with it comes.
fn raced<'a>(scene: &'a Scene, mut seen: ProxiedRequest) -> BoxFuture<'a, Reply> {
    Box::pin(async move {
        let Some(id) = request_id(scene, &seen) else { return scene.upstream.call(&seen).await };
        let (begun, ended) = (format!("begun {id}"), format!("ended {id}"));
        if scene.memory.calls_of(&begun) > 0 && scene.memory.recall(&ended).is_none() {
            forget(scene, &mut seen);
        }
        // Long enough for another call to come meanwhile.
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        let reply = scene.upstream.call(&seen).await;
        scene.memory.keep(&ended, &reply);
        reply
    })
}

/// Gives a request an id of its own in place of the one that was sent.
fn forget(scene: &Scene, seen: &mut ProxiedRequest) {
    static MADE: AtomicU64 = AtomicU64::new(0);
    if request_id(scene, seen).is_some() {
        drop_header(scene, seen);
        let id = format!("made-up-{}", MADE.fetch_add(1, Ordering::Relaxed));
        seen.set_param(&scene.contract.extract.request_id.name, &id);
    }
}

fn drop_query(scene: &Scene, seen: &mut ProxiedRequest) {
    seen.drop_param(&scene.contract.extract.request_id.name);
}

fn drop_header(scene: &Scene, seen: &mut ProxiedRequest) {
    seen.headers.remove(scene.contract.extract.request_id_header.name.as_str());
}

fn in_query(scene: &Scene, seen: &ProxiedRequest) -> bool {
    seen.param(&scene.contract.extract.request_id.name).is_some()
}

fn in_header(scene: &Scene, seen: &ProxiedRequest) -> bool {
    header_id(scene, seen).is_some()
}

fn header_id(scene: &Scene, seen: &ProxiedRequest) -> Option<String> {
    let value = seen.headers.get(scene.contract.extract.request_id_header.name.as_str())?;
    value.to_str().ok().map(str::to_owned)
}

/// The request id was sent before.
fn again(scene: &Scene, seen: &ProxiedRequest) -> bool {
    seen_before(scene, seen) > 0
}

fn seen_before(scene: &Scene, seen: &ProxiedRequest) -> u64 {
    request_id(scene, seen).map_or(0, |id| scene.memory.calls_of(&id))
}
