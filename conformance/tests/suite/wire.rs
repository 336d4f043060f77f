//! What the wire does with responses that nobody wants.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use sallyport_conformance::wire::ExtraHeader;
use sallyport_conformance::{Options, Outcome, Secret};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::canned::{CannedServer, Reply};

const SUCCESS: &str = "groups.envelope.success";

fn outcome(report: &sallyport_conformance::Report) -> &Outcome {
    &report.checks[0].outcome
}

#[tokio::test]
async fn throttled_requests_are_sent_again_in_both_forms() {
    let past = httpdate::fmt_http_date(SystemTime::now() - Duration::from_secs(60));
    for retry_after in ["0".to_owned(), past] {
        let server = CannedServer::start(move |asked| match asked.number {
            0 | 3 => Reply::groups(),
            1 => Reply::json(429, "{}").with("Retry-After", retry_after.clone()),
            _ => Reply::json(503, "{}").with("Retry-After", retry_after.clone()),
        })
        .await;
        let report = server.run(SUCCESS, |_| {}).await;
        assert_eq!(outcome(&report), &Outcome::Passed);
        assert_eq!(server.requests(), 4);
    }
}

#[tokio::test]
async fn throttling_without_retry_after_is_a_finding() {
    let server = CannedServer::start(|_| Reply::json(429, "{}")).await;
    let report = server.run("*", |options| options.wire.longest_wait = Duration::ZERO).await;
    let check =
        report.checks.iter().find(|check| check.id == "all.throttled-retry-after.watched").expect("watched");
    assert_eq!(check.outcome, Outcome::Failed);
    assert!(report.checks.iter().all(|other| other.id == check.id || other.outcome != Outcome::Failed));
}

#[tokio::test]
async fn what_a_watching_check_finds_once_is_asked_again() {
    const WATCHED: &str = "groups.envelope.schema";
    let broken =
        || Reply::json(200, r#"{"code": 200, "message": "ok", "requestId": 7, "data": {"items": []}}"#);
    // Before the checks, a run asks whether the token is accepted, and searches three times for addresses.
    for (broken_from, broken_until) in [(5, 6), (5, usize::MAX)] {
        let server = CannedServer::start(move |asked| {
            if (broken_from..broken_until).contains(&asked.number) { broken() } else { Reply::groups() }
        })
        .await;
        let report = server.run("groups.*", |_| {}).await;
        let check = report.checks.iter().find(|check| check.id == WATCHED).expect("watched");
        assert!(!check.findings.is_empty());
        match broken_until {
            6 => assert!(matches!(check.outcome, Outcome::Flaky(_)), "{:?}", check.outcome),
            _ => assert_eq!(check.outcome, Outcome::Failed),
        }
    }
}

#[tokio::test]
async fn a_response_that_cannot_be_judged_is_inconclusive_and_ends() {
    let long = "x".repeat(100_000);
    let bytes = |bytes: &[u8]| Reply::Bytes(bytes.to_vec());
    for (reply, reason) in [
        (Reply::json(200, &long), "longer than 10000 bytes"),
        (Reply::Hang, ""),
        (Reply::EndlessChunkSize, ""),
        (bytes(b"\x00\xff\xfe garbage\r\n\r\n"), ""),
        (bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"code\": 200"), ""),
        (bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\xff\xfe\xfd"), ""),
        (bytes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), ""),
    ] {
        // The preflight gets a response.
        let server =
            CannedServer::start(move |asked| if asked.number == 0 { Reply::groups() } else { reply.clone() });
        let few = |options: &mut Options| {
            (options.wire.body_limit, options.wire.timeout) = (10_000, Duration::from_secs(1));
        };
        let report = server.await.run(SUCCESS, few).await;
        let outcome = outcome(&report);
        assert!(matches!(outcome, Outcome::Inconclusive(why) if why.contains(reason)), "{outcome:?}");
    }
}

#[tokio::test]
async fn what_is_about_the_connection_is_tried_again() {
    for reply in [Reply::Close, Reply::json(408, ""), Reply::json(421, "")] {
        let server =
            CannedServer::start(move |asked| if asked.number == 1 { reply.clone() } else { Reply::groups() });
        assert_eq!(outcome(&server.await.run(SUCCESS, |_| {}).await), &Outcome::Passed);
    }
}

