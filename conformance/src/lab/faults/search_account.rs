//! Faults that tell of other accounts, that change data, and limits that follow what an instance declares.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::edit::{change, respond, set, with_header};
use super::search::{
    GROUP, NOBODY, STATUS, all_items, all_with_ports, any_item, asks, bare, count, distinct, edit_ips,
    filters, ips, is_v6, items, lose_where, map_ips, total,
};
use super::token::act_as_second;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [disclosures(), shown(), changed(), limited()].into_iter().flatten().collect()
}

/// An item is the address of another account alone.
fn is_foreign(call: &Call<'_>, item: &str) -> bool {
    call.facts.foreign_addresses.iter().any(|foreign| bare(foreign) == bare(item))
}

fn any_foreign(call: &Call<'_>) -> bool {
    call.operation().is_some() && ips(call).iter().any(|item| is_foreign(call, item))
}

/// Adds 1 to the total.
fn count_one_more(_: &Call<'_>, body: &mut Value) {
    body["data"]["total"] = json!(total(body) + 1);
}

fn disclosures() -> Vec<Fault> {
    let foreign = |id, breaks| Fault::new(id, breaks).when(any_foreign);
    let says = |text: &'static str| set("/message", text);
    let batch_of_two = |call: &Call<'_>| count(call) == 2;
    faults_of![
        "search.no-reveal/",
        foreign("forbidden", "A foreign address is forbidden.")
            .reply(respond(403, json!({"code": 403, "message": "not yours", "requestId": "r"}))),
        fault("not-found", "An unknown address is not found, a foreign one finds nothing.")
            .when(|call| !any_foreign(call))
            .when(any_item(|item| item.ends_with("249")))
            .reply(respond(404, json!({"code": 404, "message": "no such address", "requestId": "r"}))),
        foreign("message", "The message tells of a foreign address.")
            .success(says("held by another account")),
        foreign("code-field", "A further field tells of a foreign address.").success(set("/data/skipped", 1)),
        foreign("counted", "A foreign address is counted.").success(count_one_more),
        foreign("counted-with-status", "With a status a foreign address is counted.")
            .when(asks(STATUS))
            .success(count_one_more),
        foreign("counted-with-ports", "A foreign address with a port is counted.")
            .when(all_with_ports)
            .success(count_one_more),
        foreign("message-with-ports", "With ports the message tells of a foreign address.")
            .when(all_with_ports)
            .success(says("OK")),
        foreign("message-in-group", "With a groupId the message tells of a foreign address.")
            .when(asks(GROUP))
            .success(says("partly")),
        foreign("ipv6-message", "The message tells of a foreign IPv6 address.")
            .when(all_items(is_v6))
            .success(says("")),
        foreign("header", "A header tells of a foreign address.")
            .reply(with_header("x-matched-accounts", "1")),
        foreign("header-gone", "A response on a foreign address may be stored.")
            .reply(with_header("cache-control", "private, no-store")),
        foreign("rejection", "A rejection tells of a foreign address.").when(batch_of_two).reply(
            |_, reply| {
                reply.edit(|body| body["message"] = json!("a bad item, and one that is not yours"));
            }
        ),
        foreign("rejection-status", "A rejection has another status beside a foreign address.")
            .when(batch_of_two)
            .reply(|_, reply| reply.status = StatusCode::FORBIDDEN),
    ]
}

/// The address of two accounts is asked for alone.
fn of_shared(call: &Call<'_>) -> bool {
    let shared = call.facts.shared_address.as_ref();
    shared.is_some_and(|shared| ips(call) == [shared.as_str()])
}

fn shown() -> Vec<Fault> {
    // Adds what the second account finds.
    let merged = |id, breaks| {
        Fault::new(id, breaks).when(|call| call.facts.second_token.is_some()).compared(
            act_as_second,
            |_, theirs, body| {
                body["data"]["total"] = json!(total(body) + total(theirs));
                if let Some(items) = items(body) {
                    items.extend(theirs["data"]["items"].as_array().into_iter().flatten().cloned());
                }
            },
        )
    };
    faults_of![
        "search.no-reveal/",
        merged("instances", "The instances of another account are shown.").when(any_foreign),
        merged("instances-with-ports", "With ports the instances of another account are shown.")
            .when(any_foreign)
            .when(all_with_ports),
        merged("instances-among-own", "In a large batch the instances of another account are shown.")
            .when(any_foreign)
            .when(|call| count(call) > 300),
        merged("shared", "A shared address shows the instances of both accounts.").when(of_shared).when(
            |call| {
                let token = call.param(&call.contract.search.api_key.name);
                token.as_deref() == Some(call.token.expose())
            }
        ),
        fault("shared-counted", "A shared address counts the instances of both accounts.")
            .when(of_shared)
            .success(count_one_more),
    ]
}

