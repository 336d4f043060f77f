//! A company's network: its own authorities, TLS in front of services, and proxies that have to be passed.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::RootCertStore;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::program::Folder;

pub(crate) const CREDENTIALS: &str = "clerk:pa55w0rd-of-the-proxy";

/// No output shows the password of a proxy or a key.
pub(crate) fn assert_private(what: &str, text: &str) {
    for secret in ["pa55w0rd", "PRIVATE KEY", &STANDARD.encode(CREDENTIALS)[..12]] {
        assert!(!text.contains(secret), "{what}: {secret} in {text}");
    }
}

pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

pub(crate) struct Issued {
    pub(crate) certificate: String,
    pub(crate) key: String,
    der: (CertificateDer<'static>, PrivateKeyDer<'static>),
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("an authority"))
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    pub(crate) fn issue(&self, name: &str, until: i32) -> Issued {
        let mut params = CertificateParams::new([name.to_owned()]).expect("parameters");
        params.not_after = date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        let der = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        Issued {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            der: (certificate.der().clone(), der),
        }
    }
}

/// TLS in front of a server, with client certificates of `clients` only, where there is one, and these protocols over it.
pub(crate) async fn front(
    server: SocketAddr,
    issued: &Issued,
    clients: Option<&Authority>,
    protocols: &[&str],
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("versions");
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.0.der().clone()).expect("a root");
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
        }
    };
    let (certificate, key) = &issued.der;
    let mut config = builder.with_single_cert(vec![certificate.clone()], key.clone_key()).expect("a pair");
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut stream = acceptor.accept(stream).await?;
                copy_bidirectional(&mut stream, &mut TcpStream::connect(server).await?).await
            });
        }
    });
    address
}

/// A proxy as companies have one: CONNECT with user and password, to one service whatever its name; to none it responds 503.
pub(crate) struct Tunnel {
    pub(crate) address: SocketAddr,
    pub(crate) heads: Arc<Mutex<Vec<String>>>,
}

impl Tunnel {
    pub(crate) async fn start(service: Option<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(tunnel(stream, service, Arc::clone(&seen)));
            }
        });
        Self { address, heads }
    }
}

async fn tunnel(
    mut stream: TcpStream,
    service: Option<SocketAddr>,
    seen: Arc<Mutex<Vec<String>>>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let is_allowed = head.contains(&format!("Basic {}", STANDARD.encode(CREDENTIALS)));
    seen.lock().expect("whole").push(head);
    let Some(service) = service.filter(|_| is_allowed) else {
        let status = if is_allowed { "503 No service" } else { "407 Who are you" };
        return stream.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes()).await;
    };
    stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
    copy_bidirectional(&mut stream, &mut TcpStream::connect(service).await?).await.map(drop)
}

pub(crate) struct Network {
    runtime: tokio::runtime::Runtime,
    authorities: BTreeMap<String, Authority>,
    issued: BTreeMap<String, Issued>,
    tunnels: BTreeMap<String, Tunnel>,
}

impl Network {
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        Self { runtime, authorities: BTreeMap::new(), issued: BTreeMap::new(), tunnels: BTreeMap::new() }
    }

    /// Follows a line of a script, and gives the texts that names stand for from then on.
    pub(crate) fn line(&mut self, words: &[&str], folder: &Folder) -> Vec<(String, String)> {
        let address = |url: &str| -> SocketAddr {
            url.rsplit('/').next().and_then(|address| address.parse().ok()).expect("a URL")
        };
        match words {
            ["authority", name] => {
                let authority = Authority::new(name);
                folder.write(&format!("{name}.pem"), authority.pem());
                self.authorities.insert((*name).to_owned(), authority);
                Vec::new()
            }
            ["issue", file, authority, host, year] => {
                let issued = self.authorities[*authority].issue(host, year.parse().expect("a year"));
                folder.write(&format!("{file}.pem"), &issued.certificate);
                folder.write(&format!("{file}-key.pem"), &issued.key);
                self.issued.insert((*file).to_owned(), issued);
                Vec::new()
            }
            ["front", name, server, issued, clients @ ..] => {
                let clients = clients.first().map(|name| &self.authorities[*name]);
                let front =
                    self.runtime.block_on(front(address(server), &self.issued[*issued], clients, &[]));
                [("", format!("https://{front}")), (":port", front.port().to_string())]
                    .map(|(part, text)| (format!("{name}{part}"), text))
                    .into()
            }
            ["tunnel", name, service @ ..] => {
                let service = service.first().map(|url| address(url));
                let tunnel = self.runtime.block_on(Tunnel::start(service));
                let texts = vec![((*name).to_owned(), tunnel.address.to_string())];
                self.tunnels.insert((*name).to_owned(), tunnel);
                texts
            }
            other => panic!("unknown line: {other:?}"),
        }
    }

    /// What a tunnel was asked for since the last call, each on a line.
    pub(crate) fn asked(&self, tunnel: &str) -> String {
        let heads = std::mem::take(&mut *self.tunnels[tunnel].heads.lock().expect("whole"));
        heads.iter().map(|head| format!("{}\n", head.split(" HTTP/").next().unwrap_or_default())).collect()
    }
}
