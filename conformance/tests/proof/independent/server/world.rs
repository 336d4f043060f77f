//! The data behind the server: accounts, groups, instances and gateways, enough of each to make every clause visible.

use std::collections::{BTreeMap, BTreeSet};
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
pub(crate) struct Group {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) created: Time,
    pub(crate) updated: Time,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Instance {
    pub(crate) id: i64,
    pub(crate) offer: i64,
    pub(crate) status: &'static str,
    pub(crate) ip: IpAddr,
    pub(crate) port: u16,
    pub(crate) country: &'static str,
    pub(crate) city: &'static str,
    pub(crate) isp: i64,
    pub(crate) expires: Option<Time>,
    pub(crate) activated: Option<Time>,
    pub(crate) capabilities: Value,
    pub(crate) group: Option<i64>,
    pub(crate) order: String,
    pub(crate) password: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Account {
    pub(crate) tokens: Vec<&'static str>,
    pub(crate) links: Vec<&'static str>,
    pub(crate) revoked: Vec<&'static str>,
    pub(crate) whitelist: Vec<Ipv4Addr>,
    pub(crate) verified: bool,
    pub(crate) protocols: Vec<&'static str>,
    pub(crate) groups: Vec<Group>,
    pub(crate) instances: Vec<Instance>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Gateway {
    #[serde(rename = "ip")]
    pub(crate) host: String,
    pub(crate) port: u16,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) accounts: Vec<Account>,
    /// By region and protocol.
    pub(crate) gateways: BTreeMap<(&'static str, &'static str), Vec<Gateway>>,
}

/// Position of the main account and of the second one.
pub(crate) const MAIN_AT: usize = 0;
pub(crate) const SECOND_AT: usize = 1;

impl World {
    /// The data as rows know it.
    pub(crate) fn values(&self) -> [(&'static str, Known); 3] {
        let accounts: Vec<Value> = self.accounts.iter().map(Account::value).collect();
        let of = |at: usize, kind: &str, texts: &[&'static str]| -> Vec<Value> {
            texts.iter().map(|text| json!({ "text": text, "account": at, "kind": kind })).collect()
        };
        let of_account = |(at, account): (usize, &Account)| {
            [("token", &account.tokens), ("link", &account.links), ("revoked", &account.revoked)]
                .map(|(kind, texts)| of(at, kind, texts))
                .concat()
        };
        let credentials: Vec<Value> = self.accounts.iter().enumerate().flat_map(of_account).collect();
        let pools = self
            .gateways
            .iter()
            .map(|((region, protocol), gateways)| (format!("{region} {protocol}"), gateways));
        let pools: BTreeMap<_, _> = pools.collect();
        [
            ("accounts", Known::from(Serde(accounts))),
            ("credentials", Known::from(Serde(credentials))),
            ("pools", Known::from(Serde(pools))),
        ]
    }
}

impl Account {
    fn value(&self) -> Value {
        let orders: BTreeSet<_> = self.instances.iter().map(|instance| &instance.order).collect();
        let ips: BTreeSet<_> = self.instances.iter().map(|instance| instance.ip).collect();
        let groups: Vec<_> = self.groups.iter().map(|group| group.id).collect();
        let instances = self.instances.iter().map(Instance::value);
        json!({
            "whitelist": self.whitelist, "verified": self.verified, "protocols": self.protocols, "groups": self.groups,
            "group_ids": groups, "orders": orders, "ips": ips, "instances": instances.collect::<Vec<_>>(),
        })
    }
}

impl Instance {
    fn value(&self) -> Value {
        let mut value = json!(self);
        value["v6"] = self.ip.is_ipv6().into();
        value["network"] = network(self.ip).into();
        value["at"] = self.activated.as_ref().map_or(0, |time| time.nanos as i64).into();
        value
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
    let here = vec![Ipv4Addr::LOCALHOST, Ipv4Addr::new(192, 0, 2, 10)];
    let both = vec!["http", "socks5"];
    let full =
        Account { whitelist: here.clone(), verified: true, protocols: both.clone(), ..Account::default() };
    let mut main = Account {
        tokens: vec![MAIN],
        links: vec![LINK],
        revoked: vec![REVOKED],
        groups: GROUPS
            .iter()
            .take(if is_tiny { 1 } else { 8 })
            .enumerate()
            .map(|(at, (id, name))| group(*id, name, at as i128))
            .collect(),
        instances: main_instances(wide, narrow),
        ..full.clone()
    };
    // An instance is in a group of its account, or in none.
    for instance in &mut main.instances {
        instance.group = instance.group.filter(|id| main.groups.iter().any(|group| group.id == *id));
    }
    let second = Account {
        tokens: vec![SECOND],
        groups: vec![group(44, "Second", 1), group(31, "Other", 5)],
        instances: second_instances(if is_tiny { 2 } else { 30 }),
        ..full.clone()
    };
    let bare = |token| Account { tokens: vec![token], ..full.clone() };
    let accounts = vec![
        main,
        second,
        bare(EMPTY),
        Account { whitelist: vec![Ipv4Addr::new(198, 51, 100, 77)], ..bare(NOT_WHITELISTED) },
        Account { verified: false, ..bare(NOT_VERIFIED) },
        Account { protocols: vec![], ..bare(NOT_ENTITLED) },
        Account { protocols: vec!["http"], ..bare(PARTLY) },
    ];
    World { accounts, gateways: gateways() }
}

fn group(id: i64, name: &str, at: i128) -> Group {
    let created = BEGIN - at * 37 * HOUR;
    let updated = created + at * HOUR + 250_000_000 * (at % 3);
    Group { id, name: name.into(), created: Time::from_nanos(created), updated: Time::from_nanos(updated) }
}

/// Address `at` of the main account, IPv4.
pub(crate) fn v4(at: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(45, 10, (at / 200) as u8, (at % 200) as u8 + 4))
}

/// Address `at` of the main account, IPv6; its spelling can be shortened and written in capitals.
pub(crate) fn v6(at: usize) -> IpAddr {
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0xab, 0, 0, 0, 0xcd00, at as u16 + 1))
}

