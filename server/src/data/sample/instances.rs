//! Static instances. Their fields vary independently of each other, so that any two filters together select fewer than each.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{MAIN, time};
use crate::store::record::Record;

/// An order of the second account.
pub(super) const SECOND_ORDER: &str = "SO-2026-900001";

/// Number of addresses that both accounts have.
const SHARED_ADDRESSES: u8 = 6;

/// Addresses bought by one order.
const ADDRESSES_IN_ORDER: u16 = 25;

/// First id of the instances. The ids of the two accounts alternate, so that order by id is not order by account.
const FIRST_ID: u32 = 9_001;

/// What varies, in the order in which it overrides what [`make`] sets: at each place one of the choices, for both accounts or for
/// one. Activation times have those at which wrong comparisons fail. Batch sizes of capabilities are far below and far above the limit
/// of a request: neither may change that limit.
const VARIATIONS: &str = include_str!("instances.jsonl");

#[derive(Deserialize)]
struct Variation {
    place: u32,
    account: Option<String>,
    choices: Vec<Map<String, Value>>,
}

/// Every fifth address is IPv6.
fn address(ipv4: [u8; 2], ipv6: u16, number: u16) -> IpAddr {
    let [high, low] = number.to_be_bytes();
    if number.is_multiple_of(5) {
        Ipv6Addr::new(0x2001, 0xdb8, ipv6, 0, 0, 0, u16::from(low), number + 1).into()
    } else {
        Ipv4Addr::new(ipv4[0], ipv4[1], high, low).into()
    }
}

fn shared() -> impl Iterator<Item = (u16, IpAddr)> {
    (0..SHARED_ADDRESSES).map(|number| {
        let ip = if number % 2 == 0 {
            IpAddr::from(Ipv4Addr::new(192, 0, 2, number + 1))
        } else {
            Ipv6Addr::new(0x2001, 0xdb8, 0xc, 0, 0, 0, 0, u16::from(number)).into()
        };
        (u16::from(number), ip)
    })
}

/// The instances of an account: one for each port of each of its addresses.
#[expect(clippy::expect_used, reason = "the lines are constants, and the tests parse each of them")]
pub(super) fn make(account: &'static str, canary: &str) -> Vec<Record> {
    let (own, ipv4, ipv6, parity) = if account == MAIN { (1_100, 18, 0xa, 0) } else { (300, 19, 0xb, 1) };
    let own = (0..own).map(|number| (number, address([198, ipv4], ipv6, number)));
    let variations = VARIATIONS.lines().map(|line| serde_json::from_str(line).expect("a variation"));
    let is_of_account = |it: &Variation| it.account.as_deref().is_none_or(|of| of == account);
    let variations: Vec<Variation> = variations.filter(is_of_account).collect();
    let ports =
        own.chain(shared()).flat_map(|(number, ip)| ports(number).map(move |port| (number, ip, port)));
    let instances = ports.zip(0_u32..).map(|((number, ip, port), index)| {
        let mut fields = json!({
            "account": account,
            "orderNo": order(account, number),
            "instanceId": FIRST_ID + index * 2 + parity,
            "offerId": 31 + index % 9,
            "ip": ip,
            "port": port,
            "expiresAt": spread(index, "2027-01-01T00:00:00.000000007Z"),
            "activatedAt": spread(index, "2025-06-01T00:00:00Z"),
            "groupId": null,
            "username": format!("{canary}-user-{index}"),
            "password": format!("{canary}-password-{index}"),
        });
        for Variation { place, choices, .. } in &variations {
            for (name, value) in pick(index, *place, choices) {
                fields[name] = value.clone();
            }
        }
        serde_json::from_value(json!({ "instance": fields })).expect("an instance")
    });
    instances.collect()
}

/// One to four ports. Some addresses also have one of them twice, port 0 (an instance without a port), or the last port.
fn ports(number: u16) -> impl Iterator<Item = u16> {
    let plain = (0..=number % 4).map(|place| 20_001 + place);
    let odd = match number % 40 {
        5 | 7 => Some(20_001),
        11 => Some(0),
        13 | 15 => Some(u16::MAX),
        17 => Some(1),
        _ => None,
    };
    plain.chain(odd)
}

fn order(account: &str, number: u16) -> Option<String> {
    match account {
        _ if number % 16 == 15 => None,
        MAIN => Some(format!("SO-2026-{:06}", 17 + number / ADDRESSES_IN_ORDER)),
        _ => Some(SECOND_ORDER.to_owned()),
    }
}

/// Times some hours apart, with different fractions of a second.
fn spread(index: u32, from: &str) -> Timestamp {
    let step = SignedDuration::new(i64::from(index % 700) * 40_111, (index % 10).pow(9).cast_signed());
    time(from).saturating_add(step).unwrap_or(Timestamp::MAX)
}

/// Chooses one of `choices` by `index`, independently for each `place`.
fn pick<T>(index: u32, place: u32, choices: &[T]) -> &T {
    let mixed = u64::from(index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(place * 7);
    let spun = mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 33;
    &choices[(spun % choices.len() as u64) as usize]
}
