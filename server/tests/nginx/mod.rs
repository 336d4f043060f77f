//! The server behind nginx with the configuration that operators get, `nginx.conf`.

mod caller;
#[path = "nginx.rs"]
mod proxy;
mod slow;

use std::{net::Ipv4Addr, path::Path, sync::Arc, time::Duration};

use sallyport_server::{
    Config, RunningServer,
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    data::seed::{Sample, seed},
    edge::{operation::Operation, reading::body::MAX_BYTES, responding::error_code::ErrorCode},
    start,
    store::sqlite::SqliteStore,
};

use caller::{ask, encrypted, plain, rest};
use proxy::{Nginx, SITE, installed};
use tls_client::Stream;
use wire::Response;

use crate::support::{identity, tls_client, wire};

/// A server with sample data that believes nginx.
pub(crate) struct Server {
    running: RunningServer,
    sample: Sample,
}

impl Server {
    fn token(&self) -> &str {
        self.sample.tokens.main.expose()
    }

    /// What no log may show.
    fn secrets(&self) -> Vec<String> {
        let tokens = self.sample.tokens.list().into_iter().map(|it| it.token.expose().to_owned());
        tokens.chain(self.sample.canaries.iter().cloned()).collect()
    }

    pub(crate) async fn close(self) {
        self.running.close(Duration::from_secs(5)).await;
    }
}

/// A server, and nginx in front of it.
pub(crate) async fn behind(program: &Path) -> (Server, Nginx) {
    let store = Arc::new(SqliteStore::temporary().expect("a database"));
    let sample = seed(&*store).await.expect("sample data");
    let trusted_proxies = [Ipv4Addr::LOCALHOST.to_string().parse().expect("a network")].into_iter().collect();
    let running = start(Config { trusted_proxies, ..Config::loopback(store) }).expect("started");
    let nginx = Nginx::start(program, running.address());
    (Server { running, sample }, nginx)
}

/// An address of this machine that is not nginx's own. The sample data lets the loopback network in.
pub(crate) const CALLER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 8);

pub(crate) fn groups(server: &Server) -> String {
    format!("GET {}?api_key={} HTTP/1.1", ListStaticGroups::PATH, server.token())
}

pub(crate) fn search(server: &Server, length: usize) -> String {
    format!(
        "POST {}?api_key={} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {length}",
        SearchStaticInstances::PATH,
        server.token()
    )
}

