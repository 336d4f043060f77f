//! Variations in what the tester has and knows.

use sallyport_conformance::{Facts, Secret, Target};

use crate::variation::Variation;

/// All of them.
pub fn variations() -> Vec<Variation> {
    vec![
        Variation::reply("accounts.nothing-known", |_, _, _| {}).with_target(|world, base| {
            target(base, Secret::new("API_KEY", world.token.as_str()), Facts::default())
        }),
        Variation::reply("accounts.empty", |_, _, _| {}).with_target(|world, base| {
            let empty = world.facts.empty_token.clone().expect("the sample has an empty account");
            // The account has neither addresses nor orders nor groups; all else is as it was.
            let facts = Facts {
                own_addresses: Vec::new(),
                orders: Vec::new(),
                own_groups: Vec::new(),
                known_instances: Vec::new(),
                shared_address: None,
                empty_token: None,
                ..world.facts.clone()
            };
            target(base, Secret::new("API_KEY", empty.expose()), facts)
        }),
        Variation::reply("accounts.empty-with-addresses-of-nobody", |_, _, _| {}).with_target(
            |world, base| {
                let empty = world.facts.empty_token.clone().expect("the sample has an empty account");
                let facts = Facts { own_addresses: vec!["203.0.113.250".to_owned()], ..Facts::default() };
                target(base, Secret::new("API_KEY", empty.expose()), facts)
            },
        ),
        Variation::reply("accounts.second", |_, _, _| {}).with_target(|world, base| {
            let second = world.facts.second_token.clone().expect("the sample has a second account");
            let facts = Facts { own_addresses: world.facts.foreign_addresses.clone(), ..Facts::default() };
            target(base, Secret::new("API_KEY", second.expose()), facts)
        }),
        Variation::reply("accounts.one-address", |_, _, _| {}).with_target(|world, base| {
            let facts = Facts {
                own_addresses: world.facts.own_addresses.iter().take(1).cloned().collect(),
                ..Facts::default()
            };
            target(base, Secret::new("API_KEY", world.token.as_str()), facts)
        }),
        Variation::reply("accounts.empty-no-longer", |_, _, _| {}).with_target(|world, base| {
            // The tester has noticed that the account got groups, and took the fact out.
            let facts = Facts { empty_token: None, ..world.facts.clone() };
            target(base, Secret::new("API_KEY", world.token.as_str()), facts)
        }),
        Variation::serve("accounts.ids-counted-in-each", |scene, seen| {
            Box::pin(async move {
                let mut reply = scene.upstream.call(&seen).await;
                let name = &scene.contract.groups.api_key.name;
                let second = scene.facts.second_token.as_ref().map(|token| token.expose().to_owned());
                if seen.param(name) != second {
                    return reply;
                }
                let mut main = seen.clone();
                scene.as_main(&mut main);
                let main = scene.upstream.call(&main).await.json();
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
        }),
        Variation::reply("accounts.one-protocol", |_, _, _| {}).with_target(|world, base| {
            let partly = world.facts.token_partly_entitled.clone().expect("the sample has such an account");
            target(base, Secret::new("API_KEY", partly.expose()), Facts::default())
        }),
    ]
}

fn target(base: &str, token: Secret, facts: Facts) -> Target {
    Target::new(base, token, facts, false).expect("a proxy has a usable address")
}
