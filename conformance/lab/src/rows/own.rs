//! What no row can say: several requests at a time, another request because of a response, and what changes the form of a response.

use std::io::Write as _;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use futures::future::BoxFuture;
use hyper::Method;
use sallyport_conformance_base::contract::OperationId;
use sallyport_conformance_base::contract::part::GROUP_ID;
use sallyport_conformance_base::lock;
use serde_json::{Value, json};

use crate::call::Call;
use crate::exchange::{ProxiedRequest, Reply};
use crate::rows::edit::visit_all;
use crate::rows::part::{credentials, request_id};

#[derive(Debug, Clone, Copy)]
pub(super) enum Own {
    Request(fn(&mut Call)),
    Reply(fn(&Call, &mut Reply)),
    /// Responds by itself.
    Serve(fn(Call) -> BoxFuture<'static, Reply>),
}

pub(super) fn named(name: &str) -> Option<Own> {
    Some(match name {
        "reject" => Own::Request(|call| call.reject()),
        "one_remembered" => Own::Request(one_remembered),
        "shared_listing" => Own::Serve(|call| Box::pin(shared_listing(call))),
        "raced" => Own::Serve(|call| Box::pin(raced(call))),
        "unchanged" => Own::Request(|_| {}),
        "gzip" => Own::Reply(|_, reply| reply.body = gzip(&reply.body).into()),
        "reverse_members" => Own::Reply(|call, reply| {
            if call.accepted(reply) {
                reply.edit(|body| visit_all(body, &mut reverse_members));
            }
        }),
        "wait_20_ms" => Own::Serve(|call| {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                call.send().await
            })
        }),
        "one_at_a_time" => Own::Serve(|call| Box::pin(one_at_a_time(call))),
        "utf_16" => Own::Reply(utf_16),
        "lend_gateways" => Own::Serve(|call| Box::pin(lend_gateways(call))),
        "descending" => Own::Serve(|call| Box::pin(descending(call))),
        "reject_other_groups" => Own::Serve(|call| Box::pin(reject_other_groups(call))),
        _ => return None,
    })
}

/// Sends a request without the id that it has.
fn forget(call: &mut Call) {
    let extract = &call.contract.extract;
    call.headers.remove(&*extract.request_id_header.name);
    call.drop_param(&extract.request_id.name);
}

/// Forgets a request id that was sent before the latest one.
fn one_remembered(call: &mut Call) {
    let Some(id) = request_id(call) else { return };
    let key = json!(format!("latest {id}"));
    let latest = call.context.memory.recall("latest").map(|reply| reply.json());
    if latest.as_ref() != Some(&key) && call.context.memory.calls_of(&id) > 0 {
        forget(call);
    }
    call.context.memory.keep("latest", &Reply::json_with(200, &key));
}

/// Whoever comes while another listing is under way gets the response of that one.
async fn shared_listing(call: Call) -> Reply {
    // Long enough for the other call of a pair to come, on a machine under load too.
    const OVERLAP: Duration = Duration::from_millis(150);
    const TURNS: u32 = 200;
    if call.operation() != Some(OperationId::Groups) {
        return call.send().await;
    }
    let ended = call.context.memory.count("ended");
    let is_alone = call.context.memory.calls_of("begun") == ended;
    if is_alone {
        tokio::time::sleep(OVERLAP).await;
    }
    for _ in 0..TURNS {
        if is_alone || call.context.memory.count("ended") > ended {
            break;
        }
        tokio::time::sleep(OVERLAP / 15).await;
    }
    let reply = match call.context.memory.recall("shared").filter(|_| !is_alone) {
        Some(shared) => shared,
        None => call.send().await,
    };
    call.context.memory.keep("shared", &reply);
    call.context.memory.calls_of("ended");
    reply
}

/// Forgets the id of calls that are under way when another one with it comes.
async fn raced(mut call: Call) -> Reply {
    let Some(id) = request_id(&call) else { return call.send().await };
    let (begun, ended) = (format!("begun {id}"), format!("ended {id}"));
    if call.context.memory.calls_of(&begun) > 0 && call.context.memory.recall(&ended).is_none() {
        forget(&mut call);
    }
    // Long enough for another call to come meanwhile.
    tokio::time::sleep(Duration::from_millis(30)).await;
    let reply = call.send().await;
    call.context.memory.keep(&ended, &reply);
    reply
}

