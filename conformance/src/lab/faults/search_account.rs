//! Faults that tell of other accounts, that change data, and limits that follow what an instance declares.

use serde_json::{Value, json};

use super::search::{
    NOBODY, PropertyGetter, asks, bare, count, edit_ips, filters, has_port, ips, is_v6, items, map_ips, total,
};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
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
    let on_success = |how: fn(&mut Value)| {
        move |context: &Context, seen: &ProxiedRequest, reply: &mut Reply| {
            if context.accepted(seen, reply) {
                reply.edit(how);
            }
        }
    };
    let status: PropertyGetter = |search| &search.status;
    let group: PropertyGetter = |search| &search.group_id;
    vec![
        Fault::reply("search.no-reveal/forbidden", "A foreign address is forbidden.", |_, _, reply| {
            *reply = Reply::json_with(403, &json!({"code": 403, "message": "not yours", "requestId": "r"}));
        })
        .when(any_foreign),
        Fault::reply(
            "search.no-reveal/not-found",
            "An unknown address is not found, a foreign one finds nothing.",
            |_, _, reply| {
                *reply = Reply::json_with(
                    404,
                    &json!({"code": 404, "message": "no such address", "requestId": "r"}),
                );
            },
        )
        .when(|context, seen| {
            !any_foreign(context, seen) && ips(context, seen).iter().any(|item| item.ends_with("249"))
        }),
        Fault::reply(
            "search.no-reveal/message",
            "The message tells of a foreign address.",
            on_success(|body| body["message"] = json!("held by another account")),
        )
        .when(any_foreign),
        Fault::reply(
            "search.no-reveal/code-field",
            "A further field tells of a foreign address.",
            on_success(|body| body["data"]["skipped"] = json!(1)),
        )
        .when(any_foreign),
        Fault::reply(
            "search.no-reveal/counted",
            "A foreign address is counted.",
            on_success(|body| body["data"]["total"] = json!(total(body) + 1)),
        )
        .when(any_foreign),
        Fault::reply(
            "search.no-reveal/counted-with-status",
            "With a status a foreign address is counted.",
            on_success(|body| body["data"]["total"] = json!(total(body) + 1)),
        )
        .when(any_foreign)
        .when(asks(status)),
        Fault::reply(
            "search.no-reveal/counted-with-ports",
            "A foreign address with a port is counted.",
            on_success(|body| body["data"]["total"] = json!(total(body) + 1)),
        )
        .when(any_foreign)
        .when(|context, seen| ips(context, seen).iter().all(|item| has_port(item))),
        Fault::reply(
            "search.no-reveal/message-in-group",
            "With a groupId the message tells of a foreign address.",
            on_success(|body| body["message"] = json!("partly")),
        )
        .when(any_foreign)
        .when(asks(group)),
        Fault::reply(
            "search.no-reveal/ipv6-message",
            "The message tells of a foreign IPv6 address.",
            on_success(|body| body["message"] = json!("")),
        )
        .when(any_foreign)
        .when(|context, seen| ips(context, seen).iter().all(|item| is_v6(item))),
        Fault::reply("search.no-reveal/header", "A header tells of a foreign address.", |_, _, reply| {
            reply.headers.insert("x-matched-accounts", hyper::header::HeaderValue::from_static("1"));
        })
        .when(any_foreign),
        Fault::reply(
            "search.no-reveal/header-gone",
            "A response on a foreign address may be stored.",
            |_, _, reply| {
                reply
                    .headers
                    .insert("cache-control", hyper::header::HeaderValue::from_static("private, no-store"));
            },
        )
        .when(any_foreign),
        Fault::reply(
            "search.no-reveal/rejection",
            "A rejection tells of a foreign address.",
            |_, _, reply| {
                reply.edit(|body| body["message"] = json!("a bad item, and one that is not yours"));
            },
        )
        .when(|context, seen| any_foreign(context, seen) && count(context, seen) == 2),
        Fault::reply(
            "search.no-reveal/rejection-status",
            "A rejection has another status beside a foreign address.",
            |_, _, reply| {
                reply.status = hyper::StatusCode::FORBIDDEN;
            },
        )
        .when(|context, seen| any_foreign(context, seen) && count(context, seen) == 2),
    ]
}

