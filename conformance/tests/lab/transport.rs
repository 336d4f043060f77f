//! What a caller sees on its socket.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use sallyport_conformance::lab::{Proxy, Upstream};
use sallyport_conformance::wire::WireOptions;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::Running;

/// All that comes back on a connection, and the error that ended it.
fn raw(lab: &Running) -> (String, Option<ErrorKind>) {
    let mut stream = TcpStream::connect(lab.proxy.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let request = format!(
        "GET /openapi/v1/static/groups?api_key={} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
        lab.token()
    );
    stream.write_all(request.as_bytes()).expect("sent");
    let mut bytes = Vec::new();
    let error = stream.read_to_end(&mut bytes).err().map(|error| error.kind());
    (String::from_utf8_lossy(&bytes).into_owned(), error)
}

/// What comes back while a step of listings lasts.
async fn step(keys: &str) -> (Running, String, Option<ErrorKind>) {
    let lab = Running::start(&format!("[[default.groups]]\nforever = true\n{keys}")).await;
    let (lab, (text, error)) = tokio::task::spawn_blocking(move || {
        let answer = raw(&lab);
        (lab, answer)
    })
    .await
    .expect("a thread");
    (lab, text, error)
}

fn declared(text: &str) -> usize {
    let line =
        text.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    line.and_then(|length| length.trim().parse().ok()).expect("a length")
}

fn body(text: &str) -> &str {
    text.split_once("\r\n\r\n").expect("a head").1
}

#[tokio::test]
async fn a_connection_is_reset_before_the_head_or_within_the_body() {
    let (_, text, error) = step("reset = true").await;
    assert_eq!((text.as_str(), error), ("", Some(ErrorKind::ConnectionReset)));
    let (_, text, error) = step("reset-after = 10").await;
    assert_eq!((body(&text).len(), error), (10, Some(ErrorKind::ConnectionReset)), "{text}");
}

#[tokio::test]
async fn a_body_is_cut_or_has_a_wrong_length() {
    let (_, cut, error) = step("cut-after = 25").await;
    assert_eq!((body(&cut).len(), error), (25, None));
    assert!(declared(&cut) > 100 && cut.contains("\r\ndate: "), "{cut}");
    let (lab, whole, error) = step("cut-after = 1000000").await;
    assert_eq!((body(&whole).len(), error), (declared(&whole), None));
    let entries = lab.journal.entries();
    let changes: Vec<_> = entries.iter().flat_map(|entry| &entry.changes).flat_map(|it| &it.what).collect();
    assert!(changes.iter().any(|what| what.starts_with("connection: unchanged, since")), "{changes:?}");
    let (_, longer, _) = step("wrong-length = 7").await;
    assert_eq!(declared(&longer), body(&longer).len() + 7);
    let (_, shorter, _) = step("wrong-length = -7").await;
    assert_eq!(declared(&shorter) + 7, body(&shorter).len());
}

#[tokio::test]
async fn a_silent_service_sends_nothing_and_closes() {
    let begun = Instant::now();
    let (_, text, error) = step("stall-ms = 400").await;
    assert_eq!((text.as_str(), error), ("", None));
    assert!(begun.elapsed() >= Duration::from_millis(400));
}

#[tokio::test]
async fn a_body_is_slow_or_huge() {
    let begun = Instant::now();
    let (_, text, _) = step("slow-body = { bytes = 100, pause-ms = 60 }").await;
    assert!(begun.elapsed() >= Duration::from_millis(180), "{:?}", begun.elapsed());
    assert!(text.contains("transfer-encoding: chunked"), "{text}");
    let lab = Running::start("[[default.groups]]\nforever = true\npad-bytes = 30000000").await;
    let whole = lab.groups().send().await.expect("a response").bytes().await.expect("a body");
    assert!(whole.len() > 30_000_000, "{}", whole.len());
    let json: Value = serde_json::from_slice(&whole).expect("blanks after JSON are JSON");
    assert_eq!(json["code"], 200);
}

#[tokio::test]
async fn a_redirect_carries_no_query() {
    let (lab, text, _) = step("redirect-to = 'http://localhost:9'").await;
    assert!(text.starts_with("HTTP/1.1 307"), "{text}");
    assert!(text.contains("location: http://localhost:9/openapi/v1/static/groups\r\n"), "{text}");
    assert!(!text.contains(lab.token()), "{text}");
}

#[tokio::test]
async fn headers_come_twice_or_with_another_type_and_connections_close() {
    let (_, text, _) =
        step("duplicate-headers = true\nheaders = { x-a = ['1', '2'] }\ncontent-type = 'text/html'").await;
    assert_eq!(text.matches("content-type: text/html\r\n").count(), 2, "{text}");
    assert_eq!((text.matches("x-a: 1\r\n").count(), text.matches("x-a: 2\r\n").count()), (2, 2), "{text}");
    let lab = Running::start("[[default.groups]]\nforever = true\nclose = true").await;
    let response = lab.groups().send().await.expect("a response");
    assert_eq!(response.headers()["connection"], "close");
}

#[tokio::test]
async fn bodies_have_further_fields_or_numbers_as_text() {
    let (_, text, _) = step("unknown-fields = true").await;
    let json: Value = serde_json::from_str(body(&text)).expect("JSON");
    assert!(json["labUnknown"].is_object() && json["data"]["items"][0]["labUnknown"].is_object(), "{json}");
    let (_, text, _) = step("numbers-as-text = true").await;
    let json: Value = serde_json::from_str(body(&text)).expect("JSON");
    assert!(json["code"].is_i64() && json["data"]["items"][0]["groupId"].is_string(), "{json}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunk_size_without_end_is_cut_and_others_are_served() {
    const SENT_AT_MOST: usize = 256 << 20;
    let lab = Running::start("").await;
    let address = lab.proxy.address();
    let sending = move || {
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.set_write_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let head = "POST /openapi/v1/static/instances/search HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).expect("sent");
        let zeros = vec![b'0'; 1 << 20];
        let mut sent = 0;
        while sent < SENT_AT_MOST && stream.write_all(&zeros).is_ok() {
            sent += zeros.len();
        }
        sent
    };
    let senders = [(); 4].map(|()| tokio::task::spawn_blocking(sending));
    assert_eq!(lab.status(None).await, 200);
    for sender in senders {
        let sent = sender.await.expect("a thread");
        // What the buffers of the sockets take.
        assert!(sent < SENT_AT_MOST / 4, "{sent} bytes were taken");
    }
    assert_eq!(lab.status(None).await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_connections_are_held_and_served() {
    let lab = Running::start("").await;
    let mut connections = Vec::new();
    for _ in 0..1_000 {
        connections.push(tokio::net::TcpStream::connect(lab.proxy.address()).await.expect("a connection"));
    }
    // Another one is served while all of these are open, and so are they.
    assert_eq!(lab.status(None).await, 200);
    let request =
        format!("GET /openapi/v1/static/groups?api_key={} HTTP/1.1\r\nhost: a\r\n\r\n", lab.token());
    for connection in connections.iter_mut().step_by(50) {
        connection.write_all(request.as_bytes()).await.expect("sent");
        let mut start = [0; 12];
        connection.read_exact(&mut start).await.expect("a response");
        assert_eq!(&start, b"HTTP/1.1 200");
    }
}

/// The head of each request that a service gets, and how it responds to all.
fn service(response: &'static str) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let (heads, received) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(20) {
            let mut stream = stream.expect("a connection");
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).expect("a head");
                head.extend(byte);
            }
            stream.write_all(response.as_bytes()).expect("sent");
            if heads.send(String::from_utf8_lossy(&head).to_lowercase()).is_err() {
                break;
            }
        }
    });
    (url, received)
}

