//! Searches on a real database, compared with a naive model in memory.

use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use proptest::{prelude::*, sample::select, test_runner::TestRunner};
use sallyport_server::{
    domain::{
        address::Address,
        instance::{Capabilities, Id, Instance, Status},
        search::{Filters, GroupSelection, SearchCommand},
        service::Service,
        token::{Token, TokenKind},
    },
    store::record::{Line, Record},
};
use serde_json::{Value, json};

use crate::backend::{Database, on_both};

const ACCOUNTS: [&str; 2] = ["one", "two"];
const ADDRESSES: [&str; 8] = [
    "192.0.2.1",
    "192.0.2.2",
    "192.0.2.3",
    "198.51.100.1",
    "2001:db8::1",
    "2001:db8::2",
    "::1",
    "::c000:201", // The low bytes of 192.0.2.1: no IPv4 address.
];
const PORTS: [u16; 4] = [0, 1, 20_001, u16::MAX];
const ORDERS: [&str; 3] = ["SO-1", "SO-10", "so-1"];
const COUNTRIES: [&str; 2] = ["USA", "DEU"];
const CITIES: [&str; 2] = ["NYC", "BER"];
const TIMES: [&str; 5] = [
    "1969-12-31T23:59:59.999999999Z",
    "1970-01-01T00:00:00Z",
    "2025-12-31T23:59:59.999999999Z",
    "2026-01-01T00:00:00Z",
    "2400-01-01T00:00:00.000000001Z",
];

/// On every database, so that their results are the same.
#[test]
fn every_search_equals_the_model() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (instances, tokens) = (instances(), ACCOUNTS.map(|_| Token::generate(TokenKind::Api)));
    let databases = [Database::sqlite(), runtime.block_on(Database::postgres())];
    let services: Vec<Service> = databases
        .iter()
        .flatten()
        .map(|database| {
            let store = runtime.block_on(database.open());
            runtime.block_on(store.load(Box::new(lines(&instances, &tokens)))).unwrap();
            Service::new(store)
        })
        .collect();

    let mut runner = TestRunner::new(ProptestConfig { cases: 2_000, ..ProptestConfig::default() });
    let case = (0..ACCOUNTS.len(), command());
    runner
        .run(&case, |(account, command)| {
            let (expected, total) = model(&instances, ACCOUNTS[account], &command);
            let mut pages = Vec::new();
            for service in &services {
                let page = runtime.block_on(service.search(&tokens[account], command.clone())).unwrap();
                let ids: Vec<Id> = page.items.iter().map(|instance| instance.id).collect();
                prop_assert_eq!(&ids, &expected);
                prop_assert_eq!(page.total, total as u64);
                pages.push(page);
            }
            prop_assert!(pages.windows(2).all(|pair| pair[0] == pair[1]));
            Ok(())
        })
        .unwrap();
}

async fn an_instance_comes_back_in_every_field(database: Database) {
    let (instances, tokens) = (instances(), ACCOUNTS.map(|_| Token::generate(TokenKind::Api)));
    let store = database.open().await;
    store.load(Box::new(lines(&instances, &tokens))).await.unwrap();
    let addresses = ADDRESSES.map(address).to_vec();
    let command = SearchCommand { addresses, filters: Filters::default(), page: 1, page_size: 1000 };
    let page = Service::new(store).search(&tokens[0], command).await.unwrap();

    let own = instances.into_iter().filter(|stored| stored.account == ACCOUNTS[0]);
    assert_eq!(page.items, own.map(|stored| stored.instance).collect::<Vec<_>>());
}

on_both! { an_instance_comes_back_in_every_field }

/// An instance with what a response does not show of it.
struct Stored {
    account: &'static str,
    order_no: Option<String>,
    instance: Instance,
}

/// The ids on the page, and how many there are on all pages.
fn model(instances: &[Stored], account: &str, command: &SearchCommand) -> (Vec<Id>, usize) {
    let SearchCommand { addresses, filters, page, page_size } = command;
    let Filters { order_no, group, country_code, city_code, status, activated_from, activated_to } = filters;
    let matches = |Stored { account: owner, order_no: order, instance: it }: &&Stored| {
        *owner == account
            && addresses
                .iter()
                .any(|wanted| wanted.ip == it.ip && wanted.port.is_none_or(|port| port == it.port))
            && (order_no.is_none() || order_no == order)
            && match group {
                GroupSelection::Any => true,
                GroupSelection::Ungrouped => it.group_id.is_none(),
                GroupSelection::Group(id) => it.group_id == Some(*id),
            }
            && country_code.as_ref().is_none_or(|code| *code == it.country_code)
            && city_code.as_ref().is_none_or(|code| *code == it.city_code)
            && status.is_none_or(|status| status == it.status)
            && activated_from.is_none_or(|from| it.activated_at.is_some_and(|at| at >= from))
            && activated_to.is_none_or(|to| it.activated_at.is_some_and(|at| at <= to))
    };
    let all: Vec<Id> = instances.iter().filter(matches).map(|stored| stored.instance.id).collect();
    let skipped = (*page as usize - 1) * *page_size as usize;
    (all.iter().skip(skipped).take(*page_size as usize).copied().collect(), all.len())
}

