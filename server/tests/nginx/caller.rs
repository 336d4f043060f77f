//! Callers with an address of their own, who send over TLS what a test wants them to.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use crate::proxy::Nginx;

/// Longer than anything here may take.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// An encrypted connection.
pub(crate) type Stream = StreamOwned<ClientConnection, TcpStream>;

/// A response as it came.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    head: String,
    body: String,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

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
    let mut roots = RootCertStore::empty();
    roots.add(nginx.pair.der()).expect("a certificate");
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let name = ServerName::from(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let mut socket = plain(nginx, from).await;
    let mut connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    connection.complete_io(&mut socket).expect("a handshake");
    assert_eq!(connection.alpn_protocol(), Some(protocol.as_bytes()));
    StreamOwned::new(connection, socket)
}

/// Sends a request line with headers, and a body, and reads the response.
pub(crate) async fn ask(nginx: &Nginx, from: Ipv4Addr, head: &str, body: &[u8]) -> Response {
    let mut stream = encrypted(nginx, from, "http/1.1").await;
    write!(stream, "{head}\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("written");
    // nginx may respond and close the connection before it has all of it.
    let _ = stream.write_all(body);
    let text = rest(&mut stream);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no response: {text}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Response { status, head: head.to_owned(), body: body.to_owned() }
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
