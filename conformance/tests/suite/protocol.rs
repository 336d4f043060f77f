//! Accounts that may not use the default protocol.

use sallyport_conformance::run::Glob;
use sallyport_conformance::{
    Budget, Contract, Facts, Options, Outcome, Secret, Selection, SilentObserver, Suite, Target,
};

use crate::canned::{CannedServer, Reply, TOKEN};

const SHORT: &str = r#"{"code": 40303, "message": "no entitlement for this protocol"}"#;
const INVALID: &str = r#"{"code": 40001, "message": "invalid"}"#;
const GATEWAY: &str = r#"{"code": 0, "success": true, "msg": "", "request_ip": "127.0.0.1", "data": [{"ip": "gw.invalid", "port": 1}]}"#;

#[tokio::test]
async fn extractions_name_the_protocol_of_the_account() {
    let server = CannedServer::start(|request| {
        let sends = |pair: &str| request.line.split(['?', '&', ' ']).any(|sent| sent == pair);
        match () {
            () if !request.line.contains("/proxy/extract") => Reply::groups(),
            () if !sends("protocol=socks5") => Reply::json(403, SHORT),
            () if sends("num=1") => Reply::json(200, GATEWAY),
            () => Reply::json(400, INVALID),
        }
    })
    .await;
    let facts = Facts { entitled_protocols: vec!["socks5".to_owned()], ..Facts::default() };
    let contract = Contract::embedded().expect("contract");
    let target = Target::new(&server.url(), Secret::new("API_KEY", TOKEN), facts, false).expect("a target");
    let only = ["extract.num-range.boundaries", "extract.num-required.absent", "extract.protocol.listed"];
    let selection = Selection { only: only.map(Glob::new).to_vec(), skip: Vec::new() };
    let options =
        Options { selection, budget: Budget { gateways: 100, ..Budget::default() }, ..Options::default() };
    let report = Suite::new(contract, &target, options).expect("a suite").run(&SilentObserver).await;
    let cases = report.checks.iter().flat_map(|check| check.cases.iter().map(move |case| (check.id, case)));
    let of_query = cases.filter(|(_, case)| case.label.starts_with("json/") || case.label == "json");
    let outcomes: Vec<_> = of_query.map(|(id, case)| (id, case.label.as_str(), &case.outcome)).collect();
    let passed = outcomes.iter().filter(|(_, _, outcome)| **outcome == Outcome::Passed).count();
    assert!(passed > 30, "{outcomes:?}");
    for (id, label, outcome) in outcomes {
        assert!(matches!(outcome, Outcome::Passed | Outcome::Skipped(_)), "{id}/{label}: {outcome:?}");
    }
}
