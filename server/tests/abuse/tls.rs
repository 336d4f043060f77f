//! A server that speaks TLS, and connections to it that speak HTTP/2.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};

use rustls::ClientConfig;

use super::{
    identity::Pair,
    target::Target,
    tls_client::{Stream, client, handshake},
};

/// A target with a certificate.
pub(crate) struct TlsTarget {
    pub(crate) target: Target,
    pub(crate) client: Arc<ClientConfig>,
}

impl TlsTarget {
    pub(crate) fn start(flags: &[&str]) -> Self {
        let (pair, folder) = (Pair::new(), tempfile::tempdir().unwrap());
        let (certificate, key) = pair.write(folder.path());
        let files = ["--tls-cert", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
        let target = Target::with(&[&files, flags].concat(), "");
        Self { target, client: client(pair.der(), &["h2"]) }
    }

    /// A connection over which HTTP/2 was agreed upon and nothing more.
    pub(crate) fn connect(&self) -> Stream {
        let stream = self.connect_to("127.0.0.1", Arc::clone(&self.client)).unwrap();
        assert_eq!(stream.conn.alpn_protocol(), Some(b"h2".as_slice()));
        stream
    }

    /// A connection to a server by this name, if the handshake succeeds.
    pub(crate) fn connect_to(&self, name: &str, client: Arc<ClientConfig>) -> io::Result<Stream> {
        let socket = TcpStream::connect(self.target.address).unwrap();
        // A client that sends and reads no response is not read from for ever either.
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        socket.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
        handshake(socket, name, &client)
    }

    /// What comes back for these bytes, up to `enough`, the end of the connection, or until nothing more comes.
    pub(crate) fn exchange(&self, bytes: &[u8], enough: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let mut stream = self.connect();
        // The server may hang up before it has read all of it.
        let _ = stream.write_all(bytes).and_then(|()| stream.flush());
        let (mut response, mut buffer) = (Vec::new(), [0; 16 * 1024]);
        while !enough(&response) {
            match stream.read(&mut buffer) {
                Ok(count) if count > 0 => response.extend_from_slice(&buffer[..count]),
                _ => break,
            }
        }
        response
    }
}