fn main_instances(wide: usize, narrow: usize) -> Vec<Instance> {
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

fn second_instances(count: usize) -> Vec<Instance> {
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
            held.id += 500_000;
            held.group = (at % 2 == 0).then_some(44);
            instances.push(held);
        }
    }
    instances
}

fn instance(number: usize, address: usize, ip: IpAddr, port: u16, orders: &str) -> Instance {
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
    Instance {
        id,
        offer: 70 + (number % 6) as i64,
        status,
        ip,
        port,
        country,
        city,
        isp: 1 + (number % 2) as i64,
        expires: (!number.is_multiple_of(11)).then(|| Time::from_nanos(activated + 720 * HOUR)),
        activated: is_activated.then(|| Time::from_nanos(activated)),
        capabilities: capabilities(number),
        group: (number % 3 != 2).then(|| GROUPS[number % 7].0),
        order: format!("{orders}-{:04}", 1 + number % 12),
        password: format!("pw-Secret{:05}x", number * 7919 % 99_991),
    }
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

fn gateways() -> BTreeMap<(&'static str, &'static str), Vec<Gateway>> {
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
            all.insert((*region, protocol), (0..*count).map(gateway).collect::<Vec<_>>());
        }
        let of = |region| all[&(region, protocol)].clone();
        let (usa, deu, scarce) = (of("USA"), of("DEU"), of(SCARCE));
        let mut global = Vec::new();
        for (at, gateway) in usa.iter().enumerate() {
            global.push(gateway.clone());
            global.extend(deu.get(at).cloned());
            global.extend(scarce.get(at).cloned());
        }
        all.insert(("GLOBAL", protocol), global);
    }
    all
}
