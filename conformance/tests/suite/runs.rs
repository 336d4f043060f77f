//! Runs that need what the program has no argument for, or a server that rules cannot describe. All others are in `tool/scripts`.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sallyport_conformance::report::{self, Screen};
use sallyport_conformance::wire::{Redactor, WireOptions};
use sallyport_conformance::{Outcome, Secret, Verdict};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::canned::run;
use super::rules::RuledServer;
use crate::support::steady::steady;

#[tokio::test]
async fn a_finding_reads_well() {
    let server = RuledServer::start("-> groups");
    let mut report = run(&server, "groups.token", |_| {}).await;
    steady(&mut report);
    // The matrix of known faults changes more often than the reports.
    report.diagnosis.clear();
    let text = report::failures(&report, &Screen::PLAIN) + &report::summary(&report, &Screen::PLAIN);
    insta::assert_snapshot!(text);
    let coloured = Screen { is_coloured: true, ..Screen::PLAIN };
    insta::assert_snapshot!(report::check_text(&report.checks[0], &coloured));
}

#[tokio::test]
async fn a_run_without_time_sends_nothing() {
    let server = RuledServer::start("-> groups");
    let report = run(&server, "groups.*", |options| options.budget.wall = Duration::ZERO).await;
    assert_eq!((report.verdict, report.usage.requests, server.state().requests), (Verdict::Incomplete, 0, 0));
}

/// Wrong tokens are throttled whatever the rate, and everything else is served.
#[tokio::test]
async fn what_is_throttled_whatever_the_rate_does_not_slow_down_the_rest() {
    let server = RuledServer::start("token -> groups | -> 429 42900 slow down + Retry-After: 1");
    let report = run(&server, "groups.*", |options| {
        options.budget.concurrency = 8;
        options.wire.longest_wait = Duration::from_secs(2);
    });
    let report = report.await;
    let summary = report::summary(&report, &Screen::PLAIN);
    assert_eq!(report.verdict, Verdict::Incomplete, "{summary}");
    // Each of some twenty wrong tokens would wait otherwise, and again at the end.
    assert!((20..70).contains(&report.throttling.responses), "{summary}");
    assert!(report.totals.passed >= 4, "{summary}");
}

#[tokio::test]
async fn a_socks_proxy_is_used() {
    let (listener, server) =
        (TcpListener::bind("127.0.0.1:0").await.expect("a port"), RuledServer::start("-> groups"));
    let proxy = format!("socks5://{}", listener.local_addr().expect("bound"));
    let proxied = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&proxied);
    tokio::spawn(async move {
        while let Ok((mut caller, _)) = listener.accept().await {
            // RFC 1928: the methods, then the request for an IPv4 address.
            let (mut greeting, mut request) = ([0; 3], [0; 10]);
            caller.read_exact(&mut greeting).await.expect("a greeting");
            assert_eq!(greeting[0], 5, "not SOCKS 5: {greeting:?}");
            caller.write_all(&[5, 0]).await.expect("sent");
            caller.read_exact(&mut request).await.expect("a request");
            let port = u16::from_be_bytes([request[8], request[9]]);
            let mut service = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.expect("the service");
            caller.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.expect("sent");
            count.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut caller, &mut service).await });
        }
    });
    let proxied_run = run(&server, "groups.envelope.success", |options| {
        options.wire.proxy = Some(Secret::new("PROXY", proxy));
    });
    assert_eq!(proxied_run.await.checks[0].outcome, Outcome::Passed);
    assert!(proxied.load(Ordering::Relaxed) > 0);
}

#[test]
fn the_password_of_a_proxy_is_a_secret_by_itself() {
    let proxy = Secret::new("PROXY", "http://user:p%40ss-w0rd-0@127.0.0.1:1");
    let options = WireOptions { proxy: Some(proxy), ..WireOptions::default() };
    let redactor = Redactor::new(options.secrets()).expect("long secrets");
    for text in ["p%40ss-w0rd-0", "p@ss-w0rd-0", &STANDARD.encode("user:p@ss-w0rd-0")] {
        assert!(redactor.redact(&format!("<{text}>")).contains("$PROXY"), "{text}");
    }
}