fn command() -> impl Strategy<Value = SearchCommand> {
    let port = prop_oneof![2 => Just(None), 3 => select(PORTS.to_vec()).prop_map(Some)];
    let item = (select(ADDRESSES.to_vec()), port)
        .prop_map(|(text, port)| Address { ip: text.parse().unwrap(), port });
    let group = prop_oneof![
        3 => Just(GroupSelection::Any),
        1 => Just(GroupSelection::Ungrouped),
        3 => (1..6_i64).prop_map(|id| GroupSelection::Group(Id::new(id).unwrap())),
    ];
    let text = |choices: &[&'static str]| {
        let known = select(choices.to_vec()).prop_map(str::to_owned);
        prop_oneof![4 => Just(None), 3 => known.prop_map(Some), 1 => Just(Some("unknown".to_owned()))]
    };
    let status = prop_oneof![2 => Just(None), 1 => select(Status::ALL.to_vec()).prop_map(Some)];
    let bound = || {
        let near = (select(TIMES.to_vec()), -1..=1_i64)
            .prop_map(|(text, nanos)| time(text) + SignedDuration::from_nanos(nanos));
        proptest::option::weighted(0.3, near)
    };
    let filters = (text(&ORDERS), group, text(&COUNTRIES), text(&CITIES), status, bound(), bound()).prop_map(
        |(order_no, group, country_code, city_code, status, activated_from, activated_to)| Filters {
            order_no,
            group,
            country_code,
            city_code,
            status,
            activated_from,
            activated_to,
        },
    );
    let page = prop_oneof![3 => 1..4_u32, 1 => Just(1_000_000)];
    let page_size = prop_oneof![1..10_u32, Just(1000)];
    (prop::collection::vec(item, 1..24), filters, page, page_size).prop_map(
        |(addresses, filters, page, page_size)| SearchCommand { addresses, filters, page, page_size },
    )
}

/// Every combination of account, address and port, twice; the other fields vary with coprime periods.
fn instances() -> Vec<Stored> {
    let mut instances = Vec::new();
    for round in 0..2 {
        for (place, ip) in ADDRESSES.iter().enumerate() {
            for (port_place, port) in PORTS.into_iter().enumerate() {
                for (owner, account) in ACCOUNTS.into_iter().enumerate() {
                    let n = instances.len() + 3 * place + 5 * port_place + 7 * round;
                    let group = (n % 4) as i64;
                    let trial_days = (n % 2 == 0).then_some(0);
                    let instance = Instance {
                        id: Id::new(instances.len() as i64 + 1).unwrap(),
                        offer_id: Id::new(i64::MAX).unwrap(),
                        status: Status::ALL[n % 5],
                        ip: ip.parse().unwrap(),
                        port,
                        protocols: ["http", "socks5"][..n % 3].iter().map(ToString::to_string).collect(),
                        country_code: COUNTRIES[n % 3 % 2].to_owned(),
                        city_code: CITIES[n / 3 % 2].to_owned(),
                        isp_type: (n % 3) as u32,
                        expires_at: TIMES.get(n % 11).map(|text| time(text)),
                        activated_at: TIMES.get(n % 7).map(|text| time(text)),
                        capabilities: Capabilities { trial_days, ..Capabilities::default() },
                        // Groups 1 and 2 belong to the first account, 3 and 4 to the second.
                        group_id: (group < 2).then(|| Id::new(group + 1 + 2 * owner as i64).unwrap()),
                    };
                    let order_no = ORDERS.get(n % 5).map(ToString::to_string);
                    instances.push(Stored { account, order_no, instance });
                }
            }
        }
    }
    instances
}

fn lines(instances: &[Stored], tokens: &[Token; 2]) -> impl Iterator<Item = std::io::Result<Line>> + use<> {
    let (mut records, start) = (Vec::new(), Timestamp::UNIX_EPOCH);
    for (owner, account) in ACCOUNTS.into_iter().enumerate() {
        let digest = tokens[owner].digest().to_hex();
        records.push(json!({"account": {"name": account, "realNameVerified": true}}));
        records.push(
            json!({"token": {"account": account, "sha256": digest, "kind": "api", "createdAt": start}}),
        );
        for group in [1, 2] {
            let number = group + 2 * owner;
            records.push(
                json!({"group": {"account": account, "groupId": number, "name": "group", "createdAt": start,
                                          "updatedAt": start}}),
            );
        }
    }
    records.extend(instances.iter().map(line));
    (1..).zip(records).map(|(number, record)| {
        let record: Record = serde_json::from_value(record).unwrap();
        Ok(Line { number, bytes: 0, record: Ok(record) })
    })
}

fn line(Stored { account, order_no, instance: it }: &Stored) -> Value {
    json!({"instance": {
        "account": account, "orderNo": order_no, "instanceId": it.id, "offerId": it.offer_id, "status": it.status,
        "ip": it.ip, "port": it.port, "protocols": it.protocols, "countryCode": it.country_code,
        "cityCode": it.city_code, "ispType": it.isp_type, "expiresAt": it.expires_at,
        "activatedAt": it.activated_at, "capabilities": it.capabilities, "groupId": it.group_id, "password": "hidden",
    }})
}

fn address(text: &str) -> Address {
    Address { ip: text.parse::<IpAddr>().unwrap(), port: None }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}
