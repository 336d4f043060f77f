//! The token leaves in requests and nowhere else. One test for each way out, with every log of every crate on.

#![allow(clippy::unwrap_used, reason = "a log that cannot be kept fails its test")]

use std::{
    io,
    sync::{Arc, Mutex, OnceLock},
};

use crate::faulty::{CANARY, FaultyServer, Reply, no_groups, ok, one_gateway, reply};
use sallyport_client::{Client, Error, RetryPolicy, Separator, reqwest};
use tracing::Level;

fn groups_path() -> &'static str {
    &sallyport_contract::operation("listStaticGroups").unwrap().path
}

/// Spellings of the canary that a reader could use: as it is, as a query has it, as base64, and its tail alone.
const SPELLINGS: [&str; 5] =
    [CANARY, "canary%2FT0ken%2B9", "canary%2fT0ken%2b9", "Y2FuYXJ5L1Qwa2VuKzk", "T0ken"];

/// Everything that was logged by any crate at any level.
fn log() -> Arc<Mutex<Vec<u8>>> {
    static LOG: OnceLock<Arc<Mutex<Vec<u8>>>> = OnceLock::new();
    LOG.get_or_init(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let sink = log.clone();
        tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
            .with_writer(move || Sink(sink.clone()))
            .init();
        log
    })
    .clone()
}

