//! The sample data itself. Addresses come from the ranges that are reserved for documentation and benchmarks.

mod accounts;
mod gateways;
mod instances;
pub(super) mod known;

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use self::known::{AddressPorts, Order, Pool, Sample};
use crate::{
    domain::{
        address::Address,
        instance::Id,
        token::{Token, TokenKind},
    },
    store::record::{GatewayRecord, InstanceRecord, Record, RecordCounts},
};

/// The name of the account that has everything.
const MAIN: &str = "aurora";

/// The name of the account whose data the main account must never see.
const SECOND: &str = "borealis";

/// One of this many instances is in [`Sample::instances`].
const SHOWN_EVERY: usize = 9;

/// Makes the sample data: the facts about it, and its records in an order in which they can be loaded.
pub(super) fn make(token: &mut dyn FnMut(TokenKind) -> Token) -> (Sample, Vec<Record>) {
    let canary = format!("canary-{:016x}", rand::random::<u64>());
    let (tokens, mut records) = accounts::make(token);
    let pool: Vec<_> = gateways::make(&canary).collect();
    let gateways = pools(&pool);
    records.extend(pool.into_iter().map(Record::Gateway));
    records.extend(accounts::groups().map(Record::Group));

    let main: Vec<_> = instances::main(&canary).collect();
    let second: Vec<_> = instances::second(&canary).collect();
    let (own, foreign) = (addresses(&main), addresses(&second));
    let sample = Sample {
        loaded: RecordCounts::default(),
        tokens,
        addresses: own.iter().copied().collect(),
        orders: orders(&main),
        groups: accounts::groups()
            .filter(|group| group.account == MAIN)
            .map(|group| group.group_id)
            .collect(),
        instances: main.iter().step_by(SHOWN_EVERY).cloned().collect(),
        foreign_addresses: foreign.difference(&own).copied().collect(),
        foreign_order: instances::SECOND_ORDER.to_owned(),
        foreign_group: accounts::foreign_group(),
        shared_addresses: own.intersection(&foreign).copied().collect(),
        plentiful_region: gateways::PLENTIFUL.0.to_owned(),
        scarce_region: gateways::SCARCE.0.to_owned(),
        scarce_count: gateways::SCARCE.1,
        empty_region: gateways::EMPTY.to_owned(),
        gateways,
        canaries: vec![canary],
        several_ports: most_ports(&main, IpAddr::is_ipv4),
        ipv6: most_ports(&main, IpAddr::is_ipv6),
    };
    let instances = main.into_iter().chain(second).map(|instance| Record::Instance(Box::new(instance)));
    records.extend(instances);
    (sample, records)
}

fn addresses(instances: &[InstanceRecord]) -> BTreeSet<Address> {
    instances.iter().map(|instance| Address { ip: instance.ip, port: None }).collect()
}

/// The first address with the most ports, each of which one instance has.
fn most_ports(instances: &[InstanceRecord], is_wanted: fn(&IpAddr) -> bool) -> AddressPorts {
    let mut ports: BTreeMap<IpAddr, Vec<u16>> = BTreeMap::new();
    for instance in instances.iter().filter(|instance| is_wanted(&instance.ip)) {
        ports.entry(instance.ip).or_default().push(instance.port);
    }
    let clear = ports.into_iter().filter(|(_, ports)| ports.is_sorted_by(|one, next| one < next));
    let held = clear.map(|(ip, ports)| AddressPorts { ip, ports });
    // The first address wins among those with equally many ports.
    let best = held.reduce(|best, other| if other.ports.len() > best.ports.len() { other } else { best });
    best.unwrap_or(AddressPorts { ip: IpAddr::from([0, 0, 0, 0]), ports: Vec::new() })
}

fn pools(gateways: &[GatewayRecord]) -> Vec<Pool> {
    let mut pools: BTreeMap<(&str, String), Vec<(String, u16)>> = BTreeMap::new();
    for gateway in gateways {
        let pool = pools.entry((&gateway.region, gateway.protocol.to_string())).or_default();
        pool.push((gateway.host.clone(), gateway.port));
    }
    pools
        .into_iter()
        .map(|((region, protocol), gateways)| Pool { region: region.to_owned(), protocol, gateways })
        .collect()
}

fn orders(instances: &[InstanceRecord]) -> Vec<Order> {
    let mut orders: BTreeMap<&str, BTreeSet<Address>> = BTreeMap::new();
    for instance in instances {
        if let Some(number) = &instance.order_no {
            orders.entry(number).or_default().insert(Address { ip: instance.ip, port: None });
        }
    }
    orders
        .into_iter()
        .map(|(number, addresses)| Order {
            number: number.to_owned(),
            addresses: addresses.into_iter().collect(),
        })
        .collect()
}

/// A constant identifier of the sample data.
#[expect(clippy::expect_used, reason = "evaluated when compiled: a number below 1 would stop the build")]
const fn id(number: i64) -> Id {
    Id::new(number).expect("an identifier is 1 or more")
}

/// A constant time of the sample data.
#[expect(clippy::expect_used, reason = "the texts are constants, and the tests parse each of them")]
fn time(text: &str) -> jiff::Timestamp {
    text.parse().expect("a time in the sample data is RFC 3339")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_thousands_of_instances_with_distinct_ids() {
        let (_, records) = make(&mut Token::generate);
        let ids: BTreeSet<_> = records
            .iter()
            .filter_map(|record| match record {
                Record::Instance(instance) => Some(instance.instance_id),
                _ => None,
            })
            .collect();
        assert!(ids.len() > 2500, "{}", ids.len());
        assert_eq!(records.iter().filter(|record| matches!(record, Record::Instance(_))).count(), ids.len());
    }

    #[test]
    fn every_fact_has_examples() {
        let (sample, _) = make(&mut Token::generate);
        assert!(sample.addresses.len() > 1000);
        assert!(sample.addresses.iter().any(|address| address.ip.is_ipv6()));
        assert!(sample.foreign_addresses.len() > 100);
        assert!(sample.shared_addresses.len() > 1);
        assert!(sample.several_ports.ports.len() > 2 && !sample.several_ports.ports.contains(&0));
        assert!(sample.ipv6.ip.is_ipv6() && !sample.ipv6.ports.contains(&0));
        assert!(sample.orders.len() > 10);
        assert!(sample.orders.iter().all(|order| order.number != sample.foreign_order));
    }

    #[test]
    fn every_proxy_secret_holds_the_canary() {
        let (sample, records) = make(&mut Token::generate);
        let canary = &sample.canaries[0];
        let mut seen = 0;
        for record in &records {
            let (username, password) = match record {
                Record::Gateway(gateway) => (&gateway.username, &gateway.password),
                Record::Instance(instance) => (&instance.username, &instance.password),
                _ => continue,
            };
            assert!(username.as_ref().is_some_and(|username| username.contains(canary)));
            assert!(password.as_ref().is_some_and(|password| password.expose().contains(canary)));
            seen += 1;
        }
        assert!(seen > 2500);
    }
}
