//! The token leaves in requests and nowhere else. One test for each way out, with every log of every crate on.

#![allow(clippy::unwrap_used, reason = "a log that cannot be kept fails its test")]

use std::sync::Mutex;

use crate::faulty::{CANARY, FaultyServer};
use sallyport_client::{Client, Error, RetryPolicy, Separator, TokenFile, reqwest};
use tracing::Level;
use tracing_subscriber::fmt::{MakeWriter, format::FmtSpan};

/// Spellings of the canary that a reader could use: as it is, as a query has it, as base64, and its tail alone.
const SPELLINGS: [&str; 5] =
    [CANARY, "canary%2FT0ken%2B9", "canary%2fT0ken%2b9", "Y2FuYXJ5L1Qwa2VuKzk", "T0ken"];

pub(crate) fn assert_clean(what: &str, text: &str) {
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
async fn no_proxy_comes_between_this_machine_and_itself() {
    let proxy = FaultyServer::start("groups").await;
    let server = FaultyServer::start("groups").await;
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
async fn logs_of_all_crates_at_all_levels_hold_no_token() {
    static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    let logging = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_span_events(FmtSpan::FULL);
    logging.with_writer(|| LOG.make_writer()).init();
    let log = || String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned();
    let server = FaultyServer::start(&format!("503 {CANARY} | groups")).await;
    let client = server.client();
    client.groups().await.unwrap();
    every_call(&client).await;
    let text = log();
    let own: &[&str] = if cfg!(feature = "tracing") {
        &["sallyport.call", "http.request.method", "http.request.resend_count"]
    } else {
        &[]
    };
    if cfg!(feature = "tracing") {
        let server = FaultyServer::start(&format!("400 {CANARY}")).await;
        server.client().extract(1).request_id("id-of-a-failure").await.unwrap_err();
        let text = log();
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
    let server = FaultyServer::start("groups").await;
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, CANARY).unwrap();
    let file = TokenFile::open(&path).unwrap();
    assert_clean("Debug", &format!("{file:?} {:?}", server.builder().token_file(&path)));
    assert!(TokenFile::open(folder.path()).is_err());
}