/// nginx logs calls, and no token: not in the log of calls, nor in one of errors, nor in a file of a body.
pub(crate) fn assert_quiet(nginx: &Nginx, server: &Server) {
    // nginx may log a call after its response was read.
    let is_logged = || nginx.access_log().contains(ListStaticGroups::PATH);
    for _ in 0..100 {
        if is_logged() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(is_logged(), "calls are not logged");
    for (file, content) in nginx.files() {
        let content = String::from_utf8_lossy(&content);
        for secret in server.secrets() {
            assert!(!content.contains(&secret), "a secret is in {}", file.display());
        }
    }
}

#[track_caller]
fn assert_rejected(response: &Response, code: ErrorCode) {
    let body = response.json();
    assert_eq!(
        (response.status, body["code"].as_i64()),
        (code.status().as_u16(), Some(code.number())),
        "{response:?}"
    );
    assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{response:?}");
    assert_eq!(response.header("cache-control"), Some("no-store"));
    assert!(response.header("x-request-id").is_some(), "{response:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_caller_is_who_asks_nginx_whatever_he_says() {
    let Some(program) = installed() else { return };
    let (server, nginx) = behind(&program).await;
    let token = server.token();
    for spoofed in [
        "",
        "\r\nX-Forwarded-For: 127.0.0.7",
        "\r\nX-Forwarded-For: 198.51.100.1\r\nx-forwarded-for: 127.0.0.7, 127.0.0.1",
        "\r\nForwarded: for=127.0.0.7",
        "\r\nForwarded: for=\"\r\nX-Forwarded-For: rubbish",
        "\r\nX_Forwarded_For: 127.0.0.7\r\nX-Real-IP: 127.0.0.7",
    ] {
        let head = format!("GET {}?num=1&api_key={token} HTTP/1.1{spoofed}", ExtractProxies::PATH);
        let response = ask(&nginx, CALLER, &head, b"").await;
        assert_eq!(response.status, 200, "{spoofed}: {response:?}");
        assert_eq!(response.json()["request_ip"], CALLER.to_string(), "{spoofed}");
    }
    assert_eq!(ask(&nginx, CALLER, &groups(&server), b"").await.status, 200);
    assert_quiet(&nginx, &server);
    server.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_has_so_many_calls_under_way_and_others_are_served() {
    let Some(program) = installed() else { return };
    let (server, nginx) = behind(&program).await;
    let limit: usize = SITE
        .split_once("limit_conn sallyport_callers ")
        .and_then(|(_, rest)| rest.split_once(';'))
        .and_then(|(number, _)| number.parse().ok())
        .expect("the limit");
    let head = format!("{}\r\nHost: localhost\r\n\r\n", search(&server, 9));
    let mut held: Vec<Stream> = Vec::new();
    while held.len() < limit - 1 {
        held.push(holding(&nginx, &head).await);
    }
    assert_eq!(ask(&nginx, CALLER, &groups(&server), b"").await.status, 200, "one more is within the limit");
    held.push(holding(&nginx, &head).await);
    // nginx may still be reading the last of them.
    let mut rejected = None;
    for _ in 0..200 {
        let response = ask(&nginx, CALLER, &groups(&server), b"").await;
        if response.status != 200 {
            rejected = Some(response);
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let rejected = rejected.expect("a call past the limit is rejected");
    assert_rejected(&rejected, ErrorCode::Overloaded);
    assert!(rejected.header("retry-after").is_some());
    assert_eq!(ask(&nginx, OTHER, &groups(&server), b"").await.status, 200);
    assert_quiet(&nginx, &server);
    drop(held);
    server.close().await;
}

/// A call whose body does not come.
async fn holding(nginx: &Nginx, head: &str) -> Stream {
    let mut stream = encrypted(nginx, CALLER, "http/1.1").await;
    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("written");
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nginx_rejects_looks_like_a_rejection_of_the_server() {
    let Some(program) = installed() else { return };
    let (server, nginx) = behind(&program).await;
    // The server's own rejection passes as it is.
    let body = vec![b' '; MAX_BYTES + 1];
    let own = ask(&nginx, CALLER, &search(&server, body.len()), &body).await;
    assert_rejected(&own, ErrorCode::BodyTooLarge);
    assert_eq!(own.json()["requestId"].as_str(), own.header("x-request-id"));
    let body = vec![b' '; 3 * MAX_BYTES];
    let nginxs = ask(&nginx, CALLER, &search(&server, body.len()), &body).await;
    assert_rejected(&nginxs, ErrorCode::BodyTooLarge);
    assert!(nginxs.json().get("requestId").is_none(), "the server got a body that is too large for nginx");

    // A head that is too long, and one that is none: nothing of it is logged.
    let token = server.token();
    let long = format!("GET {}?api_key={token}&x={} HTTP/1.1", ListStaticGroups::PATH, "a".repeat(40_000));
    assert_eq!(ask(&nginx, CALLER, &long, b"").await.status, 414);
    let broken = format!("GET {}?api_key={token} HTTP/9.1", ListStaticGroups::PATH);
    assert!((400..600).contains(&ask(&nginx, CALLER, &broken, b"").await.status));
    let mut unencrypted = plain(&nginx, CALLER).await;
    let head = format!("{}\r\nHost: localhost\r\n\r\n", groups(&server));
    std::io::Write::write_all(&mut unencrypted, head.as_bytes()).expect("written");
    assert!(rest(&mut unencrypted).starts_with("HTTP/1.1 400"));

    assert_quiet(&nginx, &server);
    let head = groups(&server);
    let secrets = server.secrets();
    server.close().await;
    let down = ask(&nginx, CALLER, &head, b"").await;
    assert_rejected(&down, ErrorCode::Unavailable);
    assert!(down.header("retry-after").is_some());
    for (file, content) in nginx.files() {
        let content = String::from_utf8_lossy(&content);
        assert!(!secrets.iter().any(|secret| content.contains(secret)), "a token is in {}", file.display());
    }
}
