//! Static instances. Their fields vary independently of each other, so that any two filters together select fewer than each.

use std::{
    iter,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use jiff::{SignedDuration, Timestamp};

use super::{MAIN, SECOND, accounts, id, time};
use crate::{
    domain::{Status, instance::Id},
    store::{RecordKind, record::Record},
};

/// An order of the second account.
pub(super) const SECOND_ORDER: &str = "SO-2026-900001";

/// Number of addresses that only the main account has.
const MAIN_ADDRESSES: u16 = 1_100;

/// Number of addresses that only the second account has.
const SECOND_ADDRESSES: u16 = 300;

/// Number of addresses that both accounts have.
const SHARED_ADDRESSES: u8 = 6;

/// Addresses bought by one order.
const ADDRESSES_IN_ORDER: u16 = 25;

/// First id of the instances. The ids of the two accounts alternate, so that order by id is not order by account.
const FIRST_ID: i64 = 9_001;

/// Activation times at which wrong comparisons fail.
const BOUNDARIES: [&str; 9] = [
    "2025-12-31T23:59:59.999999999Z",
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.000000001Z",
    "2024-02-29T12:00:00.5Z",
    "1969-12-31T23:59:59.25Z",
    "2262-04-12T00:00:00.000000001Z",
    "2026-06-30T23:30:00+05:30",
    "2026-03-01T00:15:00-09:30",
    "1900-01-01T00:00:00Z",
];

/// Instances of the account that has everything.
pub(super) fn main(canary: &str) -> impl Iterator<Item = Record> {
    let own = (0..MAIN_ADDRESSES).map(|number| (number, address([198, 18], 0xa, number)));
    numbered(own.chain(shared()), MAIN, 0, canary)
}

/// Instances of the account whose data the other must never see.
pub(super) fn second(canary: &str) -> impl Iterator<Item = Record> {
    let own = (0..SECOND_ADDRESSES).map(|number| (number, address([198, 19], 0xb, number)));
    numbered(own.chain(shared()), SECOND, 1, canary)
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

/// An instance for each port of each address. `parity` separates the ids of the two accounts.
fn numbered(
    addresses: impl Iterator<Item = (u16, IpAddr)>,
    account: &'static str,
    parity: i64,
    canary: &str,
) -> impl Iterator<Item = Record> {
    addresses.flat_map(|(number, ip)| ports(number).map(move |port| (number, ip, port))).zip(0_u32..).map(
        move |((number, ip, port), index)| {
            let instance_id = id(FIRST_ID + i64::from(index) * 2 + parity);
            instance(account, number, ip, port, index, instance_id, canary)
        },
    )
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

fn instance(
    account: &'static str,
    number: u16,
    ip: IpAddr,
    port: u16,
    index: u32,
    instance_id: Id,
    canary: &str,
) -> Record {
    use Status::{Active, Cancelled, Expired, Failed, Provisioning};
    let status = pick(index, 1, &[Active, Active, Active, Expired, Cancelled, Failed, Provisioning]);
    let (country_code, city_code) = pick(
        index,
        2,
        &[("USA", "NYC"), ("USA", "LAX"), ("DEU", "BER"), ("JPN", "TYO"), ("BRA", "SAO"), ("ISL", "REK")],
    );
    let main = account == MAIN;
    let [first, second, third] = accounts::MAIN_GROUPS.map(Some);
    let foreign = Some(accounts::FOREIGN_GROUP);
    let group = if main {
        pick(index, 6, &[None, None, first, second, third])
    } else {
        pick(index, 6, &[None, foreign])
    };
    let is_activated = !matches!(status, Provisioning | Failed);
    let expires = pick(index, 5, &[true, true, false]);
    Record::new(
        RecordKind::Instance,
        [
            ("account", account.into()),
            ("orderNo", order(main, number).into()),
            ("instanceId", instance_id.into()),
            ("offerId", (31 + index % 9).into()),
            ("status", status.into()),
            ("ip", ip.into()),
            ("port", port.into()),
            ("protocols", pick(index, 3, &[r#"["http","socks5"]"#, r#"["http"]"#, r#"["socks5"]"#]).into()),
            ("countryCode", country_code.into()),
            ("cityCode", city_code.into()),
            ("ispType", pick(index, 4, &[1_u32, 1, 2, 0]).into()),
            ("expiresAt", expires.then(|| spread(index, "2027-01-01T00:00:00.000000007Z")).into()),
            ("activatedAt", is_activated.then(|| activation(index)).into()),
            ("capabilities", pick(index, 8, &CAPABILITIES).into()),
            ("groupId", group.into()),
            ("username", format!("{canary}-user-{index}").into()),
            ("password", format!("{canary}-password-{index}").into()),
        ],
    )
}

fn order(main: bool, number: u16) -> Option<String> {
    if number % 16 == 15 {
        None
    } else if main {
        Some(format!("SO-2026-{:06}", 17 + number / ADDRESSES_IN_ORDER))
    } else {
        Some(SECOND_ORDER.to_owned())
    }
}

fn activation(index: u32) -> Timestamp {
    let boundaries = BOUNDARIES.iter().copied().map(Some);
    let choices: Vec<Option<&str>> = boundaries.chain(iter::repeat_n(None, 2 * BOUNDARIES.len())).collect();
    match pick(index, 7, &choices) {
        Some(boundary) => time(boundary),
        None => spread(index, "2025-06-01T00:00:00Z"),
    }
}

/// Times some hours apart, with different fractions of a second.
fn spread(index: u32, from: &str) -> Timestamp {
    let step = SignedDuration::new(i64::from(index % 700) * 40_111, (index % 10).pow(9).cast_signed());
    time(from).saturating_add(step).unwrap_or(Timestamp::MAX)
}

/// What sources declare. Batch sizes are far below and far above the limit of a request: neither may change that limit.
const CAPABILITIES: [&str; 5] = [
    "{}",
    r#"{"purchase":{"minDays":7,"maxDays":0,"stepDays":1},"renew":{"allowedDays":[30,90,365]},"convertTrial":{"allowedDays":[],"minDays":7,"maxDays":0,"stepDays":1},"trialDays":0,"changeIp":true,"selectReplacement":false,"customCredentials":true,"randomCredentials":false,"maxBatchSize":50}"#,
    r#"{"renew":{},"maxBatchSize":1}"#,
    r#"{"trialDays":3,"maxBatchSize":4294967295}"#,
    r#"{"convertTrial":{"allowedDays":[30,90,365]},"changeIp":false}"#,
];

/// Chooses one of `choices` by `index`, independently for each `field`.
fn pick<T: Clone>(index: u32, field: u32, choices: &[T]) -> T {
    let mixed = u64::from(index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(field * 7);
    let spun = mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 33;
    choices[(spun % choices.len() as u64) as usize].clone()
}
