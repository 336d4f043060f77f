//! Faults that tell of other accounts, that change data, and limits that follow what an instance declares.

use futures::future::BoxFuture;
use hyper::StatusCode;
use serde_json::{Value, json};

use super::search_shape::capability;
use super::words::*;
use crate::contract::OperationId;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "search.no-reveal/" {
            "forbidden": "A foreign address is forbidden."
                if any_foreign() => respond(403, json!({"code": 403, "message": "not yours", "requestId": "r"}));
            "not-found": "An unknown address is not found, a foreign one finds nothing."
                if not(any_foreign()), any_item(|item| item.ends_with("249"))
                => respond(404, json!({"code": 404, "message": "no such address", "requestId": "r"}));
            "message": "The message tells of a foreign address." if any_foreign() => set("/message", "held by another account");
            "code-field": "A further field tells of a foreign address." if any_foreign() => set("/data/skipped", 1);
            "counted": "A foreign address is counted." if any_foreign() => count_one_more;
            "counted-with-status": "With a status a foreign address is counted." if any_foreign(), with(STATUS) => count_one_more;
            "counted-with-ports": "A foreign address with a port is counted." if any_foreign(), all_with_ports => count_one_more;
            "message-with-ports": "With ports the message tells of a foreign address."
                if any_foreign(), all_with_ports => set("/message", "OK");
            "message-in-group": "With a groupId the message tells of a foreign address."
                if any_foreign(), with(GROUP) => set("/message", "partly");
            "ipv6-message": "The message tells of a foreign IPv6 address." if any_foreign(), all_items(is_v6) => set("/message", "");
            "header": "A header tells of a foreign address." if any_foreign() => with_header("x-matched-accounts", "1");
            "header-gone": "A response on a foreign address may be stored."
                if any_foreign() => with_header("cache-control", "private, no-store");
            "rejection": "A rejection tells of a foreign address." if any_foreign(), batch_of(2..=2)
                => reply(|_, reply| reply.edit(|body| body["message"] = json!("a bad item, and one that is not yours")));
            "rejection-status": "A rejection has another status beside a foreign address." if any_foreign(), batch_of(2..=2)
                => reply(|_, reply| reply.status = StatusCode::FORBIDDEN);
            "instances": "The instances of another account are shown." if known(Fact::SecondToken), any_foreign() => show_second();
            "instances-with-ports": "With ports the instances of another account are shown."
                if known(Fact::SecondToken), any_foreign(), all_with_ports => show_second();
            "instances-among-own": "In a large batch the instances of another account are shown."
                if known(Fact::SecondToken), any_foreign(), batch_of(301..) => show_second();
            "shared": "A shared address shows the instances of both accounts."
                if known(Fact::SharedAddress), known(Fact::SecondToken), of_shared, of_main_account() => show_second();
            "shared-counted": "A shared address counts the instances of both accounts." if known(Fact::SharedAddress), of_shared => count_one_more;
            "message-beside-own": "The message tells of a foreign address beside own ones."
                if known(Fact::OwnAddresses), known(Fact::ForeignAddresses) => success(|call, body| {
                    let foreign = &call.facts.foreign_addresses;
                    let (theirs, own): (Vec<_>, Vec<_>) = ips(call).into_iter().partition(|item| foreign.contains(&bare(item)));
                    if !theirs.is_empty() && own.iter().any(|item| call.facts.own_addresses.contains(item)) {
                        body["message"] = json!("partial");
                    }
                });
            "of-a-time": "With a lower bound the instances of all accounts are found."
                if known(Fact::ForeignAddresses), with(FROM), that(|call| ips(call).iter().any(|item| call.facts.foreign_addresses.contains(item)))
                => as_second();
        }
        "search.read-only/" {
            "first-search-groups": "The first search for an instance moves it to a group." => after_first("groupId", json!(1));
            "first-search-status": "The first search for an instance sets its status to expired." => after_first("status", json!("expired"));
            "offer-moves": "Each search with a filter moves an instance to another product."
                => after(|made, body| each_instance(body, |item| item["offerId"] = json!(1 + made)));
            "port-moves": "Each search with a filter changes a port." => after(|made, body| {
                let first = items(body).and_then(|items| items.first_mut());
                if let Some(item) = first.filter(|item| item.get("ip").is_some()) {
                    item["port"] = json!(30_000 + made);
                }
            });
            "term-extended": "Each search with a filter extends the terms."
                => after(|made, body| each_instance(body, |item| item["expiresAt"] = day(made)));
            "groups-touched": "Each search with a filter changes updatedAt of the groups." => after(|made, body| {
                let groups = items(body).into_iter().flatten().filter(|item| item.get("name").is_some());
                groups.for_each(|group| group["updatedAt"] = day(made));
            });
            "group-renamed": "Each search with a filter renames a group." => after(|made, body| {
                let last = items(body).and_then(|items| items.last_mut());
                if let Some(group) = last.filter(|item| item.get("name").is_some()) {
                    group["name"] = json!(format!("searched {made} times"));
                }
            });
            "used-up": "Each search with a filter removes an instance." => after(|made, body| {
                let is_search = |items: &Vec<Value>| items.first().is_some_and(|item| item.get("ip").is_some());
                let Some(items) = items(body).filter(|items| is_search(items)) else { return };
                let left = items.len().saturating_sub(usize::try_from(made).unwrap_or_default());
                items.truncate(left);
                if left < 900 {
                    body["data"]["total"] = json!(left);
                }
            });
            "group-touched": "A search by a group changes its updatedAt." => serve(touched);
        }
        "search.max-batch-no-effect/" {
            "lowered": "A low maxBatchSize lowers the limit of a search."
                if that(|call| count(call) >= call.contract.search.distinct_items) => accepted(|call, reply| {
                    if declares(reply, |most| most < count(call)) {
                        *reply = Reply::json_with(400, &json!({"code": 400, "message": "more than the source takes"}));
                    }
                });
            "left-out": "Instances whose maxBatchSize is lower than the batch are left out." if batch_of(401..) => success(|call, body| {
                let count = count(call);
                lose_where(body, |item| batch_size(item).is_some_and(|most| most < count));
            });
            "raised": "A high maxBatchSize raises the limit of a search."
                if that(|call| count(call) == call.contract.search.distinct_items + 1) => serve(|call| Box::pin(async move {
                    let reply = call.send().await;
                    let mut cut = call.clone();
                    cut_to_limit(&mut cut);
                    let other = cut.send().await;
                    if declares(&other, |declared| declared > call.contract.search.distinct_items) { other } else { reply }
                }));
            "negative": "A maxBatchSize is negative." => capability("maxBatchSize", -1);
            "text": "A maxBatchSize is a string." => capability("maxBatchSize", "50");
        }
    }
}

