//! All that a tester can know of the server's data.

use std::net::Ipv4Addr;

use sallyport_conformance::target::{Fact, GatewayPool, KnownGateway, KnownInstance, KnownOrder};
use sallyport_conformance::{Facts, Secret};
use serde_json::json;

use super::server::Decisions;
use super::server::time::Time;
use super::server::world::{self, Instance, MAIN_AT, SECOND_AT, World};
/// All that a tester can know of the server with these decisions.
pub fn facts(decisions: &Decisions) -> Facts {
    let world = world::build(decisions);
    let own = addresses(&world, MAIN_AT);
    let foreign: Vec<String> =
        addresses(&world, SECOND_AT).into_iter().filter(|ip| !own.contains(ip)).collect();
    let secret = |fact: Fact, value: &str| Some(Secret::new(fact.variable(), value));
    let mut orders: Vec<KnownOrder> = Vec::new();
    for instance in &world.accounts[MAIN_AT].instances {
        let address = instance.ip.to_string();
        match orders.iter_mut().find(|order| order.number == instance.order) {
            Some(order) if order.addresses.contains(&address) || order.addresses.len() > 9 => {}
            Some(order) => order.addresses.push(address),
            None => orders.push(KnownOrder { number: instance.order.clone(), addresses: vec![address] }),
        }
    }
    let passwords = [MAIN_AT, SECOND_AT].into_iter().flat_map(|at| {
        let all = &world.accounts[at].instances;
        all.iter().take(2).chain(all.iter().skip(2).step_by(5)).map(|instance| instance.password.clone())
    });
    Facts {
        own_addresses: own,
        orders,
        foreign_addresses: foreign,
        foreign_order: Some(world.accounts[SECOND_AT].instances[0].order.clone()),
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
        known_gateways: world
            .gateways
            .iter()
            .filter(|((region, _), gateways)| *region != "GLOBAL" && !gateways.is_empty())
            .map(|((region, protocol), gateways)| GatewayPool {
                region: (*region).into(),
                protocol: (*protocol).into(),
                gateways: gateways
                    .iter()
                    .map(|gateway| KnownGateway { host: gateway.host.clone(), port: gateway.port })
                    .collect(),
            })
            .collect(),
        entitled_protocols: vec!["http".into(), "socks5".into()],
        own_groups: world.accounts[MAIN_AT].groups.iter().map(|group| group.id).collect(),
        known_instances: world.accounts[MAIN_AT].instances.iter().step_by(7).map(known).collect(),
        rejected_tokens: Vec::new(),
        egress_ip: Some(Ipv4Addr::LOCALHOST),
        canaries: passwords.map(|password| Secret::new(Fact::Canaries.variable(), password)).collect(),
    }
}

fn known(instance: &Instance) -> KnownInstance {
    let time = |time: &Option<Time>| time.as_ref().map_or(json!(null), |time| json!(time.text));
    let fields = json!({
        "instanceId": instance.id, "offerId": instance.offer, "status": instance.status,
        "countryCode": instance.country, "cityCode": instance.city, "ispType": instance.isp,
        "expiresAt": time(&instance.expires), "activatedAt": time(&instance.activated), "groupId": instance.group,
    });
    KnownInstance {
        ip: instance.ip,
        spelling: instance.ip.to_string(),
        port: instance.port.into(),
        order: Some(instance.order.clone()),
        fields: fields.as_object().cloned().unwrap_or_default(),
    }
}

fn addresses(world: &World, account: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for instance in &world.accounts[account].instances {
        let address = instance.ip.to_string();
        if all.last() != Some(&address) {
            all.push(address);
        }
    }
    all
}
