//! Accounts that may not use the default protocol.

use sallyport_conformance::{Facts, Outcome};

use super::canned::{CannedServer, Reply};

#[tokio::test]
async fn extractions_name_the_protocol_of_the_account() {
    let server = CannedServer::extracting(|asked| match (asked.param("protocol"), asked.param("num")) {
        (Some("socks5"), Some("1")) => Reply::gateways(1),
        (Some("socks5"), _) => Reply::rejected(400, 40001, "invalid"),
        _ => Reply::rejected(403, 40303, "no entitlement"),
    })
    .await;
    let facts = Facts { entitled_protocols: vec!["socks5".to_owned()], ..Facts::default() };
    let report = server.run_with("extract.num-range.boundaries", facts).await;
    let cases = report.checks.iter().flat_map(|check| check.cases.iter().map(move |case| (check.id, case)));
    let of_query = cases.filter(|(_, case)| case.label.starts_with("json/") || case.label == "json");
    let outcomes: Vec<_> = of_query.map(|(id, case)| (id, case.label.as_str(), &case.outcome)).collect();
    let passed = outcomes.iter().filter(|(_, _, outcome)| **outcome == Outcome::Passed).count();
    assert!(passed > 30, "{outcomes:?}");
    for (id, label, outcome) in outcomes {
        assert!(matches!(outcome, Outcome::Passed | Outcome::Skipped(_)), "{id}/{label}: {outcome:?}");
    }
}
