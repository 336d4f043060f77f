//! What programs rely on without calling it: threads, sizes, warnings for what is not used.
#![allow(clippy::unwrap_used, reason = "sources that cannot be read fail the test")]

use std::fmt::Debug;

use sallyport_client::{
    Address, Attempt, Client, ClientBuilder, Error, Extract, ExtractText, Extraction, Group, Instance,
    Instances, ListGroups, Next, Pages, RetryPolicy, Search, SearchPage, Separator, TextExtraction,
    TokenFile, WithResponse, generated, testing::Replies,
};

fn shared<T: Send + Sync + Debug + 'static>() {}

fn moved<T: Send>(_: T) {}

#[test]
fn every_type_can_be_shared_between_threads() {
    shared::<(Client, ClientBuilder, Extract, ExtractText, ListGroups, Search, Pages, generated::Client)>();
    shared::<(Extraction, TextExtraction, WithResponse<SearchPage>, Instance, Group, Error, Address)>();
    shared::<(Attempt, Next<'static>, Replies, RetryPolicy, TokenFile)>();
}

#[test]
fn every_future_can_be_spawned() {
    fn check(client: &Client, pages: &mut Pages) {
        moved(client.extract(1).into_future());
        moved(client.extract(1).with_response());
        moved(client.extract_text(1, Separator::Lf).into_future());
        moved(client.groups().into_future());
        moved(client.groups().with_response());
        moved(client.search(["192.0.2.1"]).into_future());
        moved(client.search(["192.0.2.1"]).page(1));
        moved(client.search(["192.0.2.1"]).page_with_response(1));
        moved(client.search(["192.0.2.1"]).pages().into_stream());
        moved(pages.next());
    }
    let _ = check;
    fn stream<T: Send + Unpin>() {}
    stream::<Instances>();
}

/// Limits, arguments and fields of results fit together without a cast, whatever number the document sets.
#[tokio::test]
async fn limits_and_fields_are_arguments() {
    use sallyport_client::{contract::ExtractProxies, testing};

    let gateways = ["gw.invalid:8080"];
    let replies = Replies::new().partial(gateways, ExtractProxies::NUM_MAXIMUM, None).gateways(gateways);
    let client = replies.builder().build().unwrap();
    let first = client.extract(ExtractProxies::NUM_MAXIMUM).await.unwrap();
    assert_eq!(first.headers.x_proxy_requested_count, Some(first.requested));
    assert_eq!(first.requested - first.returned, ExtractProxies::NUM_MAXIMUM - 1);
    client.extract(first.endpoints.len()).await.unwrap();
    assert!(client.extract(u64::MAX).await.unwrap_err().to_string().contains("found `9223372036854775807`"));

    let instance = testing::instance(1, "203.0.113.7", first.endpoints[0].port);
    let ip = instance.ip_addr().unwrap();
    assert_eq!(Address::with_port(ip, instance.port).unwrap().port(), instance.port_u16());
    for port in [-1, 0, i64::from(u16::MAX) + 1] {
        assert!(Address::with_port(ip, port).unwrap_err().found.contains(&port.to_string()));
    }
    let replies = Replies::new().page(1, [instance.clone()], 2).page(2u8, [instance], 2usize);
    let client = replies.builder().build().unwrap();
    let page = client.search([ip]).page_size(1).page(1).await.unwrap();
    client.search([ip]).page_size(page.page_size).page(page.page + 1).await.unwrap();
    assert!(client.search([ip]).page(page.total).await.is_err(), "no reply is left");
}

/// A result holds its error, and a future its call, so that both stay small enough to be moved around. The numbers are upper
/// bounds with a little room; raise one only with a reason.
#[test]
fn what_is_moved_around_is_small() {
    for (name, size, most) in [
        ("Error", size_of::<Error>(), 128),
        ("Client", size_of::<Client>(), 8),
        ("Extract", size_of::<Extract>(), 192),
        ("ListGroups", size_of::<ListGroups>(), 96),
        ("Search", size_of::<Search>(), 384),
        ("Address", size_of::<Address>(), 48),
        ("Instance", size_of::<Instance>(), 768),
        ("RetryPolicy", size_of::<RetryPolicy>(), 64),
    ] {
        assert!(size <= most, "{name} has {size} bytes, expected at most {most}");
    }
}

#[test]
fn separators_come_from_the_codes_that_are_sent() {
    let codes = generated::types::SeparatorCode::KNOWN.iter();
    let texts: Vec<_> = codes.map(|code| Separator::from_code(code, "<>").unwrap()).collect();
    let texts: Vec<&str> = texts.iter().map(Separator::text).collect();
    assert_eq!(texts, ["\r\n", "/br", "\r", "\n", "\t", "<>"]);
    assert_eq!(Separator::from_code("lf", "|"), None);
}
