//! Environments that are not open, wholly or in part.

use sallyport_conformance::Verdict;
use sallyport_conformance::contract::Contract;

use crate::canned::{CannedServer, Reply};

#[tokio::test]
async fn an_environment_that_serves_nothing_is_not_judged() {
    let server = CannedServer::start(|_| Reply::json(404, r#"{"message": "no such path"}"#)).await;
    let report = server.run("all.prefix", |_| {}).await;
    assert!(
        report.stopped.as_deref().is_some_and(|reason| reason.contains("check the base URL")),
        "{report:?}"
    );
    assert_eq!((report.checks.len(), report.verdict), (0, Verdict::Unreachable));
}

#[tokio::test]
async fn an_open_environment_serves_every_operation() {
    let server = CannedServer::start(|asked| {
        if asked.line.contains("/groups") { Reply::groups() } else { Reply::json(404, "{}") }
    })
    .await;
    let report = server.run("all.prefix", |_| {}).await;
    // The listing alone responds with something that is no HTTP 404.
    let expected = Contract::embedded().expect("contract").operations().count() - 1;
    assert_eq!(report.checks[0].findings.len(), expected, "{:?}", report.checks[0].findings);
    assert_eq!(report.verdict, Verdict::Findings);
}

#[tokio::test]
async fn a_rejected_extraction_does_not_keep_the_other_operations_from_being_judged() {
    // Listings are given to anybody, and nothing else is given to anyone.
    let server = CannedServer::start(|asked| {
        let rejection = || Reply::json(403, r#"{"code": 40300, "message": "no"}"#);
        if asked.line.contains("/groups") { Reply::groups() } else { rejection() }
    })
    .await;
    let report = server.run("all.token-required.missing", |_| {}).await;
    assert!(report.checks[0].findings.len() >= 5, "{:?}", report.checks[0].findings);
    assert_eq!(report.verdict, Verdict::Findings);
}
