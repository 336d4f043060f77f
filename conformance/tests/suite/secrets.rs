//! Passwords that nobody knew before. That no token leaves is tested with the program, in `tool/canary.rs`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sallyport_conformance::Secret;
use sallyport_conformance::report::{self, Format, Screen};
use sallyport_conformance::wire::{Redactor, WireOptions};

use super::canned::{CannedServer, Reply};

/// Nobody knows these before the response shows them. The first one is long enough to be searched for in every text.
#[tokio::test]
async fn passwords_in_responses_are_found_and_not_kept() {
    const PASSWORDS: [&str; 2] = ["correct-horse", "pw1"];
    let item = serde_json::json!({"groupId": {"password": PASSWORDS[0]}, "proxyPassword": PASSWORDS[1],
                                  "name": format!("with {}", PASSWORDS[0])});
    let body = serde_json::json!({"code": 200, "message": "ok", "requestId": "7", "data": {"items": [item]}});
    let server = CannedServer::start(move |_| Reply::json(200, &body.to_string())).await;
    let report = server.run("*", |_| {}).await;
    let clauses: Vec<_> =
        report.checks.iter().flat_map(|check| &check.findings).map(|finding| finding.clause.id()).collect();
    assert!(clauses.contains(&"all.no-secrets") && clauses.contains(&"groups.fields"), "{clauses:?}");
    let artefacts = [
        report::failures(&report, &Screen::PLAIN),
        report::summary(&report, &Screen::PLAIN),
        Format::Json.render(&report).expect("JSON"),
    ];
    for artefact in artefacts {
        for password in PASSWORDS {
            assert!(!artefact.contains(password), "{password} is shown in {artefact}");
        }
    }
}

#[test]
fn the_password_of_a_proxy_is_a_secret_by_itself() {
    let proxy = Secret::new("PROXY", "http://user:p%40ss-w0rd-0@127.0.0.1:1");
    let options = WireOptions { proxy: Some(proxy), ..WireOptions::default() };
    let redactor = Redactor::new(options.secrets()).expect("long secrets");
    for text in ["p%40ss-w0rd-0", "p@ss-w0rd-0", &STANDARD.encode("user:p@ss-w0rd-0")] {
        assert!(redactor.redact(&format!("<{text}>")).contains("$PROXY"), "{text}");
    }
}
