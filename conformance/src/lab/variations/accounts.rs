//! Variations in what accounts share.

use serde_json::Value;

use crate::contract::OperationId;
use crate::lab::faults::words::*;
use crate::lab::{Call, Reply, Variation};

pub(crate) fn variations() -> Vec<Variation> {
    variations! {
        "accounts." {
            "ids-counted-in-each":
                "Each account counts its groups and instances from the same ids, so that an id of one account is also one of another.",
                consistent => serve(|call| Box::pin(with_ids_of_main(call)));
            "static-operations-check-access":
                "Static operations reject an account without verification or entitlement like an unknown token." => request(|call| {
                    let lacking = [&call.facts.token_not_verified, &call.facts.token_not_entitled];
                    let own = text(call, API_KEY).unwrap_or_default();
                    let is_lacking = lacking.into_iter().flatten().any(|token| token.expose() == own);
                    if is_lacking && call.operation() != Some(OperationId::Extract) {
                        put(call, API_KEY, "nobodys-token");
                    }
                });
        }
    }
}

/// Gives the groups and instances of the second account the ids of the main one.
async fn with_ids_of_main(call: Call<'_>) -> Reply {
    let mut reply = call.send().await;
    let second = call.facts.second_token.as_ref().map(|token| token.expose().to_owned());
    if text(&call, API_KEY) != second {
        return reply;
    }
    let mut main = call.clone();
    main.as_main();
    let main = main.send().await.json();
    reply.edit(|body| {
        let own = body.pointer_mut("/data/items").and_then(Value::as_array_mut);
        let others = main["data"]["items"].as_array().into_iter().flatten();
        for (own, other) in own.into_iter().flatten().zip(others) {
            for id in ["groupId", "instanceId"] {
                if own.get(id).is_some_and(Value::is_number) && other[id].is_number() {
                    own[id] = other[id].clone();
                }
            }
        }
    });
    reply
}
