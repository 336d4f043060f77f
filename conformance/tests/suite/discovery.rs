//! A run with a token alone looks for regions without gateways and with a few, and for addresses of the account.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sallyport_conformance::embedded::Reference;
use sallyport_conformance::run::{Glob, Profile};
use sallyport_conformance::target::Fact;
use sallyport_conformance::{
    Contract, Facts, Options, Outcome, Report, SilentObserver, Suite, Target, Verdict,
};

use super::canned::{CannedServer, Reply};

#[tokio::test]
async fn a_token_alone_judges_what_an_empty_region_and_addresses_show() {
    let reference = Reference::start().await.expect("started");
    let known = reference.target();
    let target =
        Target::new(known.base().as_str(), known.token.clone(), Facts::default(), false).expect("a target");
    let expected = known.facts.empty_region.as_ref().map(|region| format!("\"{region}\""));
    let profile = Profile::Production;
    let mut options = Options { budget: profile.budget(), profile, ..Options::default() };
    options.budget.rate = None;
    let contract = Contract::embedded().expect("contract");
    let suite = Suite::new(contract, &target, options).expect("a suite");
    let before =
        suite.plan().detection(sallyport_conformance::detection::Matrix::embedded().expect("faults"));
    let report = suite.run(&SilentObserver).await;
    reference.close().await;

    let value = |fact: Fact| {
        let found = report.discovered.iter().find(|discovered| discovered.variable == fact.variable());
        found.map(|discovered| discovered.value.clone())
    };
    assert_eq!(value(Fact::EmptyRegion), expected);
    let addresses = value(Fact::OwnAddresses).expect("addresses");
    assert!(addresses.starts_with("[\"192.0.2.1\", "), "{addresses}");
    assert_eq!(report.verdict, Verdict::Conforms, "{:?} {:?}", report.totals, report.stopped);
    assert!(report.usage.gateways <= profile.budget().gateways, "{:?}", report.usage);
    assert!(report.detection.noticed > before.noticed, "{} of {}", report.detection.noticed, before.noticed);
    let shortage = report.checks.iter().find(|check| check.id == "extract.shortage-retry-after.empty-region");
    assert_eq!(shortage.map(|check| &check.outcome), Some(&Outcome::Passed));
    let partition = report.checks.iter().find(|check| check.id == "search.paging.partition");
    assert_eq!(partition.map(|check| &check.outcome), Some(&Outcome::Passed));
}

/// Runs a check that needs addresses against a service that responds to searches with `search`, which gets the asked addresses.
/// Counts the searches that come before any other.
async fn run_with_searches(search: fn(&str) -> Reply) -> (Report, usize) {
    let searches = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&searches);
    let server = CannedServer::start(move |request| {
        if !request.line.contains("/instances/search") {
            return Reply::groups();
        }
        count.fetch_add(1, Ordering::SeqCst);
        search(&request.body)
    })
    .await;
    let report = server.run("search.city.exact", |_| {}).await;
    (report, searches.load(Ordering::SeqCst))
}

