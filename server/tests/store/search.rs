//! Searches on a real database, compared with a naive model in memory.

use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use proptest::{collection::vec, option::weighted, prelude::*, sample::select, test_runner::TestRunner};
use sallyport_server::{
    api::generated::SearchRequest,
    domain::{
        StaticGroup, Status,
        address::Address,
        search::{Condition, Filter, FilterValue, Filters, SearchQuery},
        service::Service,
        token::{Token, TokenKind},
    },
    store::record::{Line, Record},
};
use serde_json::{Map, Value, json};

use super::backend::Database;

/// What the model knows of a filter: its property, the values to search for, also some that no instance has, the field of the records,
/// and whether a value of it is found by that of the filter.
type Row = (&'static str, fn() -> Vec<Value>, &'static str, fn(&Value, &Value) -> bool);

const ROWS: &[Row] = &[
    ("orderNo", || texts(&["SO-1", "SO-10", "so-1", "unknown"]), "orderNo", Value::eq),
    (
        "groupId",
        || (0..6).map(Value::from).collect(),
        "groupId",
        |group, id| group.as_i64().unwrap_or(0) == *id,
    ),
    ("countryCode", || texts(&["USA", "DEU", "unknown"]), "countryCode", Value::eq),
    ("cityCode", || texts(&["NYC", "BER", "unknown"]), "cityCode", Value::eq),
    ("status", || texts(&Status::NAMES), "status", Value::eq),
    ("activatedFrom", times, "activatedAt", |at, from| !at.is_null() && time(at) >= time(from)),
    ("activatedTo", times, "activatedAt", |at, to| !at.is_null() && time(at) <= time(to)),
];

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
const TIMES: [&str; 5] = [
    "1969-12-31T23:59:59.999999999Z",
    "1970-01-01T00:00:00Z",
    "2025-12-31T23:59:59.999999999Z",
    "2026-01-01T00:00:00Z",
    "2400-01-01T00:00:00.000000001Z",
];

fn texts(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| Value::from(*text)).collect()
}

fn time(text: &Value) -> Timestamp {
    text.as_str().unwrap().parse().unwrap()
}

/// Stored times, and those right before and after them.
fn times() -> Vec<Value> {
    let near = [-1, 0, 1].map(SignedDuration::from_nanos);
    let times = texts(&TIMES).into_iter().map(|text| time(&text));
    times.flat_map(|time| near.map(|step| json!(time + step))).collect()
}

/// A search with the values of some filters.
#[derive(Clone, Debug)]
struct Search {
    addresses: Vec<Address>,
    filters: Vec<(usize, Value)>,
    page: u32,
    page_size: u32,
}

impl Search {
    fn command(&self) -> SearchQuery {
        let Self { addresses, filters, page, page_size } = self.clone();
        let filters = filters.into_iter().map(|(row, value)| filter(ROWS[row].0, value)).collect();
        SearchQuery { addresses, filters, page, page_size }
    }
}

fn filter(property: &str, value: Value) -> <Filters as IntoIterator>::Item {
    let filter = SearchRequest::FILTERS.iter().find(|filter| filter.property == property).unwrap();
    let value = match value {
        Value::Number(number) => FilterValue::Number(number.as_i64().unwrap()),
        Value::String(text) => text.parse().map_or(FilterValue::Text(text.into()), FilterValue::Time),
        other => panic!("a value of another type: {other}"),
    };
    (filter, value)
}

#[test]
fn every_filter_of_the_document_has_a_row() {
    let filters: Vec<_> = SearchRequest::FILTERS.iter().map(|filter| filter.property).collect();
    let rows: Vec<_> = ROWS.iter().map(|(property, ..)| *property).collect();
    assert_eq!(filters, rows, "add a row to `ROWS` for each filter of the document");
}

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
            runtime.block_on(store.load(lines(&instances, &tokens))).unwrap();
            Service::new(store)
        })
        .collect();

    let mut runner = TestRunner::new(ProptestConfig { cases: 2_000, ..ProptestConfig::default() });
    let case = (0..ACCOUNTS.len(), search());
    runner
        .run(&case, |(account, search)| {
            let (expected, total) = model(&instances, ACCOUNTS[account], &search);
            let mut pages = Vec::new();
            for service in &services {
                let page = runtime.block_on(service.search(&tokens[account], search.command())).unwrap();
                let ids: Vec<i64> = page.items.iter().map(|instance| instance.instance_id).collect();
                prop_assert_eq!(&ids, &expected);
                prop_assert_eq!(page.total, total as i64);
                pages.push(page);
            }
            prop_assert!(pages.windows(2).all(|pair| pair[0] == pair[1]));
            Ok(())
        })
        .unwrap();
}

