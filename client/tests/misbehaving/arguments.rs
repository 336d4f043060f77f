//! Arguments: what is valid is sent as it was given, everything else is not sent.

use sallyport_client::contract::{ExtractProxies, SearchStaticInstances as Limits};
use sallyport_client::{Address, Error, GroupFilter, Separator, testing::Replies};

use super::addresses;
use crate::faulty::{FaultyServer, items, one_gateway, reply};

#[tokio::test]
async fn addresses_come_in_every_type_and_go_as_they_were_written() {
    let server = FaultyServer::start(vec![items("", 0)]).await;
    let client = server.client();
    let address: Address = "2001:DB8::1".parse().unwrap();
    let v4 = std::net::Ipv4Addr::new(192, 0, 2, 1);
    client.search([&address]).page(1).await.unwrap();
    client.search([address.clone()]).page(1).await.unwrap();
    client.search([v4]).page(1).await.unwrap();
    client.search([std::net::IpAddr::from(v4)]).page(1).await.unwrap();
    client.search([std::net::Ipv6Addr::LOCALHOST]).page(1).await.unwrap();
    client.search([std::net::SocketAddr::from((v4, 80))]).page(1).await.unwrap();
    assert!(matches!(
        client.search([std::net::SocketAddr::from((v4, 0))]).await,
        Err(Error::InvalidArgument(_))
    ));
    let sent = ["2001:DB8::1", "2001:DB8::1", "192.0.2.1", "192.0.2.1", "::1", "192.0.2.1:80"];
    assert_eq!(server.requests().len(), sent.len());
    for (request, address) in server.requests().iter().zip(sent) {
        assert!(request.contains(&format!("[\"{address}\"]")), "{address}: {request}");
    }
}

#[tokio::test]
async fn an_empty_request_id_is_replaced_by_a_new_one() {
    let server = FaultyServer::start(vec![reply(500, &[], ""), one_gateway()]).await;
    let extraction = server.client().extract(1).request_id("").region("").await.unwrap();
    let seen = server.requests();
    assert!(!extraction.request_id.is_empty());
    let number = format!("request_id={}", extraction.request_id);
    assert!(seen.len() == 2 && seen.iter().all(|request| request.contains(&number)), "{seen:?}");
    assert!(!seen[0].contains("regions="), "{}", seen[0]);
}

/// The values at both sides of each limit. What is sent has no response, so that a row is either the message of the limit, or `sent`.
#[tokio::test]
async fn values_beyond_a_limit_are_not_sent() {
    let replies = Replies::new();
    let client = replies.builder().build().unwrap();
    let mut rows = Vec::new();
    let mut row = |value: String, outcome: Result<(), Error>| {
        let outcome = match outcome {
            Err(Error::InvalidArgument(error)) => error.to_string(),
            Err(Error::Configuration(text)) if text.starts_with("the test has no reply") => "sent".to_owned(),
            other => panic!("{value}: {other:?}"),
        };
        rows.push(format!("{value}: {outcome}"));
    };
    for num in [i64::MIN, 0, 1, ExtractProxies::NUM_MAXIMUM, ExtractProxies::NUM_MAXIMUM + 1, i64::MAX] {
        row(format!("num {num}"), client.extract(num).await.map(drop));
    }
    let id = ExtractProxies::REQUEST_ID_MAX_UTF8_BYTES;
    for (name, id) in
        [("id of", "x".repeat(id)), ("id of", "x".repeat(id + 1)), ("é id of", "é".repeat(id / 2 + 1))]
    {
        row(format!("{name} {}", id.len()), client.extract(1).request_id(id).await.map(drop));
    }
    let most = ExtractProxies::SB_MAX_UTF8_BYTES;
    for separator in [String::new(), "|".repeat(most), "|".repeat(most + 1), "é".repeat(most / 2 + 1)] {
        let outcome = client.extract_text(1, Separator::Custom(separator.clone())).await;
        row(format!("separator `{separator}`"), outcome.map(drop));
    }
    let different = addresses(Limits::IPS_MAX_DISTINCT + 1);
    for (raw, distinct) in [
        (0, 1),
        (1, 1),
        (Limits::IPS_MAX_ITEMS, Limits::IPS_MAX_DISTINCT),
        (Limits::IPS_MAX_ITEMS + 1, 1),
        (Limits::IPS_MAX_DISTINCT + 1, Limits::IPS_MAX_DISTINCT + 1),
        (Limits::IPS_MAX_ITEMS + 1, Limits::IPS_MAX_DISTINCT + 1),
    ] {
        let search = client.search(different[..distinct].iter().cycle().take(raw));
        row(format!("{raw} addresses, {distinct} distinct"), search.page(1).await.map(drop));
    }
    let search = || client.search(["192.0.2.1"]);
    for address in
        ["192.0.2.0/24", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2", "fe80::1%1", "[192.0.2.1]", ""]
    {
        row(format!("address `{address}`"), client.search([address]).page(1).await.map(drop));
    }
    for group in [-1, 0, 1] {
        row(format!("group {group}"), search().group(GroupFilter::Id(group)).page(1).await.map(drop));
    }
    for page in [0, 1, Limits::PAGE_MAXIMUM, Limits::PAGE_MAXIMUM + 1] {
        row(format!("page {page}"), search().page(page).await.map(drop));
    }
    for size in [0, 1, Limits::PAGE_SIZE_MAXIMUM, Limits::PAGE_SIZE_MAXIMUM + 1] {
        row(format!("page size {size}"), search().page_size(size).page(1).await.map(drop));
    }
    for status in ["active", "gone", "", "\u{1b}[2J"] {
        row(format!("status {status:?}"), search().status(status.into()).page(1).await.map(drop));
    }
    let times = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"].map(|time| time.parse().unwrap());
    for (from, to) in [(0, 0), (0, 1), (1, 0)] {
        let search = search().activated_from(times[from]).activated_to(times[to]);
        row(format!("activated from {} to {}", times[from], times[to]), search.page(1).await.map(drop));
    }
    let sent = rows.iter().filter(|row| row.ends_with(": sent")).count();
    assert_eq!(replies.requests().len(), sent);
    insta::assert_snapshot!(rows.join("\n"));
}