/// An item is the address of another account alone.
fn any_foreign() -> When {
    let is_foreign = |call: &Call<'_>, item: &String| {
        call.facts.foreign_addresses.iter().any(|foreign| bare(foreign) == bare(item))
    };
    that(move |call| call.operation().is_some() && ips(call).iter().any(|item| is_foreign(call, item)))
        .needs(Need::Fact(Fact::ForeignAddresses))
}

/// The address of two accounts is asked for alone.
fn of_shared(call: &Call<'_>) -> bool {
    call.facts.shared_address.as_ref().is_some_and(|shared| ips(call) == [shared.as_str()])
}

/// Adds 1 to the total.
fn count_one_more(_: &Call<'_>, body: &mut Value) {
    body["data"]["total"] = json!(total(body) + 1);
}

/// Adds what the second account finds.
fn show_second() -> Act {
    compared(act_as_second, |_, theirs, body| {
        body["data"]["total"] = json!(total(body) + total(theirs));
        if let Some(items) = items(body) {
            items.extend(theirs["data"]["items"].as_array().into_iter().flatten().cloned());
        }
    })
}

/// What a request to any operation gets once so many filtered searches have been made.
fn after(how: fn(u64, &mut Value)) -> Act {
    const FILTERED: &str = "filtered searches";
    serve(move |call| {
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
}

/// Changes a field of an instance; the response to the first search for it shows it unchanged.
fn after_first(field: &'static str, value: Value) -> impl OnBody {
    move |call, body| {
        each_instance(body, |item| {
            if call.memory.calls_of(&item["instanceId"].to_string()) > 0 {
                item[field] = value.clone();
            }
        });
    }
}

/// Another day for each number of searches.
fn day(made: u64) -> Value {
    json!(format!("2031-01-{:02}T00:00:00Z", made % 28 + 1))
}

fn each_instance(body: &mut Value, how: impl Fn(&mut Value)) {
    items(body).into_iter().flatten().filter(|item| item.get("ip").is_some()).for_each(how);
}

fn touched(call: Call<'_>) -> BoxFuture<'_, Reply> {
    Box::pin(async move {
        let operation = call.operation();
        if let (Some(OperationId::Search), Some(group)) = (operation, integer(&call, GROUP)) {
            call.memory.calls_of(&group.to_string());
        }
        let mut reply = call.send().await;
        if operation == Some(OperationId::Groups) && call.accepted(&reply) {
            reply.edit(|body| {
                for group in items(body).into_iter().flatten() {
                    if call.memory.count(&group["groupId"].to_string()) > 0 {
                        group["updatedAt"] = json!("2026-06-01T00:00:00Z");
                    }
                }
            });
        }
        reply
    })
}

/// The maxBatchSize of an instance.
fn batch_size(item: &Value) -> Option<usize> {
    item["capabilities"]["maxBatchSize"].as_u64()?.try_into().ok()
}

/// An instance of a response has a maxBatchSize that fits.
fn declares(reply: &Reply, fits: impl Fn(usize) -> bool) -> bool {
    let body = reply.json();
    body["data"]["items"].as_array().into_iter().flatten().filter_map(batch_size).any(fits)
}
