//! All that a tester can know of the server's data.

use std::net::Ipv4Addr;

use sallyport_conformance::target::{Fact, GatewayPool, KnownGateway, KnownInstance, KnownOrder};
use sallyport_conformance::{Facts, Secret};
use serde_json::{Value, json};

use super::server::Decisions;
use super::server::world::{self, Gateway, MAIN_AT, SECOND_AT};

/// All that a tester can know of the server with these decisions.
pub fn facts(decisions: &Decisions) -> Facts {
    let world = world::build(decisions);
    let [main, second] = [MAIN_AT, SECOND_AT].map(|at| list(&world.accounts[at]["instances"]));
    let own = addresses(main);
    let foreign: Vec<String> = addresses(second).into_iter().filter(|ip| !own.contains(ip)).collect();
    let secret = |fact: Fact, value: &str| Some(Secret::new(fact.variable(), value));
    let mut orders: Vec<KnownOrder> = Vec::new();
    for instance in main {
        let (number, address) = (text(&instance["order"]), text(&instance["ip"]));
        match orders.iter_mut().find(|order| order.number == number) {
            Some(order) if order.addresses.contains(&address) || order.addresses.len() > 9 => {}
            Some(order) => order.addresses.push(address),
            None => orders.push(KnownOrder { number, addresses: vec![address] }),
        }
    }
    let shown = [main, second].into_iter().flat_map(|all| all[..2].iter().chain(all[2..].iter().step_by(5)));
    let canary = |instance: &Value| Secret::new(Fact::Canaries.variable(), text(&instance["password"]));
    let known = |gateway: &Gateway| KnownGateway { host: gateway.host.clone(), port: gateway.port };
    let pool = |(name, gateways): (&String, &Vec<Gateway>)| {
        let (region, protocol) = name.split_once(' ')?;
        let gateways: Vec<_> = gateways.iter().map(known).collect();
        let is_shown = region != "GLOBAL" && !gateways.is_empty();
        is_shown.then(|| GatewayPool { region: region.into(), protocol: protocol.into(), gateways })
    };
    Facts {
        own_addresses: own,
        orders,
        foreign_addresses: foreign,
        foreign_order: Some(text(&second[0]["order"])),
        foreign_group: Some(44),
        shared_address: Some(world::v4(0).to_string()),
        second_token: secret(Fact::SecondToken, world::SECOND),
        empty_token: secret(Fact::EmptyToken, world::EMPTY),
        link_credential: secret(Fact::LinkCredential, world::LINK),
        revoked_token: secret(Fact::RevokedToken, world::REVOKED),
        token_not_whitelisted: secret(Fact::TokenNotWhitelisted, world::NOT_WHITELISTED),
        token_not_verified: secret(Fact::TokenNotVerified, world::NOT_VERIFIED),
        token_not_entitled: secret(Fact::TokenNotEntitled, world::NOT_ENTITLED),
        token_partly_entitled: secret(Fact::TokenPartlyEntitled, world::PARTLY),
        plentiful_region: Some(world::PLENTIFUL.into()),
        scarce_region: Some(world::SCARCE.into()),
        empty_region: Some(world::EMPTY_REGION.into()),
        known_gateways: world.pools.iter().filter_map(pool).collect(),
        entitled_protocols: vec!["http".into(), "socks5".into()],
        own_groups: list(&world.accounts[MAIN_AT]["groups"])
            .iter()
            .filter_map(|group| group["id"].as_i64())
            .collect(),
        known_instances: main.iter().step_by(7).map(known_instance).collect(),
        rejected_tokens: Vec::new(),
        egress_ip: Some(Ipv4Addr::LOCALHOST),
        canaries: shown.map(canary).collect(),
    }
}

fn known_instance(instance: &Value) -> KnownInstance {
    let fields = json!({
        "instanceId": instance["id"], "offerId": instance["offer"], "status": instance["status"],
        "countryCode": instance["country"], "cityCode": instance["city"], "ispType": instance["isp"],
        "expiresAt": instance["expires"]["text"], "activatedAt": instance["activated"]["text"], "groupId": instance["group"],
    });
    let spelling = text(&instance["ip"]);
    KnownInstance {
        ip: spelling.parse().expect("an address"),
        spelling,
        port: instance["port"].as_i64().unwrap_or_default(),
        order: Some(text(&instance["order"])),
        fields: fields.as_object().cloned().unwrap_or_default(),
    }
}

fn addresses(instances: &[Value]) -> Vec<String> {
    let mut all: Vec<String> = instances.iter().map(|instance| text(&instance["ip"])).collect();
    all.dedup();
    all
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
