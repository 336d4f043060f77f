//! Faults that tell of other accounts, that change data, and limits that follow what an instance declares.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::edit::{change, respond, with_header};
use super::search::{
    GROUP, NOBODY, STATUS, all_with_ports, asks, bare, count, distinct, edit_ips, filters, ips, is_v6, items,
    lose_where, map_ips, total,
};
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

fn disclosures() -> Vec<Fault> {
    let foreign = |id, breaks, change: fn(&mut Value)| {
        Fault::new(id, breaks).when(any_foreign).success(move |_, body| change(body))
    };
    let count_one_more = |body: &mut Value| body["data"]["total"] = json!(total(body) + 1);
    let batch_of_two = |call: &Call<'_>| count(call) == 2;
    faults_of![
        "search.no-reveal/",
        fault("forbidden", "A foreign address is forbidden.")
            .when(any_foreign)
            .reply(respond(403, json!({"code": 403, "message": "not yours", "requestId": "r"}))),
        fault("not-found", "An unknown address is not found, a foreign one finds nothing.")
            .when(|call| { !any_foreign(call) && ips(call).iter().any(|item| item.ends_with("249")) })
            .reply(respond(404, json!({"code": 404, "message": "no such address", "requestId": "r"}))),
        foreign("message", "The message tells of a foreign address.", |body| body["message"] =
            json!("held by another account")),
        foreign(
            "code-field",
            "A further field tells of a foreign address.",
            |body| body["data"]["skipped"] = json!(1)
        ),
        foreign("counted", "A foreign address is counted.", count_one_more),
        foreign("counted-with-status", "With a status a foreign address is counted.", count_one_more)
            .when(asks(STATUS)),
        foreign("counted-with-ports", "A foreign address with a port is counted.", count_one_more)
            .when(all_with_ports),
        foreign(
            "message-with-ports",
            "With ports the message tells of a foreign address.",
            |body| body["message"] = json!("OK")
        )
        .when(all_with_ports),
        foreign("message-in-group", "With a groupId the message tells of a foreign address.", |body| body
            ["message"] =
            json!("partly"))
        .when(asks(GROUP)),
        foreign("ipv6-message", "The message tells of a foreign IPv6 address.", |body| body["message"] =
            json!(""))
        .when(|call| ips(call).iter().all(|item| is_v6(item))),
        fault("header", "A header tells of a foreign address.")
            .when(any_foreign)
            .reply(with_header("x-matched-accounts", "1")),
        fault("header-gone", "A response on a foreign address may be stored.")
            .when(any_foreign)
            .reply(with_header("cache-control", "private, no-store")),
        fault("rejection", "A rejection tells of a foreign address.")
            .when(any_foreign)
            .when(batch_of_two)
            .reply(|_, reply| reply
                .edit(|body| body["message"] = json!("a bad item, and one that is not yours"))),
        fault("rejection-status", "A rejection has another status beside a foreign address.")
            .when(any_foreign)
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
        Fault::new(id, breaks).serve(move |call| {
            Box::pin(async move {
                let mut reply = call.send().await;
                let Some(second) = &call.facts.second_token else { return reply };
                if call.operation().is_none() || !call.accepted(&reply) {
                    return reply;
                }
                let mut other = call.clone();
                other.act_as(second.expose());
                let theirs = other.send().await.json();
                reply.edit(|body| {
                    body["data"]["total"] = json!(total(body) + total(&theirs));
                    if let Some(items) = items(body) {
                        items.extend(theirs["data"]["items"].as_array().into_iter().flatten().cloned());
                    }
                });
                reply
            })
        })
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
            .success(|_, body| {
                body["data"]["total"] = json!(total(body) + 1);
            }),
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
    let after_first = |id, breaks, how: fn(&mut Value)| {
        Fault::new(id, breaks).success(move |call, body| {
            each_instance(body, |item| {
                if call.memory.calls_of(&item["instanceId"].to_string()) > 0 {
                    how(item);
                }
            });
        })
    };
    faults_of![
        "search.read-only/",
        after_first("first-search-groups", "The first search for an instance moves it to a group.", |item| {
            item["groupId"] = json!(1)
        }),
        after_first(
            "first-search-status",
            "The first search for an instance ends it.",
            |item| item["status"] = json!("expired")
        ),
        after(
            "offer-moves",
            "Each search with a filter moves an instance to another product.",
            |made, body| {
                each_instance(body, |item| item["offerId"] = json!(1 + made));
            }
        ),
        after("port-moves", "Each search with a filter changes a port.", |made, body| {
            if let Some(item) =
                items(body).and_then(|items| items.first_mut()).filter(|item| item.get("ip").is_some())
            {
                item["port"] = json!(30_000 + made);
            }
        }),
        after("term-extended", "Each search with a filter extends the terms.", |made, body| {
            each_instance(body, |item| {
                item["expiresAt"] = json!(format!("2031-01-{:02}T00:00:00Z", made % 28 + 1))
            });
        }),
        after(
            "groups-touched",
            "Each search with a filter changes updatedAt of the groups.",
            |made, body| {
                let groups = items(body).into_iter().flatten().filter(|item| item.get("name").is_some());
                for group in groups {
                    group["updatedAt"] = json!(format!("2031-01-{:02}T00:00:00Z", made % 28 + 1));
                }
            }
        ),
        after("group-renamed", "Each search with a filter renames a group.", |made, body| {
            let last = items(body).and_then(|items| items.last_mut());
            if let Some(group) = last.filter(|item| item.get("name").is_some()) {
                group["name"] = json!(format!("searched {made} times"));
            }
        }),
        after("used-up", "Each search with a filter uses up an instance.", |made, body| {
            if let Some(items) =
                items(body).filter(|items| items.first().is_some_and(|item| item.get("ip").is_some()))
            {
                let left = items.len().saturating_sub(usize::try_from(made).unwrap_or_default());
                items.truncate(left);
                let few = left < 900;
                if few {
                    body["data"]["total"] = json!(left);
                }
            }
        }),
    ]
}

fn each_instance(body: &mut Value, how: impl Fn(&mut Value)) {
    items(body).into_iter().flatten().filter(|item| item.get("ip").is_some()).for_each(how);
}

fn limited() -> Vec<Fault> {
    let declares = |body: &Value, test: &dyn Fn(&Value) -> bool| {
        let items = body["data"]["items"].as_array().into_iter().flatten();
        items.filter(|item| item["capabilities"]["maxBatchSize"].is_number()).any(test)
    };
    let lowered = move |id, breaks, v6: bool| {
        Fault::new(id, breaks).reply(move |call, reply| {
            let count = count(call);
            let below = |item: &Value| {
                let family = !v6 || item["ip"].as_str().is_some_and(is_v6);
                family
                    && item["capabilities"]["maxBatchSize"].as_u64().is_some_and(|most| most < count as u64)
            };
            if call.accepted(reply)
                && count >= call.contract.search.distinct_items
                && declares(&reply.json(), &below)
            {
                *reply =
                    Reply::json_with(400, &json!({"code": 400, "message": "more than the source takes"}));
            }
        })
    };
    let declared = |id, breaks, size: Value| {
        let path = "/data/items/*/capabilities";
        let set_size = move |capabilities: &mut Value| {
            if capabilities.get("maxBatchSize").is_some() {
                capabilities["maxBatchSize"] = size.clone();
            }
        };
        Fault::new(id, breaks).success(change(path, set_size))
    };
    faults_of![
        "search.",
        lowered("max-batch-no-effect/lowered", "A low maxBatchSize lowers the limit of a search.", false),
        fault(
            "max-batch-no-effect/left-out",
            "Instances whose maxBatchSize is lower than the batch are left out."
        )
        .success(|call, body| {
            let count = count(call);
            lose_where(body, |item| {
                count > 400
                    && item["capabilities"]["maxBatchSize"].as_u64().is_some_and(|most| most < count as u64)
            });
        }),
        fault("max-batch-no-effect/raised", "A high maxBatchSize raises the limit of a search.").serve(
            move |call| {
                Box::pin(async move {
                    let most = call.contract.search.distinct_items;
                    let reply = call.send().await;
                    if call.operation().is_none() || count(&call) != most + 1 {
                        return reply;
                    }
                    let mut cut = call.clone();
                    edit_ips(&mut cut, |items| items.truncate(most));
                    let other = cut.send().await;
                    let above = |item: &Value| {
                        item["capabilities"]["maxBatchSize"]
                            .as_u64()
                            .is_some_and(|declared| declared > most as u64)
                    };
                    if declares(&other.json(), &above) { other } else { reply }
                })
            }
        ),
        declared("max-batch-no-effect/negative", "A maxBatchSize is negative.", json!(-1)),
        declared("max-batch-no-effect/text", "A maxBatchSize is a text.", json!("50")),
        reject("ips-dedup-limit/lowered-by-nobody", "Two distinct items too few are the limit.").when(
            |call| {
                distinct(call) == call.contract.search.distinct_items
                    && count(call) == call.contract.search.distinct_items
            }
        ),
        fault("match-any-port/own-lost-among-strangers", "In a full batch the first item is not looked for.")
            .when(|call| count(call) == call.contract.search.distinct_items)
            .request(|call| {
                map_ips(call, |place, item| if place == 0 { NOBODY } else { item }.to_owned());
            }),
    ]
}
