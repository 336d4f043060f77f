//! Starting and closing.

use std::{sync::Arc, time::Duration};

use sallyport_server::{
    Config,
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    edge::{operation::Operation, responding::error_code::ErrorCode},
    start,
    store::sqlite::SqliteStore,
};

use super::{
    paused_store::PausedStore,
    server::assert_rejected,
    wire::{ask, exchange},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_server_is_gone_and_its_address_free() {
    let store = Arc::new(SqliteStore::temporary().unwrap());
    let running = start(Config::loopback(store.clone())).unwrap();
    let address = running.address();
    assert_eq!(running.base_url(), format!("http://{address}"));
    let head = format!("GET {} HTTP/1.1", ExtractProxies::PATH);
    assert_eq!(ask(address, head, Vec::new()).await.unwrap().status, 400);
    assert!(running.close(Duration::from_secs(5)).await);
    let again = start(Config { listen: address, ..Config::loopback(store) }).unwrap();
    assert_eq!(again.address(), address);
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_does_not_wait_for_a_caller_who_never_ends() {
    let store = Arc::new(SqliteStore::temporary().unwrap());
    let running = start(Config::loopback(store)).unwrap();
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{{",
        SearchStaticInstances::PATH
    );
    let _half_sent = exchange(running.address(), &[head.as_bytes()]);
    // The server must have begun with the request, or else it has nothing to wait for.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begun = std::time::Instant::now();
    assert!(!running.close(Duration::from_millis(300)).await);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_becomes_a_response_and_the_server_goes_on() {
    let store = PausedStore::new().await;
    // Each query panics when it asks for its permit.
    store.permits.close();
    let running = start(Config::loopback(Arc::new(store))).unwrap();
    let address = running.address();
    for _ in 0..2 {
        let get =
            async |target: &str| ask(address, format!("GET {target} HTTP/1.1"), Vec::new()).await.unwrap();
        let extraction = get(&format!("{}?num=1&api_key=t", ExtractProxies::PATH)).await;
        assert_rejected::<ExtractProxies>(&extraction, ErrorCode::Internal);
        let groups = get(&format!("{}?api_key=t", ListStaticGroups::PATH)).await;
        assert_rejected::<ListStaticGroups>(&groups, ErrorCode::Internal);
    }
}
