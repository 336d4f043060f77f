//! HTTPS.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use rustls::pki_types::CertificateDer;
use sallyport_server::Config;

use super::{
    groups,
    identity::Pair,
    served,
    tls_client::{Stream, client, handshake},
    wire,
};

fn connect(address: SocketAddr, trusted: CertificateDer<'static>) -> io::Result<Stream> {
    let socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(Duration::from_secs(20)))?;
    handshake(socket, "127.0.0.1", &client(trusted, &[]))
}

/// Asks on an open connection.
fn status(stream: &mut Stream, target: &str) -> u16 {
    write!(stream, "GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    wire::read(stream).status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_certificate_is_for_new_connections_and_cuts_nobody_off() {
    let (first, second) = (Pair::new(), Pair::new());
    let tls = Some(first.identity());
    let (running, sample) = served(|config| Config { tls, ..config }).await;
    let (address, target) = (running.address(), groups(&sample));
    assert_eq!(running.base_url(), format!("https://{address}"));

    let (old, der) = (target.clone(), first.der());
    let mut open = tokio::task::spawn_blocking(move || {
        let mut open = connect(address, der).unwrap();
        assert_eq!(status(&mut open, &old), 200);
        open
    })
    .await
    .unwrap();

    assert!(running.renew(&second.identity()).await);
    tokio::task::spawn_blocking(move || {
        assert_eq!(status(&mut open, &target), 200, "the open connection was cut off");
        assert_eq!(status(&mut connect(address, second.der()).unwrap(), &target), 200);
        connect(address, first.der()).expect_err("the old certificate is still shown");
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_gets_nothing_from_an_encrypted_server() {
    let pair = Pair::new();
    let tls = Some(pair.identity());
    let (running, sample) = served(|config| Config { tls, ..config }).await;
    let (address, target) = (running.address(), groups(&sample));
    tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // The server may hang up at the first letter, so the rest may fail.
        let _ = write!(stream, "GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let mut response = Vec::new();
        // A reset is an end as well.
        let _ = stream.read_to_end(&mut response);
        assert!(!String::from_utf8_lossy(&response).contains("HTTP/1.1"), "{response:?}");
        assert_eq!(status(&mut connect(address, pair.der()).unwrap(), &target), 200);
    })
    .await
    .unwrap();
    let (plain, _) = served(|config| config).await;
    assert!(!plain.renew(&Pair::new().identity()).await, "a plain server has no certificate to renew");
}