fn no_instances() -> Reply {
    let data = r#"{"items": [], "page": 1, "pageSize": 1000, "total": 0}"#;
    Reply::json(200, &format!(r#"{{"code": 200, "message": "ok", "requestId": "1", "data": {data}}}"#))
}

#[tokio::test]
async fn a_service_without_instances_at_reserved_addresses_gets_three_searches() {
    let (report, searches) = run_with_searches(|_| no_instances()).await;
    assert_eq!((report.discovered.len(), searches), (0, 3));
    assert!(matches!(report.checks[0].outcome, Outcome::Skipped(_)), "{:?}", report.checks[0].outcome);
}

#[tokio::test]
async fn a_rejected_search_ends_the_search_for_addresses() {
    let (report, searches) = run_with_searches(|_| Reply::rejected(403, 403, "closed")).await;
    assert_eq!((report.discovered.len(), searches), (0, 1));
}

#[tokio::test]
async fn only_addresses_that_were_asked_for_are_the_accounts_own() {
    let (report, _) = run_with_searches(|body| {
        let asked = if body.contains("\"198.51.100.9\"") { "198.51.100.9" } else { "2001:db8::7" };
        let item = |ip: &str| format!(r#"{{"ip": "{ip}"}}"#);
        let items = [item(asked), item("8.8.8.8"), item("no address"), item("203.0.113.255")].join(",");
        let data = format!(r#"{{"items": [{items}], "page": 1, "pageSize": 1000, "total": 4}}"#);
        Reply::json(200, &format!(r#"{{"code": 200, "message": "ok", "requestId": "1", "data": {data}}}"#))
    })
    .await;
    assert_eq!(discovered_as(Fact::OwnAddresses, &report), ["[\"198.51.100.9\", \"2001:db8::7\"]"]);
}

/// The values of the facts that a run discovered.
fn discovered(report: &Report) -> Vec<String> {
    discovered_as(Fact::EmptyRegion, report)
}

fn discovered_as(fact: Fact, report: &Report) -> Vec<String> {
    let others = report.discovered.iter().filter(|discovered| discovered.variable != fact.variable());
    assert_eq!(others.count(), 0, "{:?}", report.discovered);
    report.discovered.iter().map(|discovered| discovered.value.clone()).collect()
}

fn shortage() -> Reply {
    Reply::rejected(503, 50301, "none").with("Retry-After", "1")
}

/// Runs one check that needs an empty region against a service, and counts the extractions that name one.
async fn run(gateways: u64, supply: Supply) -> (Report, usize) {
    run_checks("extract.envelope.empty-region/*num*", gateways, supply).await
}

/// What an extraction asks for, and how many came before.
struct Extraction<'a> {
    region: Option<&'a str>,
    is_socks: bool,
    num: &'a str,
    number: usize,
}

type Supply = fn(&Extraction<'_>) -> Reply;

async fn run_checks(only: &str, gateways: u64, supply: Supply) -> (Report, usize) {
    let named = Arc::new(AtomicUsize::new(0));
    let (count, extractions) = (Arc::clone(&named), AtomicUsize::new(0));
    let server = CannedServer::extracting(move |asked| {
        let region = asked.param("regions").or_else(|| asked.param("country"));
        count.fetch_add(usize::from(region.is_some()), Ordering::SeqCst);
        let is_socks = asked.param("protocol") == Some("socks5");
        let (num, number) = (asked.param("num").unwrap_or("1"), extractions.fetch_add(1, Ordering::SeqCst));
        supply(&Extraction { region, is_socks, num, number })
    })
    .await;
    let report = server
        .run(only, |options| {
            options.budget.gateways = gateways;
            options.selection.only = only.split(' ').map(Glob::new).collect();
        })
        .await;
    (report, named.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_service_that_knows_no_regions_costs_one_gateway() {
    let (report, named) = run(25, |_| Reply::gateways(1)).await;
    assert_eq!((discovered(&report).len(), named, report.usage.gateways), (0, 1, 1));
}

#[tokio::test]
async fn an_account_without_the_default_protocol_uses_the_one_that_is_served() {
    let only = "extract.num-range.boundaries extract.envelope.empty-region/*num*";
    let (report, _) = run_checks(only, 25, |asked| match asked.num {
        _ if !asked.is_socks => Reply::rejected(403, 40303, "no entitlement"),
        "1" if asked.region.is_none() => Reply::gateways(1),
        _ => Reply::rejected(400, 40000, "num or region"),
    })
    .await;
    assert_eq!(discovered_as(Fact::EntitledProtocols, &report), ["[\"socks5\"]"]);
    assert_eq!(report.verdict, Verdict::Conforms, "{:?}", report.totals);
    let passed =
        report.checks.iter().flat_map(|check| &check.cases).filter(|case| case.outcome == Outcome::Passed);
    assert!(passed.count() > 10);
}

#[tokio::test]
async fn a_service_that_is_short_of_gateways_everywhere_has_no_empty_region() {
    let (report, _) = run(25, |_| shortage()).await;
    assert_eq!((discovered(&report).len(), report.usage.gateways), (0, 0));
}

#[tokio::test]
async fn a_shortage_that_does_not_last_shows_no_empty_region() {
    let (report, _) = run(25, |asked| if asked.number == 0 { shortage() } else { Reply::gateways(1) }).await;
    assert_eq!(discovered(&report).len(), 0);
}

#[tokio::test]
async fn the_first_region_that_is_short_is_taken() {
    let (report, _) = run(25, |asked| match asked.region {
        Some("HMD") => shortage(),
        Some(_) => Reply::rejected(400, 40000, "unknown region"),
        None => Reply::gateways(1),
    })
    .await;
    assert_eq!(discovered(&report), ["\"HMD\""]);
}

/// The number of gateways that an extraction asks for.
fn num(asked: &Extraction<'_>) -> usize {
    asked.num.parse().expect("a number")
}

#[tokio::test]
async fn the_first_region_that_returns_a_few_is_scarce() {
    let (report, _) = run_checks("extract.region.scarce", 4_500, |asked| match asked.region {
        Some("MLT") => Reply::gateways(num(asked).min(7)),
        Some("JPN") | None => Reply::gateways(num(asked)),
        Some(_) => Reply::rejected(400, 40000, "unknown region"),
    })
    .await;
    assert_eq!(discovered_as(Fact::ScarceRegion, &report), ["\"MLT\""]);
    assert!(report.usage.gateways < 100, "{:?}", report.usage);
}

#[tokio::test]
async fn a_service_without_scarce_regions_costs_a_few_calls() {
    let (report, named) =
        run_checks("extract.region.scarce", 4_500, |asked| Reply::gateways(num(asked))).await;
    assert_eq!((discovered(&report).len(), named, report.usage.gateways), (0, 5, 500));
}

#[tokio::test]
async fn a_run_that_may_take_few_gateways_spends_none_on_it() {
    let (report, named) = run(5, |_| shortage()).await;
    assert_eq!((discovered(&report).len(), named), (0, 0));
}

#[tokio::test]
async fn a_discovered_region_that_gets_gateways_is_withdrawn() {
    let restocked: Supply =
        |asked| if asked.region.is_some() && asked.number < 8 { shortage() } else { Reply::gateways(1) };
    let of_another_protocol: Supply =
        |asked| if asked.region.is_some() && !asked.is_socks { shortage() } else { Reply::gateways(1) };
    for supply in [restocked, of_another_protocol] {
        let (report, _) = run_checks("extract.*empty*", 25, supply).await;
        assert_eq!(discovered(&report), ["\"ATA\""]);
        let unexpected: Vec<_> = report
            .checks
            .iter()
            .filter(|check| !matches!(check.outcome, Outcome::Passed | Outcome::Skipped(_)))
            .map(|check| format!("{}: {:?} {:?}", check.id, check.outcome, check.findings))
            .collect();
        assert!(unexpected.is_empty(), "{unexpected:?}");
    }
}
