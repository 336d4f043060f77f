//! What sessions of text cannot say of a company's network; the others are in `tool/scripts/network.txt`.

use sallyport_client::Client;
use sallyport_conformance::wire::ClientIdentity;

use super::nginx::{Nginx, installed};
use super::program::{Folder, program, text};
use crate::support::network::{Authority, CREDENTIALS, Tunnel, assert_private, front};
use crate::support::rules::RuledServer;

#[tokio::test(flavor = "multi_thread")]
async fn the_client_passes_a_proxy_to_a_service_that_requires_a_certificate() {
    let (company, server, folder) =
        (Authority::new("Company"), RuledServer::start("-> groups"), Folder::new());
    let service = front(server.address, &company.issue("service.invalid", 4096), Some(&company), &[]).await;
    let proxy = Tunnel::start(Some(service)).await;
    let caller = company.issue("a-caller", 4096);
    let ca = folder.write("ca.pem", company.pem());
    let (certificate, key) =
        (folder.write("client.pem", &caller.certificate), folder.write("key.pem", &caller.key));
    let builder = Client::builder()
        .base_url(format!("https://service.invalid:{}", service.port()))
        .token("a-token-of-tests");
    let builder = builder.ca_file(&ca).proxy(format!("http://{CREDENTIALS}@{}", proxy.address));
    let builder = builder.client_certificate(&certificate, &key);
    let identity = ClientIdentity::new(caller.certificate.as_bytes(), caller.key.as_bytes());
    assert_private("Debug", &format!("{builder:?} {identity:?}"));
    builder.build().expect("a client").groups().await.expect("groups");
    assert!(!proxy.heads.lock().expect("whole").is_empty());
}

/// nginx completes TLS with everybody, and then rejects by HTTP.
#[tokio::test(flavor = "multi_thread")]
async fn nginx_that_wants_a_client_certificate_is_understood() {
    let Some(nginx) = installed() else { return };
    let (company, server, folder) =
        (Authority::new("Company"), RuledServer::start("-> groups"), Folder::new());
    let caller = company.issue("a-caller", 4096);
    let ca = folder.write("ca.pem", company.pem());
    let client = folder.write("both.pem", caller.certificate.clone() + &caller.key);
    let wanted = format!("ssl_verify_client on; ssl_client_certificate {ca};");
    let nginx = Nginx::start_with(&nginx, server.address, &wanted);
    let trusted = folder.write("nginx.pem", nginx.pair.certificate());
    let run = "run --profile full --only groups.envelope.success --base-url";
    let base = format!("{run} https://{} --ca-file {trusted}", nginx.address);
    let known = format!("{base} --client-certificate {client}");
    for (arguments, code, words) in
        [(base, 3, "requires a client certificate; pass one"), (known, 0, "no violation found")]
    {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = program(&arguments).output().expect("the program runs");
        let printed = text(&output);
        assert!(output.status.code() == Some(code) && printed.contains(words), "{printed}");
        assert_private("a run", &printed);
    }
}
