//! Request ids over HTTP: the longest that is accepted is stored and repeated, a longer one is not.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use sallyport_server::{
    Config,
    api::generated::ExtractProxies,
    data::seed::seed,
    edge::{operation::Operation as _, responding::error_code::ErrorCode},
    start,
    store::sqlite::SqliteStore,
};
use serde_json::Value;

use super::{processes::get, wire::Response};

/// Maximum length of a request id, in bytes.
pub(crate) fn max() -> usize {
    let part = ExtractProxies::document().part("request_id").unwrap();
    usize::try_from(part.schema.limit("x-max-utf8-bytes").unwrap()).unwrap()
}

/// An extraction with this query and these header lines.
async fn extract(address: SocketAddr, query: &str, headers: &str) -> Response {
    get(address, &format!("{}?num=2&{query}", ExtractProxies::PATH), headers).await.unwrap()
}

#[tokio::test]
async fn a_request_id_is_bounded_before_anything_is_stored() {
    let store = Arc::new(SqliteStore::temporary().unwrap());
    let sample = seed(store.as_ref()).await.unwrap();
    let token = sample.tokens.main.expose();
    let running = start(Config::loopback(store)).unwrap();
    let ask = async |id: &str| {
        let query = format!("api_key={token}&request_id={}", id.replace('é', "%C3%A9"));
        extract(running.address(), &query, "").await
    };
    let ask_by_header = async |id: &str| {
        extract(running.address(), &format!("api_key={token}"), &format!("\r\nX-Request-Id: {id}")).await
    };

    // One byte a character, and two.
    for longest in ["x".repeat(max()), format!("{}x", "é".repeat(max() / 2))] {
        assert_eq!(longest.len(), max());
        let first = ask(&longest).await.json();
        assert_eq!(first["code"], 0, "{first}");
        assert_eq!(ask(&longest).await.json()["data"], first["data"], "it stands for the same extraction");
        assert_eq!(ask_by_header(&longest).await.json()["data"], first["data"], "the header carries as much");
    }
    let rejected = ErrorCode::Invalid;
    for longer in [
        "x".repeat(max() + 1),
        "é".repeat(max() / 2 + 1),
        // More than an index row of PostgreSQL holds, and not compressible.
        (0..5_000_u32).map(|n| char::from(b'a' + (n.wrapping_mul(2_654_435_761) >> 24) as u8 % 26)).collect(),
    ] {
        for response in [ask(&longer).await, ask_by_header(&longer).await] {
            let body = response.json();
            assert_eq!(
                (response.status, &body["code"]),
                (rejected.status().as_u16(), &Value::from(rejected.number())),
                "{body}"
            );
            let message = body["message"].as_str().unwrap();
            assert!(message.contains(&format!("at most {} bytes", max())), "{message}");
            assert!(message.contains("open.extract.request-id-length") && message.len() < 200, "{message}");
            assert_eq!(body.as_object().unwrap().len(), 2, "{body}");
        }
    }
    // The header is not looked at beside the query's id, however long it is.
    let both = extract(
        running.address(),
        &format!("api_key={token}&request_id=short"),
        &format!("\r\nX-Request-Id: {}", "x".repeat(max() + 1)),
    )
    .await;
    assert_eq!(both.status, 200);
    assert!(running.close(Duration::from_secs(5)).await);
}
