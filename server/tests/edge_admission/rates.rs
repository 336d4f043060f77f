//! 429.

use sallyport_server::{
    Config,
    api::generated::{ExtractProxies, ListStaticGroups},
    edge::{operation::Operation, responding::error_code::ErrorCode},
};

use super::{extraction, get, groups, served, wire::Response};

fn assert_throttled(response: &Response, fields: &[&str]) {
    let body = response.json();
    assert_eq!(
        (response.status, body["code"].as_i64()),
        (429, Some(ErrorCode::Throttled.number())),
        "{response:?}"
    );
    assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), fields);
    let wait: u64 = response.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=1800).contains(&wait), "{wait}");
    assert_eq!(response.header("cache-control"), Some("no-store"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_calls_too_often_waits_alone() {
    let rate = format!("{}:token:2/h", ListStaticGroups::ID).parse().unwrap();
    let (running, sample) = served(|config| Config { rates: vec![rate], ..config }).await;
    let address = running.address();
    for _ in 0..2 {
        assert_eq!(get(address, groups(&sample), String::new()).await.status, 200);
    }
    assert_throttled(&get(address, groups(&sample), String::new()).await, &["code", "message", "requestId"]);
    let second = format!("{}?api_key={}", ListStaticGroups::PATH, sample.tokens.second.expose());
    assert_eq!(get(address, second, String::new()).await.status, 200);
    assert_eq!(get(address, extraction(&sample), String::new()).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_calls_too_often_waits_alone() {
    let change = |config| Config {
        rates: vec!["*:address:2/h".parse().unwrap()],
        trusted_proxies: ["127.0.0.1".parse().unwrap()].into_iter().collect(),
        ..config
    };
    let (running, sample) = served(change).await;
    let asked =
        |target: String, from: &str| get(running.address(), target, format!("\r\nX-Forwarded-For: {from}"));
    assert_eq!(asked(groups(&sample), "127.0.0.2").await.status, 200);
    // Calls that are rejected count as well.
    assert_eq!(asked(ExtractProxies::PATH.to_owned(), "127.0.0.2").await.status, 400);
    assert_throttled(&asked(extraction(&sample), "127.0.0.2").await, &["code", "message"]);
    assert_eq!(asked(extraction(&sample), "127.0.0.3").await.status, 200);
}
