//! The data behind the server: accounts, groups, instances and gateways, enough of each to make every clause visible.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use minijinja::Value as Known;
use minijinja::value::Serde;
use serde::Serialize;
use serde_json::{Value, json};

use super::Decisions;
use super::address::network;
use super::time::Time;

pub(crate) const MAIN: &str = "Ax7main9fQ2kLmZ4tR8w";
pub(crate) const SECOND: &str = "Bx3second7Hs5nVc1yT6u";
pub(crate) const EMPTY: &str = "Cx9empty2Gd4bXz6qP0e";
pub(crate) const REVOKED: &str = "Dx1revoked8Jf3mWk7oS5i";
pub(crate) const NOT_WHITELISTED: &str = "Ex5away6Kg9vBn2rL4a";
pub(crate) const NOT_VERIFIED: &str = "Fx8unnamed4Ph1cTm3jD7z";
pub(crate) const NOT_ENTITLED: &str = "Gx2bare3Qj6xYs9wF1h";
pub(crate) const PARTLY: &str = "Hx6httponly1Rk8zUd5vN4g";
pub(crate) const LINK: &str = "link-4Wb7Ns2Xe9Kc6Qa";
pub(crate) const PLENTIFUL: &str = "USA";
pub(crate) const SCARCE: &str = "NZL";
pub(crate) const EMPTY_REGION: &str = "ISL";
const HOUR: i128 = 3_600_000_000_000;
/// 2024-03-01T08:00:00Z.
const BEGIN: i128 = 1_709_280_000_000_000_000;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Gateway {
    #[serde(rename = "ip")]
    pub(crate) host: String,
    pub(crate) port: u16,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) accounts: Vec<Value>,
    /// By region and protocol.
    pub(crate) pools: BTreeMap<String, Vec<Gateway>>,
}

/// Position of the main account and of the second one.
pub(crate) const MAIN_AT: usize = 0;
pub(crate) const SECOND_AT: usize = 1;

/// What names an account, its position, and of which kind it is.
const CREDENTIALS: [(&str, usize, &str); 9] = [
    (MAIN, MAIN_AT, "token"),
    (LINK, MAIN_AT, "link"),
    (REVOKED, MAIN_AT, "revoked"),
    (SECOND, SECOND_AT, "token"),
    (EMPTY, 2, "token"),
    (NOT_WHITELISTED, 3, "token"),
    (NOT_VERIFIED, 4, "token"),
    (NOT_ENTITLED, 5, "token"),
    (PARTLY, 6, "token"),
];

impl World {
    /// The data as rows know it.
    pub(crate) fn values(&self) -> [(&'static str, Known); 3] {
        let credentials = CREDENTIALS
            .map(|(text, account, kind)| json!({ "text": text, "account": account, "kind": kind }));
        [
            ("accounts", Known::from(Serde(&self.accounts))),
            ("credentials", Known::from(Serde(credentials))),
            ("pools", Known::from(Serde(&self.pools))),
        ]
    }
}

const PLACES: [(&str, &str); 8] = [
    ("USA", "NYC"),
    ("USA", "LAX"),
    ("USA", "CHI"),
    ("DEU", "BER"),
    ("DEU", "FRA"),
    ("GBR", "LON"),
    ("JPN", "TYO"),
    ("BRA", "SAO"),
];
const PORTS: [u16; 5] = [8080, 80, 8081, 1080, 65535];
const GROUPS: [(i64, &str); 8] = [
    (101, "Beta"),
    (12, "Lager"),
    (3, "Zulu"),
    (25, "alpha"),
    (7, "Ümlaut & Söhne"),
    (9, "2024"),
    (4_294_967_299, "wide id"),
    (1000, "last"),
];

pub(crate) fn build(decisions: &Decisions) -> World {
    let is_tiny = decisions.contains(&"tiny");
    let (wide, narrow) = match () {
        () if is_tiny => (2, 1),
        () if decisions.contains(&"small") => (12, 3),
        () => (430, 40),
    };
    let groups = &GROUPS[..if is_tiny { 1 } else { GROUPS.len() }];
    let mut instances = main_instances(wide, narrow);
    // An instance is in a group of its account, or in none.
    for instance in &mut instances {
        if !groups.iter().any(|(id, _)| instance["group"] == *id) {
            instance["group"] = Value::Null;
        }
    }
    let groups = groups.iter().zip(0..).map(|((id, name), at)| group(*id, name, at));
    let account = |groups: Vec<Value>, instances: Vec<Value>| {
        json!({
            "whitelist": ["127.0.0.1", "192.0.2.10"], "verified": true, "protocols": ["http", "socks5"],
            "groups": groups, "instances": instances,
        })
    };
    let without = |name: &str, value: Value| {
        let mut account = account(Vec::new(), Vec::new());
        account[name] = value;
        account
    };
    let second = second_instances(if is_tiny { 2 } else { 30 });
    let accounts = vec![
        account(groups.collect(), instances),
        account(vec![group(44, "Second", 1), group(31, "Other", 5)], second),
        account(Vec::new(), Vec::new()),
        without("whitelist", json!(["198.51.100.77"])),
        without("verified", json!(false)),
        without("protocols", json!([])),
        without("protocols", json!(["http"])),
    ];
    World { accounts, pools: pools() }
}

fn group(id: i64, name: &str, at: i128) -> Value {
    let created = BEGIN - at * 37 * HOUR;
    let updated = created + at * HOUR + 250_000_000 * (at % 3);
    json!({ "id": id, "name": name, "created": Time::from_nanos(created), "updated": Time::from_nanos(updated) })
}

/// Address `at` of the main account, IPv4.
pub(crate) fn v4(at: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(45, 10, (at / 200) as u8, (at % 200) as u8 + 4))
}

