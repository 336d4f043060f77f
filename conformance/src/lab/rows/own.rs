//! What no row can say: faults that need several requests at a time, or another request because of a response.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::json;

use crate::contract::OperationId;
use crate::lab::Call;
use crate::lab::exchange::Reply;
use crate::lab::faults::condition::request_id;
use crate::lab::faults::part::{REQUEST_ID, REQUEST_ID_HEADER, ignore, put};
use crate::lab::faults::search::cut_to_limit;
use crate::lab::faults::token::query_tokens;

/// A function that a row names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Own {
    /// Changes the request.
    Request(fn(&mut Call<'_>)),
    /// Responds by itself.
    Serve(for<'a> fn(Call<'a>) -> BoxFuture<'a, Reply>),
}

pub(super) fn named(name: &str) -> Option<Own> {
    Some(match name {
        "reject" => Own::Request(|call| call.reject()),
        "forget" => Own::Request(forget),
        "one_remembered" => Own::Request(one_remembered),
        "drop_encoded" => Own::Request(drop_encoded),
        "name_in_capitals" => Own::Request(name_in_capitals),
        "shared_listing" => Own::Serve(|call| Box::pin(shared_listing(call))),
        "raced" => Own::Serve(|call| Box::pin(raced(call))),
        "raised" => Own::Serve(|call| Box::pin(raised(call))),
        _ => return None,
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

/// Forgets a request id that was sent before the latest one.
fn one_remembered(call: &mut Call<'_>) {
    let Some(id) = request_id(call) else { return };
    let key = json!(format!("latest {id}"));
    let latest = call.memory.recall("latest").map(|reply| reply.json());
    if latest.as_ref() != Some(&key) && call.memory.calls_of(&id) > 0 {
        forget(call);
    }
    call.memory.keep("latest", &Reply::json_with(200, &key));
}

/// Of tokens in the query, those whose name is percent-encoded do not count.
fn drop_encoded(call: &mut Call<'_>) {
    let query = call.query.clone().unwrap_or_default();
    let (encoded, plain): (Vec<_>, Vec<_>) = query.split('&').partition(|pair| pair.starts_with('%'));
    if !encoded.is_empty() && !plain.is_empty() {
        call.query = Some(plain.join("&"));
        let first = query_tokens(call).into_iter().next();
        call.act_as(&first.unwrap_or_default());
    }
}

/// Takes a token whose name is spelt in another letter case.
fn name_in_capitals(call: &mut Call<'_>) {
    let Some(operation) = call.operation() else { return };
    let name = &call.contract.operation(operation).api_key.name;
    let found = call.params().into_iter().find(|(key, _)| key != name && key.eq_ignore_ascii_case(name));
    if let Some((key, token)) = found {
        call.drop_param(&key);
        call.act_as(&token);
    }
}

/// Whoever comes while another listing is under way gets the response of that one.
async fn shared_listing(call: Call<'_>) -> Reply {
    // Long enough for the other call of a pair to come, on a machine under load too.
    const OVERLAP: Duration = Duration::from_millis(150);
    const TURNS: u32 = 200;
    if call.operation() != Some(OperationId::Groups) {
        return call.send().await;
    }
    let ended = call.memory.count("ended");
    let is_alone = call.memory.calls_of("begun") == ended;
    if is_alone {
        tokio::time::sleep(OVERLAP).await;
    }
    for _ in 0..TURNS {
        if is_alone || call.memory.count("ended") > ended {
            break;
        }
        tokio::time::sleep(OVERLAP / 15).await;
    }
    let reply = match call.memory.recall("shared").filter(|_| !is_alone) {
        Some(shared) => shared,
        None => call.send().await,
    };
    call.memory.keep("shared", &reply);
    call.memory.calls_of("ended");
    reply
}

/// Forgets the id of calls that are under way when another one with it comes.
async fn raced(mut call: Call<'_>) -> Reply {
    let Some(id) = request_id(&call) else { return call.send().await };
    let (begun, ended) = (format!("begun {id}"), format!("ended {id}"));
    if call.memory.calls_of(&begun) > 0 && call.memory.recall(&ended).is_none() {
        forget(&mut call);
    }
    // Long enough for another call to come meanwhile.
    tokio::time::sleep(Duration::from_millis(30)).await;
    let reply = call.send().await;
    call.memory.keep(&ended, &reply);
    reply
}

/// Accepts one item too many where an instance declares a high maxBatchSize.
async fn raised(call: Call<'_>) -> Reply {
    let reply = call.send().await;
    let mut cut = call.clone();
    cut_to_limit(&mut cut);
    let other = cut.send().await;
    let body = other.json();
    let items = body["data"]["items"].as_array().into_iter().flatten();
    let mut declared = items.filter_map(|item| item["capabilities"]["maxBatchSize"].as_u64());
    let limit = u64::try_from(call.contract.search.distinct_items).unwrap_or(u64::MAX);
    if declared.any(|declared| declared > limit) { other } else { reply }
}
