//! Environments that are not open, wholly or in part, and one whose numbers are as large as numbers get.

use sallyport_conformance::contract::Contract;
use sallyport_conformance::{Facts, Outcome, Secret, Target, Verdict};

use super::canned::{CannedRequest, CannedServer, Reply, TOKEN, judge, only};

#[tokio::test]
async fn an_environment_that_serves_nothing_is_not_judged() {
    let server = CannedServer::start(|_| Reply::json(404, r#"{"message": "no such path"}"#)).await;
    // Without a gateway to take, the other operations suffice.
    for gateways in [25, 0] {
        let report = server.run("all.prefix", |options| options.budget.gateways = gateways).await;
        let stopped = report.stopped.unwrap_or_default();
        assert!(stopped.contains("check the base URL"), "{stopped}");
        assert_eq!((report.checks.len(), report.verdict), (0, Verdict::WrongTarget));
    }
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
        let rejection = || Reply::rejected(403, 40300, "no");
        if asked.line.contains("/groups") { Reply::groups() } else { rejection() }
    })
    .await;
    let report = server.run("all.token-required.missing", |_| {}).await;
    assert!(report.checks[0].findings.len() >= 5, "{:?}", report.checks[0].findings);
    assert_eq!(report.verdict, Verdict::Findings);
}

/// Nearly every check of extractions would be inconclusive, after hundreds of requests.
#[tokio::test]
async fn an_account_that_may_not_extract_ends_the_run_at_once_with_the_cause() {
    let rejection = || Reply::rejected(403, 40304, "real-name verification is missing");
    for empty_region in [None, Some("ATA".to_owned())] {
        let server = CannedServer::extracting(move |_| rejection()).await;
        let report = server.run_with("*", Facts { empty_region, ..Facts::default() }).await;
        assert_eq!((report.checks.len(), report.verdict), (0, Verdict::AccessDenied));
        let stopped = report.stopped.unwrap_or_default();
        assert!(stopped.contains("HTTP 403 with code 40304: real-name verification is missing"), "{stopped}");
        assert!(stopped.contains("--skip extract"), "{stopped}");
        assert!(report.usage.requests < 20, "{:?}", report.usage);
        // The other operations can be tested.
        let report = server.run("groups", |_| {}).await;
        assert!(!report.checks.is_empty() && !report.verdict.prevents_testing(), "{}", report.conclusion);
    }
}

/// It took a gateway for each case, and nothing named it.
#[tokio::test]
async fn a_region_that_is_wrongly_supplied_as_empty_is_named_after_a_few_gateways() {
    let server = CannedServer::extracting(|_| Reply::gateways(1)).await;
    let facts = Facts { empty_region: Some("ATA".to_owned()), ..Facts::default() };
    let report = server.run_with("extract.*empty*", facts).await;
    let told = |outcome: &Outcome| matches!(outcome, Outcome::Skipped(why) if why.contains("SALLYPORT_EMPTY_REGION"));
    for check in &report.checks {
        let names_fact = match check.id {
            "extract.region.empty" => {
                check.findings.iter().all(|found| found.facts == ["SALLYPORT_EMPTY_REGION"])
            }
            // No credential was supplied.
            "extract.link-credential.empty-region" => true,
            _ => told(&check.outcome),
        };
        assert!(names_fact, "{}: {:?}", check.id, check.outcome);
    }
    assert_eq!((report.verdict, report.totals.failed), (Verdict::Findings, 1));
    assert!(report.usage.gateways <= 10, "{:?}", report.usage);
}

/// The code of an expired token is another one than that of an unknown token.
#[tokio::test]
async fn a_token_that_every_operation_rejects_ends_the_run_at_once() {
    let rejection = |code: u32| Reply::json(401, &format!(r#"{{"code": {code}, "message": "expired"}}"#));
    let by_code = |code: u32| Reply::json(200, &format!(r#"{{"code": {code}, "message": "unknown"}}"#));
    let replies: [fn(&CannedRequest) -> u32; 2] =
        [|asked| if asked.has_token() { 40103 } else { 40102 }, |_| 40102];
    for (code, reply) in replies.into_iter().zip([&rejection as &(dyn Fn(u32) -> Reply + Sync), &by_code]) {
        let replies = [reply(40102), reply(40103)];
        let server =
            CannedServer::start(move |asked| replies[usize::from(code(asked) == 40103)].clone()).await;
        let report = server.run("*", |_| {}).await;
        assert_eq!(
            (report.checks.len(), report.verdict),
            (0, Verdict::TokenRejected),
            "{:?}",
            report.stopped
        );
        assert!(report.usage.requests <= 6, "{:?}", report.usage);
    }
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
        let surveyed = report.checks.iter().find(|check| check.id == "search.country.exact");
        assert_eq!(surveyed.map(|check| &check.outcome), Some(&Outcome::Passed));
        for check in &report.checks {
            assert!(!matches!(check.outcome, Outcome::Error(_)), "{}: {:?}", check.id, check.outcome);
        }
    }
}

/// What the second account has of its own, or gets besides, says nothing about the first one.
#[tokio::test]
async fn only_the_instances_of_the_other_account_are_counted() {
    const EMPTY: &str = "token-of-an-empty-account";
    let server = CannedServer::start(|asked| {
        let item = |id: u32| format!(r#"{{"instanceId": {id}, "ip": "192.0.2.{id}", "port": 1}}"#);
        let items = match asked.line.contains(EMPTY) {
            true => [item(1), item(3)],
            false => [item(1), item(2)],
        };
        let data = format!(r#"{{"items": [{}], "page": 1, "pageSize": 20, "total": 2}}"#, items.join(","));
        let envelope = r#""code": 200, "message": "ok", "requestId": "r-1""#;
        Reply::json(200, &format!(r#"{{{envelope}, "data": {data}}}"#))
    })
    .await;
    let facts = Facts {
        empty_token: Some(Secret::new("EMPTY_API_KEY", EMPTY)),
        own_addresses: vec!["192.0.2.1".to_owned()],
        ..Facts::default()
    };
    let report = server.run_with("all.own-account.empty", facts).await;
    let [finding] = &report.checks[0].findings[..] else { panic!("{:?}", report.checks[0]) };
    assert_eq!(finding.expected, "no instances and a total of 0, of the first account");
    assert_eq!(finding.actual, "1 instance and a total of 2");
}
