//! Many connections, and requests without end.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use sallyport_client::Client;
use sallyport_conformance::lab::Sandbox;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

async fn started() -> (Sandbox, SocketAddr) {
    let sandbox = Sandbox::start("").await.expect("a sandbox");
    let address = sandbox.base_url().trim_start_matches("http://").parse().expect("an address");
    (sandbox, address)
}

/// A listing is served.
async fn assert_serves(sandbox: &Sandbox) {
    let client = Client::builder().base_url(sandbox.base_url()).token(sandbox.token()).build();
    client.expect("a client").groups().await.expect("groups");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunk_size_without_end_is_cut_and_others_are_served() {
    const SENT_AT_MOST: usize = 256 << 20;
    let (lab, address) = started().await;
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
    assert_serves(&lab).await;
    for sender in senders {
        let sent = sender.await.expect("a thread");
        // What the buffers of the sockets take.
        assert!(sent < SENT_AT_MOST / 4, "{sent} bytes were taken");
    }
    assert_serves(&lab).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_connections_are_held_and_served() {
    let (lab, address) = started().await;
    let mut connections = Vec::new();
    for _ in 0..1_000 {
        connections.push(tokio::net::TcpStream::connect(address).await.expect("a connection"));
    }
    // Another one is served while all of these are open, and so are they.
    assert_serves(&lab).await;
    let request =
        format!("GET /openapi/v1/static/groups?api_key={} HTTP/1.1\r\nhost: a\r\n\r\n", lab.token());
    for connection in connections.iter_mut().step_by(50) {
        connection.write_all(request.as_bytes()).await.expect("sent");
        let mut start = [0; 12];
        connection.read_exact(&mut start).await.expect("a response");
        assert_eq!(&start, b"HTTP/1.1 200");
    }
}