#[tokio::test]
async fn headers_of_one_connection_are_not_passed_on() {
    let response = "HTTP/1.1 200 OK\r\nconnection: close, X-Hop\r\nx-hop: 1\r\nkeep-alive: timeout=5\r\n\
                    proxy-authenticate: Basic\r\nupgrade: h2c\r\ntrailer: x-a\r\nx-end: 1\r\ncontent-length: 2\r\n\r\n{}";
    let (url, received) = service(response);
    let upstream = Upstream::http(&url.parse().expect("a URL"), &WireOptions::default()).expect("a client");
    let proxy = Proxy::start(upstream).await.expect("a port");
    let mut request = reqwest::Client::builder().no_proxy().build().expect("a client").get(proxy.base_url());
    let sent = [
        ("connection", "x-hop, Keep-Alive"),
        ("connection", "te"),
        ("x-hop", "1"),
        ("keep-alive", "timeout=5"),
        ("te", "trailers"),
        ("upgrade", "h2c"),
        ("proxy-authorization", "Basic x"),
        ("proxy-connection", "keep-alive"),
        ("x-end", "1"),
    ];
    for (name, value) in sent {
        request = request.header(name, value);
    }
    let response = request.send().await.expect("a response");
    let head = received.recv_timeout(Duration::from_secs(60)).expect("a request");
    for (name, _) in sent {
        assert_eq!(head.contains(&format!("\r\n{name}:")), name == "x-end", "{name}: {head}");
    }
    for name in ["x-hop", "keep-alive", "proxy-authenticate", "upgrade", "trailer"] {
        assert!(!response.headers().contains_key(name), "{name}: {response:?}");
    }
    assert!(response.headers().contains_key("x-end"));
}
