//! HTTPS.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName},
};
use sallyport_server::{Config, edge::tls::Identity};

use super::{groups, served};

type Stream = StreamOwned<ClientConnection, TcpStream>;

fn pair() -> CertifiedKey<KeyPair> {
    generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

/// Puts the pair into files and reads it as the server does.
fn identity(pair: &CertifiedKey<KeyPair>) -> Identity {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, pair.cert.pem()).unwrap();
    std::fs::write(&key, pair.signing_key.serialize_pem()).unwrap();
    Identity::load(&certificate, &key).unwrap()
}

fn connect(address: SocketAddr, trusted: &CertificateDer<'static>) -> Stream {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), socket)
}

/// Asks on an open connection; the status line, or why there is none.
fn status(stream: &mut Stream, target: &str) -> std::io::Result<String> {
    write!(stream, "GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let mut response = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer)?;
        response.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&response);
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            body.len() >= length.parse().unwrap()
        });
        if whole || count == 0 {
            return Ok(text.lines().next().unwrap_or_default().to_owned());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_certificate_is_for_new_connections_and_cuts_nobody_off() {
    let (first, second) = (pair(), pair());
    let tls = Some(identity(&first));
    let (running, sample) = served(|config| Config { tls, ..config }).await;
    let (address, target) = (running.address(), groups(&sample));
    assert_eq!(running.base_url(), format!("https://{address}"));
    let ok = "HTTP/1.1 200 OK";

    let (old, der) = (target.clone(), first.cert.der().clone());
    let mut open = tokio::task::spawn_blocking(move || {
        let mut open = connect(address, &der);
        assert_eq!(status(&mut open, &old).unwrap(), ok);
        open
    })
    .await
    .unwrap();

    assert!(running.renew(&identity(&second)).await);
    tokio::task::spawn_blocking(move || {
        assert_eq!(status(&mut open, &target).unwrap(), ok, "the open connection was cut off");
        assert_eq!(status(&mut connect(address, second.cert.der()), &target).unwrap(), ok);
        status(&mut connect(address, first.cert.der()), &target)
            .expect_err("the old certificate is still shown");
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_gets_nothing_from_an_encrypted_server() {
    let pair = pair();
    let tls = Some(identity(&pair));
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
        assert_eq!(status(&mut connect(address, pair.cert.der()), &target).unwrap(), "HTTP/1.1 200 OK");
    })
    .await
    .unwrap();
    let (plain, _) = served(|config| config).await;
    assert!(!plain.renew(&identity(&self::pair())).await, "a plain server has no certificate to renew");
}
