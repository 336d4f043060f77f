//! A company's network: its own authority, a proxy that has to be passed, and services that require a client certificate.

use std::net::SocketAddr;
use std::process::{Command, Output};
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
use sallyport_client::Client;
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::lab::{Backend, ProxiedRequest};
use sallyport_conformance::wire::{ClientIdentity, WireOptions};
use sallyport_conformance::{Contract, Facts, Secret, Target};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::config;
use super::nginx::{Nginx, free, installed};
use super::program::{AssertOutput as _, Finish as _, Folder, program, text};

/// The host that only the proxy knows.
const HOST: &str = "service.invalid";

/// User and password of the proxy.
const CREDENTIALS: &str = "clerk:pa55w0rd-of-the-proxy";

/// A company's certificate authority.
struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key.
struct Issued {
    certificate: String,
    key: String,
    der: (CertificateDer<'static>, PrivateKeyDer<'static>),
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("an authority"))
    }

    fn issue(&self, name: &str, until: i32) -> Issued {
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

/// TLS in front of a server, with client certificates of `clients` only, where there is one.
async fn front(server: SocketAddr, issued: &Issued, clients: Option<&Authority>) -> SocketAddr {
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
    let config = builder.with_single_cert(vec![certificate.clone()], key.clone_key()).expect("a pair");
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
struct Proxy {
    address: SocketAddr,
    /// Heads of all requests.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn start(service: Option<SocketAddr>) -> Self {
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

    fn url(&self, credentials: &str) -> String {
        format!("http://{credentials}@{}", self.address)
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

async fn reference() -> (Reference, SocketAddr) {
    let mut address = None;
    let reference = Reference::reached_by(config(), |running| {
        address = Some(running.address());
        running.base_url()
    });
    (reference.await.expect("started"), address.expect("bound"))
}

/// A short run, with the token of the reference server.
fn short_run(reference: &Reference, arguments: &[&str]) -> Command {
    let mut command = program(&["run", "--profile", "full", "--only", "groups.envelope.success"]);
    command.args(arguments).env("SALLYPORT_API_KEY", reference.target().token.expose());
    for name in ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command
}

/// Runs it on a thread that may wait. No output shows a password or a key.
async fn finish(mut command: Command) -> Output {
    let output = tokio::task::spawn_blocking(move || command.finish()).await.expect("it ran");
    assert_clean(&text(&output));
    output
}

fn assert_clean(text: &str) {
    for secret in ["pa55w0rd", "PRIVATE KEY", &STANDARD.encode(CREDENTIALS)[..12]] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

/// Writes files of PEM, and returns their paths.
fn written<const N: usize>(folder: &Folder, files: [(&str, &str); N]) -> [String; N] {
    files.map(|(name, content)| folder.write(name, content))
}

#[tokio::test(flavor = "multi_thread")]
async fn suite_lab_and_client_pass_a_proxy_to_a_service_that_requires_a_certificate() {
    let (company, (reference, server)) = (Authority::new("Company"), reference().await);
    let service = front(server, &company.issue(HOST, 4096), Some(&company)).await;
    let proxy = Proxy::start(Some(service)).await;
    let caller = company.issue("a-caller", 4096);
    let folder = Folder::new();
    let (url, token) = (format!("https://{HOST}:{}", service.port()), reference.target().token.expose());
    let [ca, certificate, key] = written(
        &folder,
        [("ca.pem", &company.0.pem()), ("client.pem", &caller.certificate), ("key.pem", &caller.key)],
    );
    let files = ["--ca-file", &ca, "--client-certificate", &certificate, "--client-key", &key];

    // By arguments and the environment, and by the configuration.
    let mut by_arguments = short_run(&reference, &[&["--base-url", &url], files.as_slice()].concat());
    by_arguments.env("HTTPS_PROXY", proxy.url(CREDENTIALS));
    let shown = format!("proxy http://{}", proxy.address);
    finish(by_arguments).await.assert(0, &["no violation found", &shown]);
    folder.write(
        "c.toml",
        format!(
            "base-url = \"{url}\"\n[connection]\nproxy = {{ env = \"PROXY_OF_A_TEST\" }}\nca-file = \"ca.pem\"\n\
             client-certificate = \"both.pem\"\n"
        ),
    );
    folder.write("both.pem", format!("{}{}", caller.key, caller.certificate));
    let mut by_config = short_run(&reference, &["--config", &folder.file("c.toml")]);
    by_config.env("PROXY_OF_A_TEST", proxy.url(CREDENTIALS));
    finish(by_config).await.assert(0, &["no violation found", &shown]);

    // The lab.
    let options = WireOptions {
        authorities: company.0.pem().into_bytes(),
        identity: ClientIdentity::new(caller.certificate.as_bytes(), caller.key.as_bytes()).ok(),
        proxy: Some(Secret::new("PROXY", proxy.url(CREDENTIALS))),
        ..WireOptions::default()
    };
    assert_clean(&format!("{options:?}"));
    let contract = Contract::embedded().expect("contract");
    let target = Target::new(&url, Secret::new("API_KEY", token), Facts::default(), false).expect("a target");
    let lab = Backend::connected(contract, &target, &options).expect("a client");
    let request = ProxiedRequest {
        method: http::Method::GET,
        path: contract.groups().path.clone(),
        query: Some(format!("{}={token}", contract.groups().api_key.name)),
        headers: http::HeaderMap::new(),
        body: bytes::Bytes::new(),
    };
    assert_eq!(lab.upstream.call(&request).await.status.as_u16(), 200);

    // The client.
    let builder = Client::builder().base_url(&url).token(token).ca_file(&ca).proxy(proxy.url(CREDENTIALS));
    let builder = builder.client_certificate(&certificate, &key);
    assert_clean(&format!("{builder:?}"));
    builder.build().expect("a client").groups().await.expect("groups");

    let heads = proxy.heads.lock().expect("whole").clone();
    let expected = format!("CONNECT {HOST}:{} HTTP/1.1\r\n", service.port());
    assert!(heads.len() >= 4 && heads.iter().all(|head| head.starts_with(&expected)), "{heads:#?}");
    reference.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_a_run_from_a_service_is_said_with_what_to_do() {
    let (company, other) = (Authority::new("Company"), Authority::new("Others"));
    let (reference, server) = reference().await;
    let folder = Folder::new();
    let caller = company.issue("a-caller", 4096);
    let stranger = other.issue("a-caller", 4096);
    let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIF\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let [ca, certificate, key, stranger_certificate, stranger_key, encrypted, empty, nothing] = written(
        &folder,
        [
            ("ca.pem", &company.0.pem()),
            ("client.pem", &caller.certificate),
            ("key.pem", &caller.key),
            ("stranger.pem", &stranger.certificate),
            ("stranger-key.pem", &stranger.key),
            ("encrypted.pem", encrypted),
            ("empty.pem", "nothing\n"),
            ("nothing.pem", ""),
        ],
    );
    let right = front(server, &company.issue("127.0.0.1", 4096), None).await;
    let expired = front(server, &company.issue("127.0.0.1", 2020), None).await;
    let elsewhere = front(server, &company.issue("elsewhere.invalid", 4096), None).await;
    let strict = front(server, &company.issue("127.0.0.1", 4096), Some(&company)).await;
    let closed = free();
    let (proxy, refusing) = (Proxy::start(Some(right)).await, Proxy::start(None).await);
    let by = |proxy: &Proxy, credentials: &str| format!("--proxy={}", proxy.url(credentials));
    let (wrong, refused) = (by(&proxy, "clerk:pa55w0rd-of-another"), by(&refusing, CREDENTIALS));
    let gone = format!("--proxy=http://{closed}");
    let own = ["--client-certificate", &certificate, "--client-key"];
    let rows: [(SocketAddr, &[&str], i32, &str); 17] = [
        (right, &["--ca-file", &ca], 0, "no violation found"),
        (
            right,
            &[],
            3,
            "its authority is unknown here; pass the certificate of the authority with --ca-file",
        ),
        (expired, &["--ca-file", &ca], 3, "its certificate has expired; renew it, or correct the clock"),
        (elsewhere, &["--ca-file", &ca], 3, "its certificate is for another host; set a base URL"),
        (server, &["--ca-file", &ca], 3, "this port speaks plain http; use http:// in the base URL"),
        (strict, &["--ca-file", &ca], 3, "it requires a client certificate; pass --client-certificate"),
        (
            strict,
            &["--ca-file", &ca, "--client-certificate", &stranger_certificate, "--client-key", &stranger_key],
            3,
            "it rejects the client certificate; pass one that its authority has issued",
        ),
        (strict, &[own[0], own[1], own[2], &stranger_key], 2, "the client key does not belong to"),
        (strict, &[own[0], own[1], own[2], &encrypted], 2, "expected a private key without a passphrase"),
        (strict, &[own[0], own[1]], 2, "client.pem: client key: expected a private key in PEM format"),
        (strict, &[own[0], own[1]], 2, "; pass the file that has it with --client-key"),
        (
            right,
            &["--ca-file", &nothing],
            2,
            "nothing.pem: expected certificates in PEM format, found an empty file",
        ),
        (strict, &[own[0], &empty, own[2], &key], 2, "empty.pem: client certificate: expected a certificate"),
        (right, &["--ca-file", &empty], 2, "authorities: expected certificates in PEM format"),
        (right, &["--ca-file", &ca, &wrong], 3, "the proxy requires a user and a password, or rejects them"),
        (right, &["--ca-file", &ca, &refused], 3, "the proxy does not connect to the service"),
        (right, &["--ca-file", &ca, &gone], 3, "host, port and scheme of the proxy http://127.0.0.1:"),
    ];
    for (service, arguments, code, words) in rows {
        let url = format!("https://{service}");
        let command = short_run(&reference, &[&["--base-url", &url], arguments].concat());
        finish(command).await.assert(code, &[words]);
    }
    // Commands of reports go the same way.
    let (url, report) = (format!("https://{right}"), format!("json={}", folder.file("report.json")));
    let command = short_run(&reference, &["--base-url", &url, "--report", &report, "--ca-file", &ca]);
    finish(command).await.assert(0, &[]);
    assert_eq!(folder.json("report.json")["curl_options"], serde_json::json!(["--cacert", &ca]));
    reference.close().await;
}

/// nginx completes TLS with everybody, and then rejects by HTTP.
#[tokio::test(flavor = "multi_thread")]
async fn nginx_that_wants_a_client_certificate_is_understood() {
    let Some(nginx) = installed() else { return };
    let (company, (reference, server)) = (Authority::new("Company"), reference().await);
    let folder = Folder::new();
    let caller = company.issue("a-caller", 4096);
    let [ca, client] = written(
        &folder,
        [("ca.pem", &company.0.pem()), ("both.pem", &(caller.certificate.clone() + &caller.key))],
    );
    let nginx =
        Nginx::start_with(&nginx, server, &format!("ssl_verify_client on; ssl_client_certificate {ca};"));
    let trusted = folder.write("nginx.pem", nginx.pair.certificate());
    let url = format!("https://{}", nginx.address);
    let base = ["--base-url", &url, "--ca-file", &trusted];
    finish(short_run(&reference, &base)).await.assert(3, &["requires a client certificate; pass one"]);
    let known = [base.as_slice(), &["--client-certificate", &client]].concat();
    finish(short_run(&reference, &known)).await.assert(0, &["no violation found"]);
    reference.close().await;
}
