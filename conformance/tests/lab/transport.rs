//! Many connections, requests without end, and headers of one connection.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use sallyport_conformance::lab::{Proxy, Upstream};
use sallyport_conformance::wire::WireOptions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::Running;

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
    assert_eq!(lab.status().await, 200);
    for sender in senders {
        let sent = sender.await.expect("a thread");
        // What the buffers of the sockets take.
        assert!(sent < SENT_AT_MOST / 4, "{sent} bytes were taken");
    }
    assert_eq!(lab.status().await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_connections_are_held_and_served() {
    let lab = Running::start("").await;
    let mut connections = Vec::new();
    for _ in 0..1_000 {
        connections.push(tokio::net::TcpStream::connect(lab.proxy.address()).await.expect("a connection"));
    }
    // Another one is served while all of these are open, and so are they.
    assert_eq!(lab.status().await, 200);
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
