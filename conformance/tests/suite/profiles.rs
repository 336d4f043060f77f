//! The profile that production gets, and a server that throttles.

use std::sync::Arc;
use std::time::Duration;

use sallyport_conformance::embedded::Reference;
use sallyport_conformance::run::Profile;
use sallyport_conformance::{Contract, Options, Outcome, SilentObserver, Suite, Verdict};
use sallyport_server::store::Store;
use sallyport_server::{Config, RunningServer};

use super::canned::judge;

/// What a profile asks for, but as fast as the server responds: at its own rate a run would take minutes.
fn hurried(profile: Profile) -> Options {
    let mut options = Options { budget: profile.budget(), profile, ..Options::default() };
    options.budget.rate = None;
    options
}

#[tokio::test]
async fn production_gets_a_gentle_run_that_comes_to_a_verdict() {
    let reference = Reference::start().await.expect("started");
    let profile = Profile::Production;
    let ceilings = profile.budget();
    let rate = ceilings.rate.expect("a rate").get();
    assert!(rate <= 10 && ceilings.gateways <= 50 && ceilings.concurrency <= 2);
    let contract = Contract::embedded().expect("contract");
    let suite = Suite::new(contract, reference.target(), hurried(profile)).expect("a suite");
    let planned = suite.plan.cost();
    let running: usize = suite.plan.planned.iter().map(|planned| planned.running().count()).sum();
    let report = suite.run(&SilentObserver).await;
    reference.close().await;
    assert_eq!(report.verdict, Verdict::Conforms, "{:?} {:?}", report.totals, report.stopped);
    assert!(report.usage.gateways <= ceilings.gateways && report.usage.requests <= ceilings.requests);
    assert!(report.usage.requests <= 700, "{:?} of {planned:?}", report.usage);
    let cases = report.checks.iter().flat_map(|check| &check.cases);
    let concluded = cases.filter(|case| case.outcome.concluded()).count();
    assert!(concluded > running, "{concluded} of {running}: what cases leave of the budget goes to others");
    assert!(
        Duration::from_secs(planned.requests.into()) / rate < ceilings.wall,
        "it ends in time at its own rate"
    );
}

#[tokio::test]
async fn a_server_that_throttles_is_ridden_out_and_seen_to_say_how_long() {
    let store = Arc::new(Store::temporary().expect("a database"));
    let rule = "*:address:4/s".parse().expect("a rule");
    let config = Config { rates: vec![rule], ..Config::loopback(store) };
    let reference = Reference::reached_by(config, RunningServer::base_url).await.expect("started");
    let report = judge(reference.target(), hurried(Profile::Smoke)).await;
    reference.close().await;
    let unclear: Vec<_> = report
        .checks
        .iter()
        .filter(|check| matches!(check.outcome, Outcome::Inconclusive(_)))
        .map(|check| format!("{}: {:?}", check.id, check.outcome))
        .collect();
    assert_eq!(report.verdict, Verdict::Conforms, "{unclear:?} {:?}", report.stopped);
    let throttled = report.checks.iter().find(|check| check.id == "all.throttled-retry-after.watched");
    assert_eq!(throttled.map(|check| &check.outcome), Some(&Outcome::Passed));
}
