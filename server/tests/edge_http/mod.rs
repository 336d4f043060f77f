//! Panics, and bodies that are still being sent when their response is there.

use std::{io::Write as _, sync::Arc, thread, time::Duration};

use sallyport_server::{
    Config,
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    data::seed::seed,
    edge::{operation::Operation, reading::body::MAX_BYTES, responding::error_code::ErrorCode},
    start,
    store::Store,
};

use crate::{
    sessions::assert_rejected,
    support::{
        paused_store::PausedStore,
        wire::{ask, exchange, read},
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_becomes_a_response_and_the_server_goes_on() {
    let store = PausedStore::new().await;
    // Each query panics when it asks for its permit.
    store.permits.close();
    let running = start(Config::loopback(store.store)).unwrap();
    let address = running.address();
    for _ in 0..2 {
        let get =
            async |target: &str| ask(address, format!("GET {target} HTTP/1.1"), Vec::new()).await.unwrap();
        let extraction = get(&format!("{}?num=1&api_key=t", ExtractProxies::PATH)).await;
        assert_eq!(assert_rejected(&extraction, ExtractProxies::PATH), ErrorCode::Internal.number());
        let groups = get(&format!("{}?api_key=t", ListStaticGroups::PATH)).await;
        assert_eq!(assert_rejected(&groups, ListStaticGroups::PATH), ErrorCode::Internal.number());
    }
}

/// Chunks without an end, which the server stops receiving some time after its response, so that writing may fail then.
#[tokio::test(flavor = "multi_thread")]
async fn an_endless_body_is_rejected_while_it_is_sent() {
    let store = Arc::new(Store::temporary().unwrap());
    let sample = seed(&store).await.unwrap();
    let running = start(Config::loopback(store)).unwrap();
    let head = format!(
        "POST {}?api_key={} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n",
        SearchStaticInstances::PATH,
        sample.tokens.main.expose()
    );
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let stream = exchange(running.address(), &[head.as_bytes()]);
    let mut writer = stream.try_clone().unwrap();
    let writing = thread::spawn(move || (0..64).all(|_| writer.write_all(chunk.as_bytes()).is_ok()));
    let code = assert_rejected(&read(stream), SearchStaticInstances::PATH);
    assert_eq!(code, ErrorCode::BodyTooLarge.number());
    writing.join().unwrap();
}

/// Whoever still sends a body when the response is there already may send it, and reads the response.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_sent_after_its_rejection_costs_nobody_the_response() {
    let running = start(Config::loopback(Arc::new(Store::temporary().unwrap()))).unwrap();
    for (method, status) in [("POST", 401), ("PUT", 405)] {
        let body = [b' '; 64 << 10];
        let head = format!(
            "{method} {}?api_key=unknown HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            SearchStaticInstances::PATH,
            body.len()
        );
        let mut stream = exchange(running.address(), &[head.as_bytes()]);
        for part in body.chunks(16 << 10) {
            thread::sleep(Duration::from_millis(100));
            stream.write_all(part).unwrap();
        }
        assert_eq!(read(stream).status, status, "{method}");
    }
}

/// The longest address in the largest batch; the suite sends shorter ones.
#[test]
fn the_largest_batch_fits_into_a_body() {
    let limit =
        |pointer: &str| sallyport_server::openapi().pointer(pointer).and_then(serde_json::Value::as_u64);
    let port = limit("/components/schemas/AddressItem/x-port/maximum").unwrap();
    let most = limit("/components/schemas/SearchRequest/properties/ips/maxItems").unwrap();
    let longest = format!("\"[{}]:{port}\",\n", ["ffff"; 8].join(":"));
    assert!(longest.len() * usize::try_from(most).unwrap() + 4096 < MAX_BYTES);
}