fn changed() -> Vec<Fault> {
    const FILTERED: &str = "filtered searches";
    // What a request to any operation gets once so many filtered searches have been made.
    let after = |id, breaks, how: fn(u64, &mut Value)| {
        Fault::new(id, breaks).serve(move |call| {
            Box::pin(async move {
                if filters(&call) > 0 {
                    call.memory.calls_of(FILTERED);
                }
                let made = call.memory.count(FILTERED);
                let mut reply = call.send().await;
                reply.edit(|body| how(made, body));
                reply
            })
        })
    };
    // The response to the first search for an instance shows it unchanged.
    let after_first = |id, breaks, field: &'static str, value: Value| {
        Fault::new(id, breaks).success(move |call, body| {
            each_instance(body, |item| {
                if call.memory.calls_of(&item["instanceId"].to_string()) > 0 {
                    item[field] = value.clone();
                }
            });
        })
    };
    faults_of![
        "search.read-only/",
        after_first(
            "first-search-groups",
            "The first search for an instance moves it to a group.",
            "groupId",
            json!(1)
        ),
        after_first(
            "first-search-status",
            "The first search for an instance sets its status to expired.",
            "status",
            json!("expired")
        ),
        after(
            "offer-moves",
            "Each search with a filter moves an instance to another product.",
            |made, body| {
                each_instance(body, |item| item["offerId"] = json!(1 + made));
            }
        ),
        after("port-moves", "Each search with a filter changes a port.", |made, body| {
            let first = items(body).and_then(|items| items.first_mut());
            if let Some(item) = first.filter(|item| item.get("ip").is_some()) {
                item["port"] = json!(30_000 + made);
            }
        }),
        after("term-extended", "Each search with a filter extends the terms.", |made, body| {
            each_instance(body, |item| item["expiresAt"] = day(made));
        }),
        after(
            "groups-touched",
            "Each search with a filter changes updatedAt of the groups.",
            |made, body| {
                let groups = items(body).into_iter().flatten().filter(|item| item.get("name").is_some());
                for group in groups {
                    group["updatedAt"] = day(made);
                }
            }
        ),
        after("group-renamed", "Each search with a filter renames a group.", |made, body| {
            let last = items(body).and_then(|items| items.last_mut());
            if let Some(group) = last.filter(|item| item.get("name").is_some()) {
                group["name"] = json!(format!("searched {made} times"));
            }
        }),
        after("used-up", "Each search with a filter removes an instance.", |made, body| {
            let is_search = |items: &Vec<Value>| items.first().is_some_and(|item| item.get("ip").is_some());
            let Some(items) = items(body).filter(|items| is_search(items)) else { return };
            let left = items.len().saturating_sub(usize::try_from(made).unwrap_or_default());
            items.truncate(left);
            if left < 900 {
                body["data"]["total"] = json!(left);
            }
        }),
    ]
}

/// Another day for each number of searches.
fn day(made: u64) -> Value {
    json!(format!("2031-01-{:02}T00:00:00Z", made % 28 + 1))
}

fn each_instance(body: &mut Value, how: impl Fn(&mut Value)) {
    items(body).into_iter().flatten().filter(|item| item.get("ip").is_some()).for_each(how);
}

/// The maxBatchSize of an instance.
fn batch_size(item: &Value) -> Option<u64> {
    item["capabilities"]["maxBatchSize"].as_u64()
}

/// An instance of a response has a maxBatchSize that fits.
fn declares(reply: &Reply, fits: impl Fn(u64) -> bool) -> bool {
    let body = reply.json();
    body["data"]["items"].as_array().into_iter().flatten().filter_map(batch_size).any(fits)
}

fn limited() -> Vec<Fault> {
    let at_most = |call: &Call<'_>| count(call) == call.contract.search.distinct_items;
    let declared = |id, breaks, size: Value| {
        Fault::new(id, breaks).success(change("/data/items/*/capabilities", move |capabilities| {
            if capabilities.get("maxBatchSize").is_some() {
                capabilities["maxBatchSize"] = size.clone();
            }
        }))
    };
    faults_of![
        "search.",
        fault("max-batch-no-effect/lowered", "A low maxBatchSize lowers the limit of a search.")
            .when(|call| count(call) >= call.contract.search.distinct_items)
            .reply(|call, reply| {
                if call.accepted(reply) && declares(reply, |most| most < count(call) as u64) {
                    *reply =
                        Reply::json_with(400, &json!({"code": 400, "message": "more than the source takes"}));
                }
            }),
        fault(
            "max-batch-no-effect/left-out",
            "Instances whose maxBatchSize is lower than the batch are left out."
        )
        .when(|call| count(call) > 400)
        .success(|call, body| {
            let count = count(call);
            lose_where(body, |item| batch_size(item).is_some_and(|most| most < count as u64));
        }),
        fault("max-batch-no-effect/raised", "A high maxBatchSize raises the limit of a search.")
            .when(|call| count(call) == call.contract.search.distinct_items + 1)
            .serve(|call| {
                Box::pin(async move {
                    let most = call.contract.search.distinct_items;
                    let reply = call.send().await;
                    let mut cut = call.clone();
                    edit_ips(&mut cut, |items| items.truncate(most));
                    let other = cut.send().await;
                    if declares(&other, |declared| declared > most as u64) { other } else { reply }
                })
            }),
        declared("max-batch-no-effect/negative", "A maxBatchSize is negative.", json!(-1)),
        declared("max-batch-no-effect/text", "A maxBatchSize is a string.", json!("50")),
        reject("ips-dedup-limit/lowered-by-nobody", "The limit on distinct items is one too low.")
            .when(at_most)
            .when(|call| distinct(call) == call.contract.search.distinct_items),
        fault("match-any-port/own-lost-among-strangers", "In a full batch the first item is not looked for.")
            .when(at_most)
            .request(|call| {
                map_ips(call, |place, item| if place == 0 { NOBODY } else { item }.to_owned());
            }),
    ]
}