/// Lends at most twice as many gateways as one extraction may ask for, each for a little over a second.
async fn lend_gateways(call: Call) -> Reply {
    const LENT_FOR: Duration = Duration::from_millis(1_200);
    let reply = call.send().await;
    let id = request_id(&call).map(|id| format!("{id} {:?}", credentials(&call)));
    let repeated = id.as_ref().is_some_and(|id| call.context.memory.recall(id).is_some());
    if call.operation() != Some(OperationId::Extract) || !call.accepted(&reply) || repeated {
        return reply;
    }
    let num = call.param(&call.contract.extract.num.name);
    let asked: i64 = num.and_then(|num| num.parse().ok()).unwrap_or_default();
    let mut lent = lock(&call.context.memory.lent);
    lent.retain(|(since, _)| since.elapsed() < LENT_FOR);
    let pool = 2 * call.contract.extract.num_range.end();
    if lent.iter().map(|(_, gateways)| gateways).sum::<i64>() + asked > pool {
        let mut shortage = Reply::json_with(503, &json!({"code": 50301, "message": "too few gateways"}));
        shortage.set_header("retry-after", "1");
        return shortage;
    }
    lent.push((Instant::now(), asked));
    if let Some(id) = id {
        call.context.memory.keep(&id, &reply);
    }
    reply
}

/// A request that comes while another one is handled is throttled.
async fn one_at_a_time(call: Call) -> Reply {
    let Ok(_turn) = call.context.memory.turn.try_lock() else {
        let mut reply = Reply::json_with(429, &json!({"code": 42901, "message": "one request at a time"}));
        reply.set_header("retry-after", "0");
        return reply;
    };
    let reply = call.send().await;
    tokio::time::sleep(Duration::from_millis(2)).await;
    reply
}

/// Successes in UTF-16, as their media type says.
fn utf_16(call: &Call, reply: &mut Reply) {
    if call.accepted(reply) {
        let units = reply.text().encode_utf16().collect::<Vec<u16>>();
        let units = std::iter::once(0xfeff).chain(units);
        reply.body = units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>().into();
        reply.set_header("content-type", "text/plain; charset=utf-16");
    }
}

/// Responses with the instances in the opposite order, page by page.
async fn descending(call: Call) -> Reply {
    let mut reply = call.send().await;
    if !call.accepted(&reply) {
        return reply;
    }
    let search = &call.contract.search;
    let (mut all, size) = (Vec::new(), *search.page_sizes.end());
    for page in *search.pages.start().. {
        let mut next = call.clone();
        next.edit(|body| {
            body.insert(search.page.name.clone(), page.into());
            body.insert(search.page_size.name.clone(), size.into());
        });
        let items = next.send().await.json()["data"]["items"].take();
        let items = items.as_array().cloned().unwrap_or_default();
        let last = i64::try_from(items.len()).is_ok_and(|came| came < size);
        all.extend(items);
        if last {
            break;
        }
    }
    all.reverse();
    reply.edit(|body| {
        let number = |name: &str| body["data"][name].as_u64().and_then(|number| usize::try_from(number).ok());
        let first = usize::try_from(*search.pages.start()).unwrap_or_default();
        let (page, size) = (number("page").unwrap_or(first), number("pageSize").unwrap_or(1));
        let items: Vec<_> = all.into_iter().skip((page - first) * size).take(size).collect();
        body["data"]["items"] = json!(items);
    });
    reply
}

/// Rejects a search by a group that the listing does not have.
async fn reject_other_groups(mut call: Call) -> Reply {
    if let Some(group) = call.json()[GROUP_ID].as_i64().filter(|group| *group > 0) {
        let mut listing = call.clone();
        *listing = ProxiedRequest::new(Method::GET, &*call.contract.groups().path);
        listing.query.clone_from(&call.query);
        let listing = listing.send().await.json();
        let mut held = listing["data"]["items"].as_array().into_iter().flatten();
        if !held.any(|held| held["groupId"] == json!(group)) {
            call.reject();
        }
    }
    call.send().await
}

fn reverse_members(value: &mut Value) {
    if let Value::Object(members) = value {
        *members = std::mem::take(members).into_iter().rev().collect();
    }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // A vector takes everything.
    encoder.write_all(body).and_then(|()| encoder.finish()).unwrap_or_default()
}
