//! Requests that nobody sends by accident. None of them is a reason for a 5xx, a panic, a second request that nobody
//! sent, or a good caller without an answer.
#![expect(clippy::unwrap_used, reason = "a test may panic; clippy does not know that helpers are part of it")]

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{Arc, LazyLock},
    time::Duration,
};

use sallyport_server::{
    Config, Running,
    api::generated::{ListStaticGroups, SearchStaticInstances},
    data::seed::seed,
    edge::answer::Operation,
    start,
    store::sqlite::SqliteStore,
};

struct Shared {
    address: SocketAddr,
    token: String,
    _running: Running,
    _runtime: tokio::runtime::Runtime,
}

static SERVER: LazyLock<Shared> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (running, sample) = runtime.block_on(async {
        let store = Arc::new(SqliteStore::temporary().unwrap());
        let sample = seed(&*store).await.unwrap();
        let config = Config { body_timeout: Duration::from_secs(1), ..Config::loopback(store) };
        (start(config).unwrap(), sample)
    });
    let token = sample.tokens.main.expose().to_owned();
    Shared { address: running.address(), token, _running: running, _runtime: runtime }
});

/// The status of each answer on one connection, up to its end or until nothing more comes. The caller does not hang up:
/// a call without a caller is dropped.
fn statuses(request: &[u8]) -> Vec<String> {
    let mut stream = TcpStream::connect(SERVER.address).unwrap();
    // Longer than the server waits for a body; whoever still has no answer then gets none.
    stream.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
    // The server may hang up before it has read all of it.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    // A reset is an end as well, and what came before it counts.
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    let after = |start: &str| start.split(' ').next().unwrap_or_default().to_owned();
    text.split("HTTP/1.1 ").skip(1).chain(text.split("HTTP/1.0 ").skip(1)).map(after).collect()
}

fn target() -> String {
    format!("{}?api_key={}", ListStaticGroups::PATH, SERVER.token)
}

#[track_caller]
fn assert_good_callers_are_served() {
    let request = format!("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", target());
    assert_eq!(statuses(request.as_bytes()), ["200"]);
}

fn search(headers: &str, body: &str) -> Vec<u8> {
    let path = SearchStaticInstances::PATH;
    let token = &SERVER.token;
    format!(
        "POST {path}?api_key={token} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}\r\n\r\n{body}"
    )
    .into_bytes()
}

#[test]
fn shapes_of_smuggling_give_one_answer_at_most() {
    let hidden = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", target());
    for headers in [
        "Content-Length: 4\r\nContent-Length: 5",
        "Content-Length: 4, 5",
        "Content-Length: +4",
        "Content-Length: -1",
        "Content-Length: 0x4",
        "Content-Length: 18446744073709551616",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding:\x0bchunked",
        "Content-Length: 4\r\n Transfer-Encoding: chunked",
    ] {
        let given = statuses(&search(headers, &format!("0\r\n\r\n{hidden}")));
        assert!(given.len() <= 1, "{headers}: {given:?}");
        assert!(given.iter().all(|status| status.starts_with('4')), "{headers}: {given:?}");
    }
    assert_good_callers_are_served();
}

#[test]
fn broken_http_is_refused_or_hung_up_on() {
    let long = "a".repeat(1 << 20);
    let many = "X: y\r\n".repeat(5000);
    let (target, chunked) = (target(), "Transfer-Encoding: chunked");
    for request in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"\0\0\0\0".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\xff\xff".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        b"GET /openapi/v1/static/groups\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n").into_bytes(),
        format!("GET {target} HTTP/1.1\r\nHost: x\r\nX: {long}\r\n\r\n").into_bytes(),
        format!("GET {target} HTTP/1.1\r\nHost: x\r\n{many}\r\n").into_bytes(),
        format!("GET {target} HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n").into_bytes(),
        format!("GET {target} HTTP/1.1\r\nHost").into_bytes(),
        search(chunked, "zz\r\n{}\r\n0\r\n\r\n"),
        search(chunked, "ffffffffffffffffff\r\n{}"),
        search(chunked, "2;ext=\"\r\n{}\r\n0\r\n"),
        search(chunked, "-2\r\n{}\r\n0\r\n\r\n"),
        search("Content-Length: 9", "{"),
        search("Content-Length: 4\r\nContent-Encoding: gzip", "\u{1f}\u{8b}"),
    ] {
        let given = statuses(&request);
        let shown = String::from_utf8_lossy(&request[..request.len().min(60)]).into_owned();
        assert!(given.len() <= 1 && given.iter().all(|it| it.starts_with('4')), "{shown}: {given:?}");
    }
    assert_good_callers_are_served();
}

#[test]
fn http_1_0_and_pipelines_are_served() {
    let old = format!("GET {} HTTP/1.0\r\n\r\n", target());
    assert_eq!(statuses(old.as_bytes()), ["200"]);
    let piped = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", target()).repeat(50);
    assert_eq!(statuses(piped.as_bytes()), vec!["200"; 50]);
}

#[test]
fn connections_that_say_little_keep_nobody_out() {
    let open = |request: &[u8]| {
        let mut stream = TcpStream::connect(SERVER.address).unwrap();
        stream.write_all(request).unwrap();
        stream
    };
    let half = search("Content-Length: 1000000", "{");
    let _idle: Vec<_> = (0..400).map(|_| open(b"")).collect();
    let _head: Vec<_> = (0..200).map(|_| open(b"GET /openapi")).collect();
    let _body: Vec<_> = (0..300).map(|_| open(&half)).collect();
    for _ in 0..20 {
        assert_good_callers_are_served();
    }
}