fn shown() -> Vec<Fault> {
    // Adds what the second account finds.
    let merged = |id, breaks, fits: fn(&Context, &ProxiedRequest) -> bool| {
        Fault::serve(id, breaks, move |context, seen| {
            Box::pin(async move {
                let mut reply = context.upstream.call(&seen).await;
                let Some(second) = &context.facts.second_token else { return reply };
                if context.operation(&seen).is_none()
                    || !context.accepted(&seen, &reply)
                    || !fits(context, &seen)
                {
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
    vec![
        merged("search.no-reveal/instances", "The instances of another account are shown.", any_foreign),
        merged(
            "search.no-reveal/instances-with-ports",
            "With ports the instances of another account are shown.",
            |context, seen| {
                any_foreign(context, seen) && ips(context, seen).iter().all(|item| has_port(item))
            },
        ),
        merged(
            "search.no-reveal/instances-among-own",
            "In a large batch the instances of another account are shown.",
            |context, seen| any_foreign(context, seen) && count(context, seen) > 300,
        ),
        merged(
            "search.no-reveal/shared",
            "A shared address shows the instances of both accounts.",
            |context, seen| {
                let asks = seen.param(&context.contract.search.api_key.name).as_deref()
                    == Some(context.token.expose());
                asks && context
                    .facts
                    .shared_address
                    .as_ref()
                    .is_some_and(|shared| ips(context, seen) == [shared.as_str()])
            },
        ),
        Fault::success(
            "search.no-reveal/shared-counted",
            "A shared address counts the instances of both accounts.",
            |_, _, body| {
                body["data"]["total"] = json!(total(body) + 1);
            },
        )
        .when(|context, seen| {
            context
                .facts
                .shared_address
                .as_ref()
                .is_some_and(|shared| ips(context, seen) == [shared.as_str()])
        }),
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
    vec![
        after(
            "search.read-only/offer-moves",
            "Each search with a filter moves an instance to another product.",
            |made, body| {
                each_instance(body, |item| item["offerId"] = json!(1 + made));
            },
        ),
        after("search.read-only/port-moves", "Each search with a filter changes a port.", |made, body| {
            if let Some(item) =
                items(body).and_then(|items| items.first_mut()).filter(|item| item.get("ip").is_some())
            {
                item["port"] = json!(30_000 + made);
            }
        }),
        after(
            "search.read-only/term-extended",
            "Each search with a filter extends the terms.",
            |made, body| {
                each_instance(body, |item| {
                    item["expiresAt"] = json!(format!("2031-01-{:02}T00:00:00Z", made % 28 + 1))
                });
            },
        ),
        after(
            "search.read-only/groups-touched",
            "Each search with a filter changes updatedAt of the groups.",
            |made, body| {
                let groups = items(body).into_iter().flatten().filter(|item| item.get("name").is_some());
                for group in groups {
                    group["updatedAt"] = json!(format!("2031-01-{:02}T00:00:00Z", made % 28 + 1));
                }
            },
        ),
        after(
            "search.read-only/group-renamed",
            "Each search with a filter renames a group.",
            |made, body| {
                let last = items(body).and_then(|items| items.last_mut());
                if let Some(group) = last.filter(|item| item.get("name").is_some()) {
                    group["name"] = json!(format!("searched {made} times"));
                }
            },
        ),
        after("search.read-only/used-up", "Each search with a filter uses up an instance.", |made, body| {
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
    vec![
        lowered(
            "search.max-batch-no-effect/lowered",
            "A low maxBatchSize lowers the limit of a search.",
            false,
        ),
        Fault::success(
            "search.max-batch-no-effect/left-out",
            "Instances whose maxBatchSize is lower than the batch are left out.",
            |context, seen, body| {
                let count = count(context, seen);
                super::search::lose_where(body, |item| {
                    count > 400
                        && item["capabilities"]["maxBatchSize"]
                            .as_u64()
                            .is_some_and(|most| most < count as u64)
                });
            },
        ),
        Fault::serve(
            "search.max-batch-no-effect/raised",
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
            },
        ),
        Fault::success(
            "search.max-batch-no-effect/negative",
            "A maxBatchSize is negative.",
            super::edit::change("/data/items/*/capabilities", |capabilities| {
                if capabilities.get("maxBatchSize").is_some() {
                    capabilities["maxBatchSize"] = json!(-1);
                }
            }),
        ),
        Fault::success(
            "search.max-batch-no-effect/text",
            "A maxBatchSize is a text.",
            super::edit::change("/data/items/*/capabilities", |capabilities| {
                if capabilities.get("maxBatchSize").is_some() {
                    capabilities["maxBatchSize"] = json!("50");
                }
            }),
        ),
        Fault::request(
            "search.ips-dedup-limit/lowered-by-nobody",
            "Two distinct items too few are the limit.",
            Context::reject,
        )
        .when(|context, seen| {
            super::search::distinct(context, seen) == context.contract.search.distinct_items
                && count(context, seen) == context.contract.search.distinct_items
        }),
        Fault::request(
            "search.match-any-port/own-lost-among-strangers",
            "In a full batch the first item is not looked for.",
            |context, seen| {
                map_ips(context, seen, |place, item| if place == 0 { NOBODY } else { item }.to_owned());
            },
        )
        .when(|context, seen| count(context, seen) == context.contract.search.distinct_items),
    ]
}
