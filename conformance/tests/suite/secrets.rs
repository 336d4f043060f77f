//! No secret leaves, whatever a server does with it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sallyport_conformance::report::{self, Screen, Style};
use sallyport_conformance::wire::{Redactor, WireOptions};
use sallyport_conformance::{Report, Secret, Verdict};

use crate::canned::{CannedServer, Reply, TOKEN};

/// The token in every form that a server may echo.
fn forms() -> Vec<String> {
    let json = serde_json::json!(TOKEN).to_string();
    let once = utf8_percent_encode(TOKEN, NON_ALPHANUMERIC).to_string();
    vec![
        TOKEN.to_owned(),
        once.to_lowercase(),
        once,
        json[1..json.len() - 1].to_owned(),
        STANDARD.encode(TOKEN),
        STANDARD.encode(format!("Bearer {TOKEN}")),
    ]
}

fn assert_clean(report: &Report) {
    let artefacts = [
        report::failures(report, &Screen::PLAIN),
        report::summary(report, &Screen { style: Style::Coloured, ..Screen::PLAIN }),
        report::json(report).expect("JSON"),
        format!("{report:?}"),
    ];
    // The beginning of each form is telling enough.
    for form in forms().iter().map(|form| &form[..form.len() / 2]) {
        assert!(artefacts.iter().all(|artefact| !artefact.contains(form)), "{form} is shown");
    }
}

#[tokio::test]
async fn a_token_that_is_echoed_is_not_kept() {
    let echo = forms().join(" ");
    let body = serde_json::json!({"code": 200, "message": echo, "requestId": 7, "data": {"items": [{"groupId": TOKEN}]}});
    let server = CannedServer::start(move |_| {
        Reply::json(200, &body.to_string())
            .with("X-Echo", utf8_percent_encode(TOKEN, NON_ALPHANUMERIC).to_string())
    })
    .await;
    let report = server.run("groups.*", |_| {}).await;
    assert_eq!(report.verdict, Verdict::Findings);
    assert!(report::json(&report).expect("JSON").contains("$API_KEY"));
    assert_clean(&report);
}

#[tokio::test]
async fn failures_on_the_wire_show_no_token() {
    let replies: [fn() -> Reply; 3] =
        [|| Reply::Close, || Reply::Hang, || Reply::Bytes(TOKEN.as_bytes().to_vec())];
    for reply in replies {
        let server = CannedServer::start(move |_| reply()).await;
        let report = server
            .run("groups.*", |options| options.wire.timeout = std::time::Duration::from_millis(50))
            .await;
        assert_clean(&report);
    }
}

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
        report::json(&report).expect("JSON"),
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
