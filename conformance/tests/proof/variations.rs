//! The variations of the lab, and variations in what the tester has and knows.

use std::sync::Arc;

use sallyport_conformance::lab::{self, Variation};
use sallyport_conformance::{Facts, Secret, Target};
use serde_json::Value;

use crate::world::World;

/// A variation and what is tested through it.
pub struct TestedVariation {
    /// Unique.
    pub id: &'static str,
    /// The server; none for one that is as ours.
    pub variation: Option<Arc<Variation>>,
    /// The account that is tested, with what its tester knows.
    pub target: fn(&World, &str) -> Target,
}

/// Every variation.
pub fn all() -> Vec<TestedVariation> {
    let of_lab = |variation: Variation| {
        let target = match variation.id {
            "extract.proxy-on-this-machine-trusted" => without_egress_ip,
            _ => World::target,
        };
        TestedVariation { id: variation.id, target, variation: Some(Arc::new(variation)) }
    };
    accounts().into_iter().chain(combined()).chain(lab::variations().into_iter().map(of_lab)).collect()
}

fn accounts() -> Vec<TestedVariation> {
    let tested = |id, target| TestedVariation { id, variation: None, target };
    vec![
        tested("accounts.nothing-known", |world, base| target(base, world.token.clone(), Facts::default())),
        tested("accounts.empty", |world, base| {
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
            target(base, empty, facts)
        }),
        tested("accounts.empty-with-addresses-of-nobody", |world, base| {
            let empty = world.facts.empty_token.clone().expect("the sample has an empty account");
            let facts = Facts { own_addresses: vec!["203.0.113.250".to_owned()], ..Facts::default() };
            target(base, empty, facts)
        }),
        tested("accounts.second", |world, base| {
            let second = world.facts.second_token.clone().expect("the sample has a second account");
            let facts = Facts { own_addresses: world.facts.foreign_addresses.clone(), ..Facts::default() };
            target(base, second, facts)
        }),
        tested("accounts.one-address", |world, base| {
            let facts = Facts {
                own_addresses: world.facts.own_addresses.iter().take(1).cloned().collect(),
                ..Facts::default()
            };
            target(base, world.token.clone(), facts)
        }),
        tested("accounts.empty-no-longer", |world, base| {
            // The tester has noticed that the account got groups, and took the fact out.
            let facts = Facts { empty_token: None, ..world.facts.clone() };
            target(base, world.token.clone(), facts)
        }),
        tested("accounts.one-protocol", |world, base| {
            let partly = world.facts.token_partly_entitled.clone().expect("the sample has such an account");
            target(base, partly, Facts::default())
        }),
    ]
}

/// What conforms alone, in company.
fn combined() -> Vec<TestedVariation> {
    let past_end = lab::variations().into_iter().find(|one| one.id == "search.page-past-end-rejected");
    let respelt = Variation::success(
        "search.filtered-results-spelt-otherwise",
        "Results of a filtered search spell addresses and times otherwise, and order protocols otherwise.",
        |_, seen, reply| {
            let body = seen.json();
            let asks_for = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
            if ["orderNo", "groupId", "countryCode", "cityCode", "status"].into_iter().any(asks_for) {
                reply.edit(respell);
            }
        },
    );
    vec![
        TestedVariation {
            id: "accounts.one-address-and-pages-past-the-end-rejected",
            variation: past_end.map(Arc::new),
            target: |world, base| {
                let facts = Facts {
                    own_addresses: world.facts.own_addresses.iter().take(1).cloned().collect(),
                    ..Facts::default()
                };
                target(base, world.token.clone(), facts)
            },
        },
        TestedVariation { id: respelt.id, variation: Some(Arc::new(respelt)), target: World::target },
    ]
}

fn respell(body: &mut Value) {
    for item in body["data"]["items"].as_array_mut().into_iter().flatten() {
        for name in ["ip", "activatedAt", "expiresAt"] {
            let respelt = item[name].as_str().map(|text| match text.strip_suffix('Z') {
                Some(time) => format!("{time}+00:00"),
                None => text.to_uppercase(),
            });
            if let Some(respelt) = respelt {
                item[name] = respelt.into();
            }
        }
        if let Some(protocols) = item["protocols"].as_array_mut() {
            protocols.reverse();
        }
    }
}

fn without_egress_ip(world: &World, base: &str) -> Target {
    target(base, world.token.clone(), Facts { egress_ip: None, ..world.facts.clone() })
}

fn target(base: &str, token: Secret, facts: Facts) -> Target {
    // The name decides how reports show the token.
    let token = Secret::new("API_KEY", token.expose());
    Target::new(base, token, facts, false).expect("a proxy has a usable address")
}