/// Address `at` of the main account, IPv6; its spelling can be shortened and written in capitals.
pub(crate) fn v6(at: usize) -> IpAddr {
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0xab, 0, 0, 0, 0xcd00, at as u16 + 1))
}

fn main_instances(wide: usize, narrow: usize) -> Vec<Value> {
    let addresses = (0..wide).map(v4).chain((0..narrow).map(v6));
    let mut instances = Vec::new();
    for (at, ip) in addresses.enumerate() {
        let ports = [2, 3, 4, 1, 5][at % 5];
        for port in PORTS.iter().take(ports) {
            instances.push(instance(instances.len(), at, ip, *port, "SO-2024"));
        }
    }
    instances
}

fn second_instances(count: usize) -> Vec<Value> {
    let mut instances = Vec::new();
    for at in 0..count {
        let ip = match at {
            // Shared with the main account, which holds other ports of it; the first of IPv4, and one of IPv6.
            0 => v4(0),
            1 => v4(3),
            2 => v6(0),
            _ if at % 4 == 0 => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0xee, 0, 0, 0, 0, at as u16 + 1)),
            _ => IpAddr::V4(Ipv4Addr::new(61, 20, 7, at as u8 + 1)),
        };
        let ports: &[u16] = if at < 3 { &[9090, 9091] } else { &[8080, 9090] };
        for port in ports {
            let mut held = instance(instances.len(), at, ip, *port, "SO-7700");
            held["id"] = (held["id"].as_i64().unwrap_or_default() + 500_000).into();
            held["group"] = (at % 2 == 0).then_some(44).into();
            instances.push(held);
        }
    }
    instances
}

fn instance(number: usize, address: usize, ip: IpAddr, port: u16, orders: &str) -> Value {
    let (country, city) = PLACES[address % PLACES.len()];
    let status = match number % 10 {
        3 => "provisioning",
        5 => "expired",
        7 => "cancelled",
        9 => "failed",
        _ => "active",
    };
    // Three instances share an instant, so that an order by activation has ties.
    let step = (number / 3) as i128;
    let fraction = [0, 250_000_000, 123_456_000, 999_999_999][(number / 3) % 4];
    let activated = BEGIN + step * 5 * HOUR + fraction;
    let is_activated = status != "provisioning" && !(status == "failed" && number.is_multiple_of(3));
    // Some ids can't be told apart by a reader that takes them for floating-point numbers.
    let id = 1000 + number as i64 + if number % 40 < 4 { 9_007_199_254_740_992 } else { 0 };
    let expires = (!number.is_multiple_of(11)).then(|| Time::from_nanos(activated + 720 * HOUR));
    json!({
        "id": id, "offer": 70 + number % 6, "status": status, "ip": ip, "v6": ip.is_ipv6(), "network": network(ip),
        "port": port, "country": country, "city": city, "isp": 1 + number % 2, "expires": expires,
        "activated": is_activated.then(|| Time::from_nanos(activated)), "at": if is_activated { activated } else { 0 },
        "capabilities": capabilities(number), "group": (number % 3 != 2).then(|| GROUPS[number % 7].0),
        "order": format!("{orders}-{:04}", 1 + number % 12),
        "password": format!("pw-Secret{:05}x", number * 7919 % 99_991),
    })
}

fn capabilities(number: usize) -> Value {
    let term = json!({ "allowedDays": [30, 60, 90], "minDays": 30, "maxDays": 0, "stepDays": 30 });
    match number % 4 {
        0 => json!({}),
        1 => json!({
            "purchase": term, "renew": term, "convertTrial": { "minDays": 7 }, "trialDays": 3, "changeIp": true,
            "selectReplacement": false, "customCredentials": true, "randomCredentials": false, "maxBatchSize": 10,
        }),
        2 => json!({ "renew": { "allowedDays": [] }, "trialDays": 0, "maxBatchSize": 2000 }),
        _ => json!({ "purchase": { "minDays": 1, "maxDays": 365, "stepDays": 1 }, "changeIp": false }),
    }
}

fn pools() -> BTreeMap<String, Vec<Gateway>> {
    let mut all = BTreeMap::new();
    for (protocol, base) in [("http", 20_000), ("socks5", 40_000)] {
        for (at, (region, count)) in
            [("USA", 400), ("DEU", 160), (SCARCE, 4), (EMPTY_REGION, 0)].iter().enumerate()
        {
            let gateway = |number: usize| {
                let host = if number.is_multiple_of(2) {
                    format!("gw{number}.{}.example.net", region.to_lowercase())
                } else {
                    format!("52.{}.{}.{}", at + 1, number / 250, number % 250 + 1)
                };
                Gateway { host, port: (base + at * 1000 + number) as u16 }
            };
            all.insert(format!("{region} {protocol}"), (0..*count).map(gateway).collect::<Vec<_>>());
        }
        let of = |region| all[&format!("{region} {protocol}")].clone();
        let (usa, deu, scarce) = (of("USA"), of("DEU"), of(SCARCE));
        let mut global = Vec::new();
        for (at, gateway) in usa.iter().enumerate() {
            global.push(gateway.clone());
            global.extend(deu.get(at).cloned());
            global.extend(scarce.get(at).cloned());
        }
        all.insert(format!("GLOBAL {protocol}"), global);
    }
    all
}
