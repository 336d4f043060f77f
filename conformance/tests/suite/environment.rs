//! Environments that are not open, wholly or in part, and one whose numbers are as large as numbers get.

use sallyport_conformance::contract::Contract;
use sallyport_conformance::{Facts, Outcome, Secret, Target, Verdict};

use crate::canned::{CannedServer, Reply, TOKEN, judge, only};

#[tokio::test]
async fn an_environment_that_serves_nothing_is_not_judged() {
    let server = CannedServer::start(|_| Reply::json(404, r#"{"message": "no such path"}"#)).await;
    let report = server.run("all.prefix", |_| {}).await;
    let stopped = report.stopped.unwrap_or_default();
    assert!(stopped.contains("check the base URL"), "{stopped}");
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

#[tokio::test]
async fn the_largest_and_smallest_numbers_make_no_check_panic() {
    for number in [i64::MAX, i64::MIN] {
        let server = CannedServer::start(move |asked| {
            if asked.line.contains("/groups") {
                return Reply::groups();
            }
            Reply::json(
                200,
                &format!(
                    r#"{{"code": 200, "message": "ok", "requestId": "r-1", "data": {{"items": [{{
                    "instanceId": {number}, "offerId": {number}, "status": "active", "ip": "192.0.2.1",
                    "port": {number}, "protocols": ["http"], "countryCode": "USA", "cityCode": "NYC",
                    "ispType": {number}, "groupId": {number}, "groupName": "a group", "expiresAt": null,
                    "activatedAt": "2026-01-01T00:00:00Z", "capabilities": {{"maxBatchSize": {number}}}
                    }}], "page": 1, "pageSize": 20, "total": 1}}}}"#
                ),
            )
        })
        .await;
        let facts = Facts {
            own_addresses: vec!["192.0.2.1".to_owned()],
            foreign_addresses: vec!["192.0.2.2".to_owned()],
            ..Facts::default()
        };
        let target = Target::new(&server.url(), Secret::new("API_KEY", TOKEN), facts, false).expect("a URL");
        let report = judge(&target, only("search.*")).await;
        let surveyed = report.checks.iter().find(|check| check.id == "search.match-any-port.ports");
        assert_eq!(surveyed.map(|check| &check.outcome), Some(&Outcome::Passed));
        for check in &report.checks {
            assert!(!matches!(check.outcome, Outcome::Error(_)), "{}: {:?}", check.id, check.outcome);
        }
    }
}
