//! Variations in what accounts share.

use crate::lab::Variation;

/// All of them.
pub(crate) fn variations() -> Vec<Variation> {
    variations_of![
"accounts.",
        serve("ids-counted-in-each", "Each account counts its groups and instances from the same ids, so that an id of one account is also one of another.", |context, seen| {
            Box::pin(async move {
                let mut reply = context.upstream.call(&seen).await;
                let name = &context.contract.groups.api_key.name;
                let second = context.facts.second_token.as_ref().map(|token| token.expose().to_owned());
                if seen.param(name) != second {
                    return reply;
                }
                let mut main = seen.clone();
                context.as_main(&mut main);
                let main = context.upstream.call(&main).await.json();
                reply.edit(|body| {
                    let own = body.pointer_mut("/data/items").and_then(serde_json::Value::as_array_mut);
                    let others = main["data"]["items"].as_array().into_iter().flatten();
                    for (own, other) in own.into_iter().flatten().zip(others) {
                        for id in ["groupId", "instanceId"] {
                            if own.get(id).is_some_and(serde_json::Value::is_number) && other[id].is_number()
                            {
                                own[id] = other[id].clone();
                            }
                        }
                    }
                });
                reply
            })
        })
        .consistent(),
]
}
