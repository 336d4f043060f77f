//! Arguments: what is valid is sent as it was given, everything else is not sent.

use sallyport_client::contract::{ExtractProxies, SearchStaticInstances as Limits};
use sallyport_client::{Address, Error, GroupFilter, Separator};

use crate::{
    addresses,
    faulty::{FaultyServer, items, no_groups, one_gateway, reply},
};

#[tokio::test]
async fn a_request_id_over_the_limit_is_not_sent() {
    const MAX: usize = ExtractProxies::REQUEST_ID_MAX_UTF8_BYTES;
    let server = FaultyServer::start(vec![one_gateway()]).await;
    for (id, is_sent) in
        [("x".repeat(MAX), true), ("x".repeat(MAX + 1), false), ("é".repeat(MAX / 2 + 1), false)]
    {
        let outcome = server.client().extract(1).request_id(id).await;
        match outcome {
            Ok(_) => assert!(is_sent),
            Err(Error::InvalidArgument(error)) => {
                assert!(!is_sent && error.clause == "open.extract.request-id-length", "{error}")
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(server.requests().len(), 1);
}

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
    client.search([(v4, 80)]).page(1).await.unwrap();
    client.search([(std::net::IpAddr::from(v4), 80u16)]).page(1).await.unwrap();
    assert!(matches!(client.search([(v4, 0)]).await, Err(Error::InvalidArgument(_))));
    let with_port = "192.0.2.1:80";
    let sent =
        ["2001:DB8::1", "2001:DB8::1", "192.0.2.1", "192.0.2.1", "::1", with_port, with_port, with_port];
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

    let server = FaultyServer::start(vec![one_gateway()]).await;
    server.client().generated().extract_proxies().num(1).request_id("").send().await.unwrap();
    let request = server.requests()[0].to_ascii_lowercase();
    assert!(request.contains("x-request-id: "), "{request}");
    assert!(!request.contains("request_id="), "{request}");
    assert!(request.contains("num=1"), "{request}");
}

#[tokio::test]
async fn invalid_arguments_are_not_sent() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let client = server.client();
    let many = addresses(Limits::IPS_MAX_DISTINCT + 1);
    let far = std::iter::repeat_n("192.0.2.1", Limits::IPS_MAX_ITEMS + 1);
    let long = "é".repeat(ExtractProxies::SB_MAX_UTF8_BYTES / 2 + 1);
    let search = || client.search(["192.0.2.1"]);
    let (early, late) = ("2026-01-01T00:00:00Z".parse().unwrap(), "2026-01-02T00:00:00Z".parse().unwrap());
    let errors: Vec<(&str, Error)> = vec![
        ("extract.num-range", client.extract(0).await.unwrap_err()),
        ("extract.num-range", client.extract(ExtractProxies::NUM_MAXIMUM + 1).await.unwrap_err()),
        ("extract.sb-required", client.extract_text(1, Separator::Custom(String::new())).await.unwrap_err()),
        ("extract.sb-length", client.extract_text(1, Separator::Custom(long)).await.unwrap_err()),
        ("search.ips-raw-limit", client.search::<[&str; 0]>([]).page(1).await.unwrap_err()),
        ("search.ips-raw-limit", client.search(far).page(1).await.unwrap_err()),
        ("search.ips-dedup-limit", client.search(&many).page(1).await.unwrap_err()),
        ("search.ips-item", client.search(["192.0.2.0/24"]).page(1).await.unwrap_err()),
        ("search.ips-port", client.search(["192.0.2.1:0"]).page(1).await.unwrap_err()),
        ("search.group", search().group(GroupFilter::Id(0)).page(1).await.unwrap_err()),
        ("search.group", search().group(GroupFilter::Id(-1)).page(1).await.unwrap_err()),
        ("search.page", search().page(0).await.unwrap_err()),
        ("search.page", search().page(Limits::PAGE_MAXIMUM + 1).await.unwrap_err()),
        ("search.page-size", search().page_size(Limits::PAGE_SIZE_MAXIMUM + 1).page(1).await.unwrap_err()),
        ("search.status", search().status("gone".into()).page(1).await.unwrap_err()),
        (
            "search.activated-order",
            search().activated_from(late).activated_to(early).page(1).await.unwrap_err(),
        ),
    ];
    for (clause, error) in errors {
        let Error::InvalidArgument(argument) = &error else { panic!("{clause}: {error:?}") };
        assert_eq!(argument.clause, clause, "{error}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn the_error_for_too_many_addresses_names_in_batches() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let client = server.client();
    let addresses = addresses(Limits::IPS_MAX_DISTINCT + 1);
    let most = Limits::IPS_MAX_ITEMS;
    let duplicated: Vec<String> = addresses.iter().cycle().take(most + 1).cloned().collect();
    for addresses in [addresses, duplicated] {
        let error = client.search(&addresses).await.unwrap_err();
        assert!(error.to_string().contains("`in_batches()`"), "{error}");
    }
    let error = client.search::<[&str; 0]>([]).await.unwrap_err();
    assert!(!error.to_string().contains("in_batches"), "{error}");
    assert!(server.requests().is_empty());
}
