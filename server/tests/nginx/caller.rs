//! Callers with an address of their own, who send over TLS what a test wants them to.

use std::{
    io::{ErrorKind, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    time::Duration,
};

use super::{
    proxy::Nginx,
    tls_client::{Stream, client, handshake},
    wire::{self, Response},
};

/// Longer than anything here may take.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A connection without TLS from this address of the loopback network.
pub(crate) async fn plain(nginx: &Nginx, from: Ipv4Addr) -> TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::new(IpAddr::V4(from), 0)).expect("an address of this machine");
    let stream = socket.connect(nginx.address).await.expect("connected").into_std().expect("a stream");
    stream.set_nonblocking(false).expect("blocking");
    stream.set_read_timeout(Some(MAX_WAIT)).expect("a limit");
    stream
}

/// A connection that speaks this protocol.
pub(crate) async fn encrypted(nginx: &Nginx, from: Ipv4Addr, protocol: &str) -> Stream {
    let client = client(nginx.pair.der(), &[protocol]);
    let stream = handshake(plain(nginx, from).await, "127.0.0.1", &client).expect("a handshake");
    assert_eq!(stream.conn.alpn_protocol(), Some(protocol.as_bytes()));
    stream
}

/// Sends a request line with headers, and a body, and reads the response.
pub(crate) async fn ask(nginx: &Nginx, from: Ipv4Addr, head: &str, body: &[u8]) -> Response {
    let mut stream = encrypted(nginx, from, "http/1.1").await;
    write!(stream, "{head}\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("written");
    // nginx may respond and close the connection before it has all of it.
    let _ = stream.write_all(body);
    wire::read(stream)
}

/// Reads up to the end of a connection, which must come.
pub(crate) fn rest(stream: &mut impl Read) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                panic!("the connection is open after {MAX_WAIT:?}")
            }
            // A reset is an end as well, and so is one without TLS's farewell.
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
