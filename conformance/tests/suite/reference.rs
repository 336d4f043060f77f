//! The reference server: it conforms, and its responses hold still.

use std::collections::BTreeSet;
use std::io::Write as _;

use sallyport_conformance::check::Severity;
use sallyport_conformance::contract::OperationId;
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::snapshot;
use sallyport_conformance::wire::Usage;
use sallyport_conformance::{Budget, Contract, Options, SilentObserver, Suite, Target, Verdict, registry};
use sallyport_server::store::{Location, OpenMode, Store};
use sallyport_server::{Config, RunningServer};
use serde_json::json;

use super::canned::{judge, only};
use super::cluster::{Cluster, eventually};
use crate::support::program::Folder;

/// On SQLite, `tests/proof` says so.
#[tokio::test]
async fn it_conforms_on_postgresql() {
    let Some(cluster) = Cluster::start() else {
        // Past the test harness, which shows what is printed only for tests that fail.
        let _ = writeln!(std::io::stderr(), "SKIPPED on PostgreSQL: it is not installed");
        return;
    };
    let location: Location = cluster.url("postgres").parse().expect("a URL");
    let store = eventually(async || location.open(OpenMode::Create).await).await;
    let reference =
        Reference::reached_by(Config::loopback(store), RunningServer::base_url).await.expect("started");
    let report = judge(reference.target(), Options::default()).await;
    reference.close().await;
    let unclean: Vec<_> = report.checks.iter().filter(|check| !check.findings.is_empty()).collect();
    assert_eq!(report.verdict, Verdict::Conforms, "{unclean:#?}");
    assert_eq!(report.totals.skipped, 2, "HTTPS and throttling are not seen here, everything else is");
}

/// A plan tells what a check costs, and the budget of a production run relies on it.
#[tokio::test]
async fn no_check_costs_more_than_it_says() {
    let reference = Reference::start().await.expect("started");
    let contract = Contract::embedded().expect("contract");
    let mut dearer = Vec::new();
    for check in registry() {
        let suite = Suite::new(contract, reference.target(), only(check.id)).expect("a suite");
        let cost = suite.plan.cost();
        let Usage { requests, gateways, .. } = suite.run(&SilentObserver).await.usage;
        // One request asks whether anybody is there and accepts the token, and another whether the account may extract.
        let asked = 1 + u64::from(check.operation == Some(OperationId::Extract));
        let requests = requests.saturating_sub(asked);
        if requests > cost.requests.into() || gateways > cost.gateways.into() {
            dearer.push(format!("{}: {:?}, but {requests} requests, {gateways} gateways", check.id, cost));
        }
    }
    reference.close().await;
    assert!(dearer.is_empty(), "{}", dearer.join("\n"));
}

/// What holds still of its responses, unspecified behaviour included, each once. Messages and pages state limits of the document, and
/// a new limit is no change of the responses.
#[tokio::test]
async fn its_responses_are_stable() {
    let reference = Reference::start().await.expect("started");
    let contract = Contract::embedded().expect("contract");
    let budget = Budget { gateways: 1_000, ..Budget::default() };
    let options = Options { budget, ..Options::default() };
    let recorded = snapshot::record(contract, reference.target(), &options).await;
    reference.close().await;
    let (recorded, left_out) = recorded.expect("a recording");
    assert!(left_out.is_empty(), "{left_out:?}");
    let states_limit = |line: &&str| line.starts_with("body /message") || line.starts_with("body /data/page");
    let seen: BTreeSet<_> = recorded
        .entries
        .iter()
        .map(|(case, entry)| {
            let operation = case.split('.').take(1);
            operation
                .chain(entry.text.lines().filter(|line| !states_limit(line)))
                .collect::<Vec<_>>()
                .join("\n")
        })
        .collect();
    insta::assert_snapshot!(Vec::from_iter(seen).join("\n\n"));
}

/// A customer may have changed the first instance since the export; that hides nothing of the others.
#[tokio::test]
async fn a_wrong_field_is_found_behind_one_that_may_have_changed() {
    let reference = Reference::start().await.expect("started");
    let Target { token, facts, .. } = reference.target();
    let mut facts = facts.clone();
    let [first, .., last] = facts.known_instances.as_mut_slice() else { panic!("sample data") };
    first.fields.insert("status".to_owned(), json!("changed"));
    last.fields.insert("offerId".to_owned(), json!(1));
    let base = reference.target().base().as_str();
    let target = Target::new(base, token.clone(), facts, false).expect("a loopback address");
    let report = judge(&target, only("search.instance.known")).await;
    reference.close().await;
    let findings = report.checks.iter().flat_map(|check| &check.findings);
    let told: Vec<_> = findings.map(|finding| (finding.severity, finding.expected.clone())).collect();
    assert_eq!(report.verdict, Verdict::Findings, "{told:#?}");
    for (severity, field) in [(Severity::Warn, "status \"changed\""), (Severity::Fail, "offerId 1")] {
        assert!(told.iter().any(|(of, text)| *of == severity && text.contains(field)), "{field}: {told:#?}");
    }
}

#[test]
fn the_server_writes_what_is_known_of_its_sample_data() {
    let folder = Folder::new();
    let place = folder.path().join("facts");
    let store = Store::temporary().expect("a database");
    let seeded = sallyport_server::data::seed::seed(&store);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let sample = runtime.block_on(seeded).expect("sample data");
    sallyport_server::data::facts::write(&place, &sample).expect("a folder of facts");
    let mode = |path: &std::path::Path| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    };
    assert_eq!(mode(&place), 0o700);
    assert_eq!(mode(&place.join("api-key.txt")), 0o600);
    let file = place.join("conformance.toml");
    let config = sallyport_conformance::config::Config::read(&file, &|_| None).expect("a configuration");
    for fact in sallyport_conformance::target::Fact::ALL {
        assert!(config.facts.has(fact), "{fact:?}");
    }
    let Some(sallyport_conformance::config::TokenSource::Given(token)) = config.token else {
        panic!("a token of a file")
    };
    assert_eq!(token.expose(), sample.tokens.main.expose());
    assert!(sallyport_server::data::facts::write(&place, &sample).is_err(), "nothing is written over");
    let configuration = std::fs::read_to_string(&file).expect("it can be read");
    assert!(sample.tokens.list().iter().all(|it| !configuration.contains(it.token.expose())));
}
