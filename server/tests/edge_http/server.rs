//! One server with sample data for all tests, and requests that name their operation by its generated type.

use std::{
    net::SocketAddr,
    sync::{Arc, LazyLock},
    time::Duration,
};

use sallyport_server::{
    Config, RunningServer,
    api::generated::{ExtractProxies, SearchStaticInstances},
    data::seed::{Sample, seed},
    edge::{operation::Operation, responding::error_code::ErrorCode},
    start,
    store::sqlite::SqliteStore,
};
use serde_json::Value;

use super::wire::{Response, send};

/// The server that tests share.
pub(crate) struct SharedServer {
    pub(crate) address: SocketAddr,
    pub(crate) sample: Sample,
    _running: RunningServer,
    _runtime: tokio::runtime::Runtime,
}

/// How long the shared server waits for a body.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) static SERVER: LazyLock<SharedServer> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (running, sample) = runtime.block_on(async {
        let store = Arc::new(SqliteStore::temporary().unwrap());
        let sample = seed(&*store).await.unwrap();
        let config = Config { body_timeout: BODY_TIMEOUT, ..Config::loopback(store) };
        (start(config).unwrap(), sample)
    });
    SharedServer { address: running.address(), sample, _running: running, _runtime: runtime }
});

/// GET on the path of `O` with this query.
pub(crate) fn get<O: Operation>(query: &str) -> Response {
    with_headers::<O>(query, &[])
}

/// GET with headers as well.
pub(crate) fn with_headers<O: Operation>(query: &str, headers: &[(&str, &str)]) -> Response {
    let headers: String = headers.iter().map(|(name, value)| format!("\r\n{name}: {value}")).collect();
    send(SERVER.address, &format!("GET {}?{query} HTTP/1.1{headers}", O::PATH), b"")
}

/// An extraction with the main account's token and this query after it.
pub(crate) fn extract(query: &str) -> Response {
    get::<ExtractProxies>(&format!("api_key={}&{query}", SERVER.sample.tokens.main.expose()))
}

/// The path and query of a search by the main account.
pub(crate) fn search_target() -> String {
    format!("{}?api_key={}", SearchStaticInstances::PATH, SERVER.sample.tokens.main.expose())
}

/// A search by the main account with this body.
pub(crate) fn search(body: &str) -> Response {
    search_as("Content-Type: application/json", body.as_bytes())
}

/// A search with these headers and bytes.
pub(crate) fn search_as(headers: &str, body: &[u8]) -> Response {
    let head = format!("POST {} HTTP/1.1\r\n{headers}\r\nContent-Length: {}", search_target(), body.len());
    send(SERVER.address, &head, body)
}

/// That the response is this rejection in the envelope of `O`; gives its message.
#[track_caller]
pub(crate) fn assert_rejected<O: Operation>(response: &Response, code: ErrorCode) -> String {
    let body = response.json();
    let message = body["message"].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        (response.status, &body["code"]),
        (code.status().as_u16(), &Value::from(code.number())),
        "{response:?}"
    );
    assert!(!message.is_empty());
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let trace = response.header("x-request-id").expect("X-Request-Id");
    let fields: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    if O::PATH == ExtractProxies::PATH {
        assert_eq!(fields, ["code", "message"]);
    } else {
        assert_eq!(fields, ["code", "message", "requestId"]);
        assert_eq!(body["requestId"], trace);
    }
    message
}