#[tokio::test]
async fn a_listing_has_the_items_of_the_account_that_pass_its_filters() {
    static BY: [Filter; 2] = [
        Filter { property: "groupId", field: "groupId", condition: Condition::Equal },
        Filter { property: "name", field: "name", condition: Condition::Equal },
    ];
    let tokens = ACCOUNTS.map(|_| Token::generate(TokenKind::Api));
    for database in [Database::sqlite(), Database::postgres().await].into_iter().flatten() {
        let store = database.open().await;
        store.load(lines(&[], &tokens)).await.unwrap();
        let service = Service::new(store);
        for (filters, ids) in [
            (vec![], &[1_i64, 2][..]),
            (vec![(&BY[0], FilterValue::Number(2))], &[2]),
            (vec![(&BY[1], "group".into())], &[1, 2]),
            (vec![(&BY[0], FilterValue::Number(2)), (&BY[1], "Group".into())], &[]),
            (vec![(&BY[0], FilterValue::Number(3))], &[]),
            (vec![(&BY[1], "\0".into()), (&BY[0], FilterValue::Number(2))], &[]),
        ] {
            let groups: Vec<StaticGroup> = service.list(&tokens[0], filters).await.unwrap();
            assert_eq!(groups.iter().map(|group| group.group_id).collect::<Vec<_>>(), ids);
        }
    }
}

/// The ids on the page, and how many there are on all pages.
fn model(instances: &[Map<String, Value>], account: &str, search: &Search) -> (Vec<i64>, usize) {
    let matches = |instance: &&Map<String, Value>| {
        let is_at = |wanted: &Address| {
            instance["ip"] == wanted.ip.to_string() && wanted.port.is_none_or(|port| instance["port"] == port)
        };
        let is_found = |(row, value): &(usize, Value)| {
            let (.., field, finds) = ROWS[*row];
            finds(&instance[field], value)
        };
        instance["account"] == account
            && search.addresses.iter().any(is_at)
            && search.filters.iter().all(is_found)
    };
    let all: Vec<i64> =
        instances.iter().filter(matches).map(|instance| instance["instanceId"].as_i64().unwrap()).collect();
    let (page, size) = (search.page as usize, search.page_size as usize);
    (all.iter().skip((page - 1) * size).take(size).copied().collect(), all.len())
}

fn search() -> impl Strategy<Value = Search> {
    let port = prop_oneof![2 => Just(None), 3 => select(PORTS.to_vec()).prop_map(Some)];
    let item = (select(ADDRESSES.to_vec()), port).prop_map(|(text, port)| Address { port, ..address(text) });
    let filters: Vec<_> = ROWS.iter().map(|(_, values, ..)| weighted(0.4, select(values()))).collect();
    let page = prop_oneof![3 => 1..4_u32, 1 => Just(1_000_000)];
    let page_size = prop_oneof![1..10_u32, Just(1000)];
    (vec(item, 1..24), filters, page, page_size).prop_map(|(addresses, filters, page, page_size)| {
        let filters =
            filters.into_iter().enumerate().filter_map(|(row, value)| Some((row, value?))).collect();
        Search { addresses, filters, page, page_size }
    })
}

/// Every combination of account, address and port, twice; the other fields vary with coprime periods.
fn instances() -> Vec<Map<String, Value>> {
    let mut instances = Vec::new();
    for round in 0..2 {
        for (place, ip) in ADDRESSES.iter().enumerate() {
            for (port_place, port) in PORTS.into_iter().enumerate() {
                for (owner, account) in ACCOUNTS.into_iter().enumerate() {
                    let n = instances.len() + 3 * place + 5 * port_place + 7 * round;
                    // Groups 1 and 2 belong to the first account, 3 and 4 to the second.
                    let group = (n % 4 < 2).then_some(n % 4 + 1 + 2 * owner);
                    let capabilities = if n % 2 == 0 { json!({"trialDays": 0}) } else { json!({}) };
                    let instance = json!({
                        "account": account, "orderNo": (["SO-1", "SO-10", "so-1"].get(n % 5)),
                        "instanceId": instances.len() + 1, "offerId": i64::MAX, "status": Status::ALL[n % 5],
                        "ip": ip, "port": port, "protocols": (["http", "socks5"][..n % 3]),
                        "countryCode": (["USA", "DEU"][n % 3 % 2]), "cityCode": (["NYC", "BER"][n / 3 % 2]),
                        "ispType": n % 3, "expiresAt": TIMES.get(n % 11), "activatedAt": TIMES.get(n % 7),
                        "capabilities": capabilities, "groupId": group, "password": "hidden",
                    });
                    instances.push(instance.as_object().unwrap().clone());
                }
            }
        }
    }
    instances
}

fn lines(
    instances: &[Map<String, Value>],
    tokens: &[Token; 2],
) -> impl Iterator<Item = std::io::Result<Line>> + use<> {
    let (mut records, at) = (Vec::new(), Timestamp::UNIX_EPOCH);
    for (owner, account) in ACCOUNTS.into_iter().enumerate() {
        let digest = tokens[owner].digest().to_hex();
        records.push(json!({"account": {"name": account, "realNameVerified": true}}));
        records
            .push(json!({"token": {"account": account, "sha256": digest, "kind": "api", "createdAt": at}}));
        records.extend([1, 2].map(|group| {
            let fields = json!({"account": account, "groupId": group + 2 * owner, "name": "group", "createdAt": at,
                                "updatedAt": at});
            json!({ "group": fields })
        }));
    }
    records.extend(instances.iter().map(|instance| json!({ "instance": instance })));
    (1..).zip(records).map(|(number, record)| {
        let record: Record = serde_json::from_value(record).unwrap();
        Ok(Line { number, bytes: 0, record: Ok(record) })
    })
}

fn address(text: &str) -> Address {
    Address { ip: text.parse::<IpAddr>().unwrap(), port: None }
}