struct Sink(Arc<Mutex<Vec<u8>>>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn assert_clean(what: &str, text: &str) {
    for spelling in SPELLINGS {
        assert!(!text.contains(spelling), "{what} holds {spelling:?}: {text}");
    }
}

async fn every_call(client: &Client) -> Vec<Error> {
    [
        client.groups().await.err(),
        client.extract(1).await.err(),
        client.extract_text(1, Separator::Lf).await.err(),
        client.search(["203.0.113.7"]).page(1).await.err(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[tokio::test]
async fn requests_carry_the_token_where_the_document_says_and_nothing_else_of_note() {
    let server = FaultyServer::start(vec![no_groups(), one_gateway()]).await;
    let client = server.client();
    client.groups().await.unwrap();
    client.extract(1).await.unwrap();
    let seen = server.requests();
    assert!(seen[0].contains("?api_key=canary%2FT0ken%2B9 "), "{}", seen[0]);
    assert!(seen[1].to_ascii_lowercase().contains("x-api-key: canary/t0ken+9"), "{}", seen[1]);
    assert!(!seen[1].contains("api_key="), "one transport is enough: {}", seen[1]);
    for request in seen {
        let head = request.to_ascii_lowercase();
        assert!(!head.contains("referer:") && !head.contains("api-version:"), "{request}");
    }
}

#[tokio::test]
async fn errors_hold_no_token_whatever_the_service_echoes() {
    let echo = format!(
        r#"{{"code":"{CANARY}","message":"key {CANARY} of ?key=canary%2FT0ken%2B9","requestId":"{CANARY}"}}"#
    );
    let headers = [("x-request-id", CANARY), ("server", CANARY), ("retry-after", "1000")];
    let scripts = [
        reply(400, &headers, &echo),
        reply(429, &headers, &echo),
        reply(503, &headers, &echo),
        reply(200, &headers, &echo),
        reply(200, &headers, CANARY),
        reply(302, &[("location", "http://else.invalid/?key=canary%2FT0ken%2B9")], ""),
        Reply::Raw(Vec::new()),
        Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".to_vec()),
        Reply::Raw(format!("{CANARY}\r\n\r\n").into_bytes()),
        Reply::Hang,
        ok(r#"{"code":200,"data":"canary/T0ken+9"}"#),
        ok(r#"{"code":0,"data":"canary/T0ken+9"}"#),
    ];
    for script in scripts {
        let server = FaultyServer::start(vec![script]).await;
        let client = server.builder().retry(RetryPolicy::none()).build().unwrap();
        let errors = every_call(&client).await;
        assert!(errors.len() >= 3, "{errors:?}");
        for error in errors {
            assert_clean("Display", &error.to_string());
            assert_clean("Debug", &format!("{error:?} {error:#?}"));
            let mut source = std::error::Error::source(&error);
            while let Some(inner) = source {
                assert_clean("a source", &format!("{inner} {inner:?}"));
                source = inner.source();
            }
        }
    }
}

#[tokio::test]
async fn no_connection_no_token() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client =
        Client::builder().base_url(format!("http://{address}")).token(CANARY).retry(RetryPolicy::none());
    for error in every_call(&client.build().unwrap()).await {
        assert!(matches!(&error, Error::Transport(transport) if transport.is_connect), "{error:?}");
        assert!(
            error.to_string().starts_with(&format!("cannot connect to the service: {address}: ")),
            "{error}"
        );
        assert_clean("the error", &format!("{error} {error:?}"));
    }
}

#[tokio::test]
async fn no_proxy_comes_between_this_machine_and_itself() {
    let proxy = FaultyServer::start(vec![no_groups()]).await;
    let server = FaultyServer::start(vec![no_groups()]).await;
    let http = reqwest::Client::builder().proxy(reqwest::Proxy::all(proxy.base_url()).unwrap());
    server.builder().http(http).build().unwrap().groups().await.unwrap();
    assert_eq!((proxy.requests().len(), server.requests().len()), (0, 1));
    // Nor over https, where nobody listens.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let http = reqwest::Client::builder().proxy(reqwest::Proxy::all(proxy.base_url()).unwrap());
    let client = Client::builder().base_url(format!("https://{address}")).token(CANARY).http(http);
    client.retry(RetryPolicy::none()).build().unwrap().groups().await.unwrap_err();
    assert_eq!(proxy.requests().len(), 0);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = FaultyServer::start(vec![no_groups()]).await;
    for status in [301, 302, 303, 307, 308] {
        let target = format!("{}{}?page=2", other.base_url(), groups_path());
        let server = FaultyServer::start(vec![reply(status, &[("location", &target)], "")]).await;
        for error in every_call(&server.client()).await {
            assert!(matches!(error, Error::UnexpectedResponse(_)), "{error:?}");
        }
    }
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn logs_of_all_crates_at_all_levels_hold_no_token() {
    let log = log();
    let script = vec![reply(503, &[], CANARY), no_groups()];
    let server = FaultyServer::start(script).await;
    let client = server.client();
    client.groups().await.unwrap();
    every_call(&client).await;
    let text = String::from_utf8_lossy(&log.lock().unwrap()).into_owned();
    let own: &[&str] = if cfg!(feature = "tracing") {
        &["sallyport.call", "http.request.method", "http.request.resend_count"]
    } else {
        &[]
    };
    if cfg!(feature = "tracing") {
        let server = FaultyServer::start(vec![reply(400, &[], CANARY)]).await;
        server.client().extract(1).request_id("id-of-a-failure").await.unwrap_err();
        let text = String::from_utf8_lossy(&log.lock().unwrap()).into_owned();
        let failures: Vec<&str> = text.lines().filter(|line| line.contains("id-of-a-failure")).collect();
        assert_eq!(failures.len(), 1, "{failures:?}");
        for part in ["WARN", "call failed", "sallyport.call", "extractProxies", "rejected", "HTTP 400"] {
            assert!(failures[0].contains(part), "no {part}: {}", failures[0]);
        }
        assert_clean("the event", failures[0]);
    }
    // A subscriber repeats a field as often as it is recorded.
    for line in text.lines().filter(|line| line.contains("sallyport.call")) {
        for field in ["error.type=", "http.request.resend_count=", "http.response.status_code="] {
            assert!(line.matches(field).count() <= 1, "{field}: {line}");
        }
    }
    for part in own.iter().chain(&["TRACE", "hyper"]) {
        assert!(text.contains(part), "the log is not on: no {part} in {} bytes", text.len());
    }
    assert_clean("the log", &text);
    assert!(!text.contains("api_key"), "the query of a URL is logged");
}

#[tokio::test]
async fn debug_of_everything_holds_no_token() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let client = server.client();
    let (generated, search) = (client.generated(), client.search(["203.0.113.7"]));
    for text in [
        format!("{:?}", server.builder()),
        format!("{client:?} {client:#?}"),
        format!("{generated:?} {:?}", generated.list_static_groups()),
        format!("{:?} {:?}", client.extract(1), client.extract_text(1, Separator::Tab)),
        format!("{search:?} {:?}", search.clone().pages()),
    ] {
        assert_clean("Debug", &text);
    }
}
