//! The two-sided proof of the suite: every server that breaks a clause is caught by a check that cites the clause, and no
//! server that only decides what the contract leaves open ever fails.

#![expect(
    clippy::expect_used,
    reason = "the harness of a test fails by panicking, and says what it expected"
)]
#![expect(clippy::type_complexity, reason = "each such type of a tamper stands in one place only")]
#![expect(
    unreachable_pub,
    reason = "a test binary has no outside; `pub` marks what a module shows to the others"
)]

mod fault;
mod faults;
mod proxy;
mod stranger;
mod variation;
mod variations;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use sallyport_conformance::check::{Case, Check, Cost, Outcome, Scope, Severity};
use sallyport_conformance::contract::{Clause, OperationId};
use sallyport_conformance::run::Glob;
use sallyport_conformance::{Contract, Options, Report, Selection, Silent, Suite, Target, registry};

use fault::{Fault, Faulty, Scene};
use proxy::{Proxy, Tamper, Upstream};
use stranger::Stranger;
use variation::Varied;
use world::World;

/// Faults and variations that are tried at the same time.
const AT_ONCE: usize = 4;

/// Fewest faults; may only grow.
const FAULTS: usize = 900;

/// Fewest conforming variations; may only grow.
const VARIATIONS: usize = 119;

/// Checks that do not apply to the reference server: it is reached without TLS and never throttles.
const EXPECTED_SKIPS: [&str; 2] = ["all.https.verified", "all.throttled-retry-after.watched"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_is_caught() {
    let world = World::start().await;
    let faults: Vec<Arc<Fault>> = faults::all().into_iter().filter(chosen).map(Arc::new).collect();

    let trials = faults.iter().map(|fault| trial(&world, fault));
    let results: Vec<(&Fault, Result<(), String>)> =
        futures::stream::iter(trials).buffer_unordered(AT_ONCE).collect().await;

    let mut table: BTreeMap<Clause, (usize, usize)> = BTreeMap::new();
    for (fault, result) in &results {
        let (tried, killed) = table.entry(fault.clause()).or_default();
        *tried += 1;
        *killed += usize::from(result.is_ok());
    }
    println!("{:<34} faults caught", "clause");
    for (clause, (tried, killed)) in &table {
        println!("{clause:<34} {tried:>6} {killed:>6}");
    }
    let mut survivors: Vec<_> =
        results.iter().filter_map(|(fault, result)| Some((fault, result.as_ref().err()?))).collect();
    survivors.sort_by_key(|(fault, _)| fault.id);
    println!("{:<34} {:>6} {:>6}", "all", results.len(), results.len() - survivors.len());
    let survivors: Vec<_> =
        survivors.iter().map(|(fault, why)| format!("{}: {}\n    {why}", fault.id, fault.breaks)).collect();
    assert!(survivors.is_empty(), "{} faults survive:\n{}", survivors.len(), survivors.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_untampered_server_passes_every_check() {
    let world = World::start().await;
    let proxy = Proxy::start(world.upstream.clone(), Untouched).await;
    let report = run(&world.target(&proxy.base_url()), Selection::default()).await;
    let bad: Vec<_> = report
        .checks
        .iter()
        .filter(|check| !matches!(check.outcome, Outcome::Passed) && !EXPECTED_SKIPS.contains(&check.id))
        .map(|check| format!("{}: {:?} {:?}", check.id, check.outcome, check.findings.first()))
        .collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_conforming_variation_fails() {
    let world = World::start().await;
    let variations: Vec<_> =
        variations::all().into_iter().filter(|variation| wanted(variation.id)).map(Arc::new).collect();

    let trials = variations.iter().map(|variation| async {
        let varied = Varied { variation: Arc::clone(variation), scene: Scene::new(&world) };
        let proxy = Proxy::start_with(world.upstream.clone(), varied, variation.capitals).await;
        let target = (variation.target)(&world, &proxy.base_url());
        (variation.id, run(&target, Selection::default()).await)
    });
    let mut reports = futures::stream::iter(trials).buffer_unordered(AT_ONCE);
    let mut failures = Vec::new();
    while let Some((id, report)) = reports.next().await {
        println!("{id:<44} {:?} in {} ms", report.totals, report.elapsed_ms);
        let before = failures.len();
        for check in &report.checks {
            match &check.outcome {
                Outcome::Passed | Outcome::Skipped(_) => {}
                Outcome::Warning | Outcome::Inconclusive(_) => {
                    println!("    {}: {:?}", check.id, check.outcome);
                }
                Outcome::Failed | Outcome::Flaky(_) | Outcome::ExpectedFailure(_) | Outcome::Error(_) => {
                    let finding = check.findings.iter().find(|finding| finding.severity == Severity::Fail);
                    let what = finding.map(|found| {
                        format!("{}: expected {}; came {}", found.clause, found.expected, found.actual)
                    });
                    failures.push(format!("{id}: {}: {:?} {what:?}", check.id, check.outcome));
                }
            }
        }
        // A check that gave up would have seen nothing.
        let default = report.checks.iter().find(|check| check.id == "extract.regions-default.global");
        if id.contains("at-first") && default.is_none_or(|check| check.outcome != Outcome::Passed) {
            failures.push(format!("{id}: {default:?}"));
        }
        if report.totals.passed == 0 {
            failures.push(format!("{id}: nothing passed: {:?}", report.stopped));
        }
        failures[before..].iter().for_each(|failure| println!("    {failure}"));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_of_other_makers_conforms() {
    let stranger = Stranger::new();
    let proxy = Proxy::start(Upstream::new("http://127.0.0.1"), Stranger::new()).await;
    let report = run(&stranger.target(&proxy.base_url()), Selection::default()).await;
    let unclear = |outcome: &Outcome| !matches!(outcome, Outcome::Passed);
    let bad: Vec<_> = report
        .checks
        .iter()
        .filter(|check| unclear(&check.outcome) && !EXPECTED_SKIPS.contains(&check.id))
        .map(|check| format!("{}: {:?} {:?}", check.id, check.outcome, check.findings.first()))
        .collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn faults_and_variations_are_named_once_and_do_not_get_fewer() {
    let faults = faults::all();
    let ids: BTreeSet<_> = faults.iter().map(|fault| fault.id).collect();
    assert_eq!(ids.len(), faults.len(), "two faults have one id");
    assert!(faults.iter().all(|fault| fault.id.contains('/') && fault.breaks.ends_with('.')));
    assert!(faults.len() >= FAULTS, "{} faults", faults.len());

    let variations = variations::all();
    let ids: BTreeSet<_> = variations.iter().map(|variation| variation.id).collect();
    assert_eq!(ids.len(), variations.len(), "two variations have one id");
    assert!(variations.len() >= VARIATIONS, "{} variations", variations.len());
}

#[test]
fn every_clause_with_a_check_has_a_fault() {
    let broken: BTreeSet<_> = faults::all().iter().map(Fault::clause).collect();
    let checked: BTreeSet<_> = registry().iter().flat_map(|check| check.clauses.iter().copied()).collect();
    // The suite speaks plain http to loopback alone, so there is nothing here that could break this clause.
    let unproven: Vec<_> =
        checked.difference(&broken).filter(|clause| **clause != Clause::AllHttps).collect();
    assert!(unproven.is_empty(), "no fault breaks {unproven:?}");
}

/// Runs the checks that cite the broken clause, those that send least first, until one speaks; and the whole operation when
/// only passive checks could speak and what those were shown was in order.
async fn trial<'a>(world: &Arc<World>, fault: &'a Arc<Fault>) -> (&'a Fault, Result<(), String>) {
    let clause = fault.clause();
    let citing = registry().into_iter().filter(|check| check.clauses.contains(&clause));
    let (passive, mut active): (Vec<_>, Vec<_>) = citing.partition(|check| check.is_passive());
    active.sort_by_cached_key(|check| price(world, check));
    let passive: Vec<&str> = passive.iter().map(|check| check.id).collect();
    if !passive.is_empty() {
        let something_to_judge = concerned(clause).filter_map(|operation| cheapest(world, operation));
        active.splice(0..0, something_to_judge);
    }
    let mut silent = Vec::new();
    for check in active {
        match attempt(world, fault, &[passive.as_slice(), &[check.id]].concat()).await {
            Ok(()) => return (fault, Ok(())),
            Err(outcomes) => silent.push(outcomes),
        }
    }
    if !passive.is_empty() {
        let all: Vec<_> = concerned(clause).map(OperationId::prefix).collect();
        if attempt(world, fault, &[passive, all].concat()).await.is_ok() {
            return (fault, Ok(()));
        }
    }
    (fault, Err(silent.join("; ")))
}

/// Runs some checks against a fault; what came out when none of them cites the clause.
async fn attempt(world: &Arc<World>, fault: &Arc<Fault>, only: &[&str]) -> Result<(), String> {
    let faulty = Faulty { fault: Arc::clone(fault), scene: Scene::new(world) };
    let proxy = Proxy::start(world.upstream.clone(), faulty).await;
    let only = only.iter().map(|id| Glob::new(*id)).collect();
    let report = run(&world.target(&proxy.base_url()), Selection { only, skip: Vec::new() }).await;
    let cites = report
        .checks
        .iter()
        .flat_map(|check| &check.findings)
        .any(|finding| finding.clause == fault.clause() && finding.severity == Severity::Fail);
    if cites {
        return Ok(());
    }
    let outcomes = report.checks.iter().filter(|check| check.clauses.contains(&fault.clause()));
    let outcomes: Vec<_> = outcomes.map(|check| format!("{} {:?}", check.id, check.outcome)).collect();
    Err(outcomes.join("; "))
}

async fn run(target: &Target, selection: Selection) -> Report {
    // A fault that shows once only is a fault, so nothing is tried again.
    let mut options = Options { selection, retries: 0, ..Options::default() };
    options.budget.gateways *= 4;
    options.budget.wall = Duration::from_secs(600);
    let contract = Contract::embedded().expect("the embedded contract is complete");
    Suite::new(contract, target, options).expect("the suite is set up").run(&Silent).await
}

fn concerned(clause: Clause) -> impl Iterator<Item = OperationId> {
    let prefix = clause.id().split('.').next().unwrap_or_default().to_owned();
    OperationId::ALL.into_iter().filter(move |id| prefix == "all" || id.prefix() == prefix)
}

/// The active check of an operation that sends least, as something for passive checks to judge.
fn cheapest(world: &World, operation: OperationId) -> Option<&'static Check> {
    let active = registry()
        .into_iter()
        .filter(|check| check.operation == Some(operation) && check.needs.is_empty() && !check.is_passive());
    active.min_by_key(|check| price(world, check))
}

/// Requests and gateways of all cases of a check.
fn price(world: &World, check: &Check) -> (u32, u32) {
    let scope = Scope { contract: world.contract, facts: &world.facts };
    let cost: Cost = check.cases(&scope).iter().map(Case::cost).sum();
    (cost.requests, cost.gateways)
}

fn chosen(fault: &Fault) -> bool {
    wanted(fault.id)
}

/// `PROOF=text` narrows the tests to the faults and variations with that text in their id.
fn wanted(id: &str) -> bool {
    std::env::var("PROOF").map_or(true, |text| id.contains(&text))
}

/// A proxy that changes nothing.
struct Untouched;

impl Tamper for Untouched {
    async fn pass(&self, seen: proxy::Seen, upstream: &proxy::Upstream) -> proxy::Reply {
        upstream.call(&seen).await
    }
}
