//! One server with sample data for all tests, and requests that name their operation by its generated type.

use std::{
    net::SocketAddr,
    sync::{Arc, LazyLock},
    time::Duration,
};

use super::wire::{Response, send};
use crate::sessions;
use sallyport_server::{
    Config, RunningServer,
    api::generated::{ExtractProxies, SearchStaticInstances},
    data::seed::{Sample, seed},
    edge::{operation::Operation, responding::error_code::ErrorCode},
    start,
    store::sqlite::SqliteStore,
};

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

/// GET on the path of `O` with this query and headers.
pub(crate) fn with_headers<O: Operation>(query: &str, headers: &[(&str, &str)]) -> Response {
    let headers: String = headers.iter().map(|(name, value)| format!("\r\n{name}: {value}")).collect();
    send(SERVER.address, &format!("GET {}?{query} HTTP/1.1{headers}", O::PATH), b"")
}

/// An extraction with the main account's token and this query after it.
pub(crate) fn extract(query: &str) -> Response {
    let query = format!("api_key={}&{query}", SERVER.sample.tokens.main.expose());
    with_headers::<ExtractProxies>(&query, &[])
}

/// The path and query of a search by the main account.
pub(crate) fn search_target() -> String {
    format!("{}?api_key={}", SearchStaticInstances::PATH, SERVER.sample.tokens.main.expose())
}

/// A search by the main account with this body.
pub(crate) fn search(body: &str) -> Response {
    let (target, length) = (search_target(), body.len());
    let head =
        format!("POST {target} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {length}");
    send(SERVER.address, &head, body.as_bytes())
}

/// That the response is this rejection in the envelope of `O`; gives its message.
#[track_caller]
pub(crate) fn assert_rejected<O: Operation>(response: &Response, code: ErrorCode) -> String {
    assert_eq!(sessions::assert_rejected(response, O::PATH), code.number(), "{response:?}");
    response.json()["message"].as_str().unwrap().to_owned()
}