#[tokio::test]
async fn a_kept_connection_that_closes_without_a_word_costs_one_attempt() {
    const CONCURRENCY: usize = 8;
    let taken = Arc::new(AtomicU64::new(0));
    let given = Arc::clone(&taken);
    let server = CannedServer::start(move |asked| {
        Reply::Kept(Box::new(match asked.param("num") {
            _ if !asked.is_extraction() => Reply::groups(),
            Some("1") => {
                given.fetch_add(1, Ordering::Relaxed);
                Reply::gateways(1)
            }
            _ => Reply::rejected(400, 40001, "invalid"),
        }))
    })
    .await;
    let report =
        server.run("extract.num-range.boundaries", |options| options.budget.concurrency = CONCURRENCY).await;
    let cases = &report.checks.iter().find(|check| check.cases.len() > 30).expect("the check").cases;
    let failed: Vec<_> =
        cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed | Outcome::Flaky(_))).collect();
    assert!(failed.is_empty(), "{failed:?}");
    let (taken, counted) = (taken.load(Ordering::Relaxed), report.usage.gateways);
    assert!(taken > 10, "{taken}");
    let lost = u64::try_from(CONCURRENCY).expect("small");
    assert!((taken..=taken + lost).contains(&counted), "{counted} counted, {taken} taken");
}

#[tokio::test]
async fn a_socks_proxy_is_used() {
    let (listener, server) = (
        TcpListener::bind("127.0.0.1:0").await.expect("a port"),
        CannedServer::start(|_| Reply::groups()).await,
    );
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
    let report = server.run(SUCCESS, |options| options.wire.proxy = Some(Secret::new("PROXY", proxy))).await;
    assert_eq!(outcome(&report), &Outcome::Passed);
    assert!(proxied.load(Ordering::Relaxed) > 0);
}

/// A provider finds the requests of a finding in their logs, and the report says by which words.
#[tokio::test]
async fn each_request_names_run_case_and_number() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let server = CannedServer::start({
        let heads = Arc::clone(&heads);
        move |asked| {
            heads.lock().expect("whole").push(asked.head.clone());
            let group = |id| format!(r#"{{"groupId": {id}, "name": "n"}}"#);
            let items = [group(2), group(1)].join(",");
            let envelope = r#""code": 200, "message": "ok", "requestId": "r-7""#;
            Reply::json(200, &format!(r#"{{{envelope}, "data": {{"items": [{items}]}}}}"#))
        }
    })
    .await;
    let report = server.run("groups.order.ascending", |_| {}).await;
    let heads = std::mem::take(&mut *heads.lock().expect("whole"));
    let of_run = format!("sallyport-conformance/{} (run {}; case ", env!("CARGO_PKG_VERSION"), report.run);
    for (number, head) in (1..).zip(&heads) {
        let agents = head.lines().filter_map(|line| line.strip_prefix("user-agent: "));
        let agents: Vec<_> = agents.collect();
        assert!(agents.len() == 1 && agents[0].starts_with(&of_run), "{head}");
        assert!(agents[0].ends_with(&format!("; {number})")), "{head}");
    }
    let check = &report.checks[0];
    let exchange = &check.exchanges[check.findings[0].exchanges[0]];
    assert!(exchange.user_agent.starts_with(&format!("{of_run}groups.order.ascending")), "{exchange:?}");
    assert!(heads.iter().any(|head| head.contains(&exchange.user_agent)), "{exchange:?}");
    assert!(exchange.begun.parse::<jiff::Timestamp>().is_ok(), "{exchange:?}");
    assert_eq!(exchange.request_id.as_deref(), Some("r-7"));

    let own = ExtraHeader {
        name: "User-Agent".to_owned(),
        value: Secret::new("HEADER", "one of the tester"),
        public: true,
    };
    let report = server.run("groups.order.ascending", |options| options.wire.headers.push(own)).await;
    assert_eq!(report.checks[0].exchanges[0].user_agent, "one of the tester");
}
