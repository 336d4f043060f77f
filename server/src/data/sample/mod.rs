//! The sample data itself. Addresses come from the ranges that are reserved for documentation and benchmarks.

mod gateways;
mod instances;
pub(super) mod known;

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use serde_json::{Map, Value};

use self::known::{AddressPorts, Sample, SampleTokens};
use crate::{
    domain::{
        address::Address,
        token::{Token, TokenKind},
    },
    store::{
        RecordKind, StoreError,
        record::{Record, RecordCounts},
    },
};

/// The name of the account that has everything.
const MAIN: &str = "aurora";

/// The name of the account whose data the main account must never see.
const SECOND: &str = "borealis";

/// Accounts with all that they have but tokens and instances, as lines of an import. Whitelist entries that are disabled, have expired or
/// are for other addresses do not affect a valid one; an account may have each range only once, so they are for nearly the same
/// addresses. Groups are not in the order of their numbers, and those of the second account lie between those of the main one.
const ACCOUNTS: &str = include_str!("accounts.jsonl");

/// One of this many instances is in [`Sample::instances`].
const SHOWN_EVERY: usize = 9;

/// Makes the sample data: the facts about it, and its records in an order in which they can be loaded.
#[expect(clippy::expect_used, reason = "the lines are constants, and the tests parse each of them")]
pub(super) fn make(token: &mut dyn FnMut(TokenKind) -> Token) -> Result<(Sample, Vec<Record>), StoreError> {
    let canary = format!("canary-{:016x}", rand::random::<u64>());
    let accounts = ACCOUNTS.lines().map(|line| serde_json::from_str(line).expect("a line of an import"));
    let mut records: Vec<Record> = accounts.collect();
    let groups = |owner| {
        let groups = records.iter().filter(|record| record.kind == RecordKind::Group);
        let groups = groups.filter(|group| group.owner() == Some(owner));
        groups.map(|group| group.get("groupId")).collect::<Result<Vec<_>, _>>()
    };
    let (groups, foreign_groups) = (groups(MAIN)?, groups(SECOND)?);
    let tokens = SampleTokens::new(|account, kind, [expires, revoked]| {
        let token = token(kind);
        let fields = [
            ("account", account.into()),
            ("sha256", token.digest().into()),
            ("kind", kind.into()),
            ("createdAt", time("2019-06-01T00:00:00Z").into()),
            ("expiresAt", expires.map(time).into()),
            ("revokedAt", revoked.map(time).into()),
        ];
        records.push(Record::new(RecordKind::Token, fields));
        token
    });
    let gateways: Vec<_> = gateways::make(&canary).collect();
    let (main, second) = (instances::make(MAIN, &canary), instances::make(SECOND, &canary));
    let (own, foreign) = (addresses(&main)?, addresses(&second)?);
    let sample = Sample {
        loaded: RecordCounts::default(),
        tokens,
        orders: orders(&main)?,
        groups,
        instances: main.iter().step_by(SHOWN_EVERY).map(shown).collect(),
        foreign_addresses: foreign.difference(&own).copied().collect(),
        foreign_order: instances::SECOND_ORDER.to_owned(),
        foreign_group: foreign_groups[0],
        shared_addresses: own.intersection(&foreign).copied().collect(),
        addresses: own,
        plentiful_region: gateways::PLENTIFUL.0.to_owned(),
        scarce_region: gateways::SCARCE.0.to_owned(),
        scarce_count: gateways::SCARCE.1.into(),
        empty_region: gateways::EMPTY.to_owned(),
        gateways: pools(&gateways)?,
        canaries: vec![canary],
        several_ports: most_ports(&main, IpAddr::is_ipv4)?,
        ipv6: most_ports(&main, IpAddr::is_ipv6)?,
    };
    records.extend(gateways.into_iter().chain(main).chain(second));
    Ok((sample, records))
}

/// The fields that a response shows, and the order number.
fn shown(instance: &Record) -> Map<String, Value> {
    let fields = serde_json::to_value(instance)
        .ok()
        .and_then(|record| record[RecordKind::Instance.name()].as_object().cloned());
    let is_shown = |name: &str| !["account", "username", "password"].contains(&name);
    fields.into_iter().flatten().filter(|(name, _)| is_shown(name)).collect()
}

fn addresses(instances: &[Record]) -> Result<BTreeSet<Address>, StoreError> {
    instances.iter().map(|instance| Ok(Address { ip: instance.get("ip")?, port: None })).collect()
}

/// The first address with the most ports, each of which one instance has.
fn most_ports(instances: &[Record], is_wanted: fn(&IpAddr) -> bool) -> Result<AddressPorts, StoreError> {
    let mut ports: BTreeMap<IpAddr, Vec<u16>> = BTreeMap::new();
    for instance in instances {
        ports.entry(instance.get("ip")?).or_default().push(instance.get("port")?);
    }
    let held = ports.into_iter().map(|(ip, ports)| AddressPorts { ip, ports });
    let clear =
        held.filter(|AddressPorts { ip, ports }| is_wanted(ip) && ports.is_sorted_by(|one, next| one < next));
    // The last of the greatest, and so the first address.
    let best = clear.rev().max_by_key(|held| held.ports.len());
    Ok(best.unwrap_or(AddressPorts { ip: IpAddr::from([0, 0, 0, 0]), ports: Vec::new() }))
}

fn pools(gateways: &[Record]) -> Result<known::Pools, StoreError> {
    let mut pools = known::Pools::new();
    for gateway in gateways {
        let pool = pools.entry((gateway.get("region")?, gateway.get("protocol")?)).or_default();
        let (host, port): (String, u16) = (gateway.get("host")?, gateway.get("port")?);
        pool.push(format!("{host}:{port}"));
    }
    Ok(pools)
}

fn orders(instances: &[Record]) -> Result<BTreeMap<String, BTreeSet<Address>>, StoreError> {
    let mut orders = BTreeMap::<_, BTreeSet<_>>::new();
    for instance in instances {
        if let Some(number) = instance.get("orderNo")? {
            orders.entry(number).or_default().insert(Address { ip: instance.get("ip")?, port: None });
        }
    }
    Ok(orders)
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
    fn every_proxy_secret_holds_the_canary() {
        let (sample, records) = make(&mut Token::generate).unwrap();
        let has_secrets =
            |record: &&Record| matches!(record.kind, RecordKind::Gateway | RecordKind::Instance);
        let records: Vec<_> = records.iter().filter(has_secrets).collect();
        assert!(records.len() > 2500);
        for field in ["username", "password"] {
            let holds = |record: &&Record| record.get::<String>(field).unwrap().contains(&sample.canaries[0]);
            assert!(records.iter().all(holds), "{field}");
        }
    }
}
