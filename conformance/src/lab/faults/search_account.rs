//! Faults that tell of other accounts, that change data, and limits that follow what an instance declares.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::edit::{change, respond, with_header};
use super::search::{
    GROUP, NOBODY, STATUS, all_with_ports, asks, bare, count, distinct, edit_ips, filters, ips, is_v6, items,
    lose_where, map_ips, total,
};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [disclosures(), shown(), changed(), limited()].into_iter().flatten().collect()
}

/// An item is the address of another account alone.
fn is_foreign(context: &Context, item: &str) -> bool {
    context.facts.foreign_addresses.iter().any(|foreign| bare(foreign) == bare(item))
}

fn any_foreign(context: &Context, seen: &ProxiedRequest) -> bool {
    context.operation(seen).is_some() && ips(context, seen).iter().any(|item| is_foreign(context, item))
}

fn disclosures() -> Vec<Fault> {
    let foreign = |id, breaks, change: fn(&mut Value)| {
        Fault::success(id, breaks, move |_, _, body| change(body)).when(any_foreign)
    };
    let count_one_more = |body: &mut Value| body["data"]["total"] = json!(total(body) + 1);
    let batch_of_two = |context: &Context, seen: &ProxiedRequest| count(context, seen) == 2;
    faults_of![
        "search.no-reveal/",
        reply(
            "forbidden",
            "A foreign address is forbidden.",
            respond(403, json!({"code": 403, "message": "not yours", "requestId": "r"}))
        )
        .when(any_foreign),
        reply(
            "not-found",
            "An unknown address is not found, a foreign one finds nothing.",
            respond(404, json!({"code": 404, "message": "no such address", "requestId": "r"}))
        )
        .when(|context, seen| {
            !any_foreign(context, seen) && ips(context, seen).iter().any(|item| item.ends_with("249"))
        }),
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
        .when(|context, seen| ips(context, seen).iter().all(|item| is_v6(item))),
        reply("header", "A header tells of a foreign address.", with_header("x-matched-accounts", "1"))
            .when(any_foreign),
        reply(
            "header-gone",
            "A response on a foreign address may be stored.",
            with_header("cache-control", "private, no-store")
        )
        .when(any_foreign),
        reply("rejection", "A rejection tells of a foreign address.", |_, _, reply| reply
            .edit(|body| body["message"] = json!("a bad item, and one that is not yours")))
        .when(any_foreign)
        .when(batch_of_two),
        reply(
            "rejection-status",
            "A rejection has another status beside a foreign address.",
            |_, _, reply| reply.status = StatusCode::FORBIDDEN
        )
        .when(any_foreign)
        .when(batch_of_two),
    ]
}

/// The address of two accounts is asked for alone.
fn of_shared(context: &Context, seen: &ProxiedRequest) -> bool {
    let shared = context.facts.shared_address.as_ref();
    shared.is_some_and(|shared| ips(context, seen) == [shared.as_str()])
}

fn shown() -> Vec<Fault> {
    // Adds what the second account finds.
    let merged = |id, breaks| {
        Fault::serve(id, breaks, move |context, seen| {
            Box::pin(async move {
                let mut reply = context.upstream.call(&seen).await;
                let Some(second) = &context.facts.second_token else { return reply };
                if context.operation(&seen).is_none() || !context.accepted(&seen, &reply) {
                    return reply;
                }
                let mut other = seen.clone();
                context.act_as(&mut other, second.expose());
                let theirs = context.upstream.call(&other).await.json();
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
            .when(|context, seen| count(context, seen) > 300),
        merged("shared", "A shared address shows the instances of both accounts.").when(of_shared).when(
            |context, seen| {
                let token = seen.param(&context.contract.search.api_key.name);
                token.as_deref() == Some(context.token.expose())
            }
        ),
        success("shared-counted", "A shared address counts the instances of both accounts.", |_, _, body| {
            body["data"]["total"] = json!(total(body) + 1);
        })
        .when(of_shared),
    ]
}

fn changed() -> Vec<Fault> {
    const FILTERED: &str = "filtered searches";
    // What a request to any operation gets once so many filtered searches have been made.
    let after = |id, breaks, how: fn(u64, &mut Value)| {
        Fault::serve(id, breaks, move |context, seen| {
            Box::pin(async move {
                if filters(context, &seen) > 0 {
                    context.memory.calls_of(FILTERED);
                }
                let made = context.memory.count(FILTERED);
                let mut reply = context.upstream.call(&seen).await;
                reply.edit(|body| how(made, body));
                reply
            })
        })
    };
    // The response to the first search for an instance shows it unchanged.
    let after_first = |id, breaks, how: fn(&mut Value)| {
        Fault::success(id, breaks, move |context, _, body| {
            each_instance(body, |item| {
                if context.memory.calls_of(&item["instanceId"].to_string()) > 0 {
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
        Fault::reply(id, breaks, move |context, seen, reply| {
            let count = count(context, seen);
            let below = |item: &Value| {
                let family = !v6 || item["ip"].as_str().is_some_and(is_v6);
                family
                    && item["capabilities"]["maxBatchSize"].as_u64().is_some_and(|most| most < count as u64)
            };
            if context.accepted(seen, reply)
                && count >= context.contract.search.distinct_items
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
        Fault::success(id, breaks, change(path, set_size))
    };
    faults_of![
        "search.",
        lowered("max-batch-no-effect/lowered", "A low maxBatchSize lowers the limit of a search.", false),
        success(
            "max-batch-no-effect/left-out",
            "Instances whose maxBatchSize is lower than the batch are left out.",
            |context, seen, body| {
                let count = count(context, seen);
                lose_where(body, |item| {
                    count > 400
                        && item["capabilities"]["maxBatchSize"]
                            .as_u64()
                            .is_some_and(|most| most < count as u64)
                });
            }
        ),
        serve(
            "max-batch-no-effect/raised",
            "A high maxBatchSize raises the limit of a search.",
            move |context, seen| {
                Box::pin(async move {
                    let most = context.contract.search.distinct_items;
                    let reply = context.upstream.call(&seen).await;
                    if context.operation(&seen).is_none() || count(context, &seen) != most + 1 {
                        return reply;
                    }
                    let mut cut = seen.clone();
                    edit_ips(context, &mut cut, |items| items.truncate(most));
                    let other = context.upstream.call(&cut).await;
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
            |context, seen| {
                distinct(context, seen) == context.contract.search.distinct_items
                    && count(context, seen) == context.contract.search.distinct_items
            }
        ),
        request(
            "match-any-port/own-lost-among-strangers",
            "In a full batch the first item is not looked for.",
            |context, seen| {
                map_ips(context, seen, |place, item| if place == 0 { NOBODY } else { item }.to_owned());
            }
        )
        .when(|context, seen| count(context, seen) == context.contract.search.distinct_items),
    ]
}
