//! Explorations: nothing is found on a conforming server, faults of combinations are found and shrunk, a seed repeats its requests.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use libtest_mimic::Failed;
use sallyport_conformance::explore::{Exploration, ID};
use sallyport_conformance::lab::{Backend, Context, Handler, Kind, ProxiedRequest, Reply, Row, Upstream};
use sallyport_conformance::report::Format;
use sallyport_conformance::run::Glob;
use sallyport_conformance::{Facts, Options, Report, Selection, Target, Verdict};
use serde_json::Value;

use crate::judge::{Judge, run};
use crate::world::{proxy, target};

/// Requests of an exploration here. Time bounds none of them.
const REQUESTS: u64 = 600;

/// A server that conforms, and a list of what it was asked.
struct RecordingServer(Upstream, Arc<Mutex<Vec<Value>>>);

impl Handler for RecordingServer {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        if let Ok(body) = serde_json::from_slice(&request.body) {
            self.1.lock().expect("whole").push(body);
        }
        self.0.call(&request).await
    }
}

async fn explore(target: &Target, seed: u64, requests: u64) -> Report {
    let exploration = Exploration { time: Duration::from_secs(500), requests, seed };
    let selection = Selection { only: vec![Glob::new(ID)], skip: Vec::new() };
    run(target, Options { selection, explore: Some(exploration), ..Options::default() }).await
}

/// Nothing is found on the reference server, whatever the seed, and what is sent follows from the seed.
pub fn finds_nothing_without_a_fault(judge: &Judge) -> Result<(), Failed> {
    judge.block_on(async {
        let mut sequences = Vec::new();
        for seed in [1, 2, 3, 1] {
            let asked = Arc::new(Mutex::new(Vec::new()));
            let server = RecordingServer(judge.lab.backend.upstream.clone(), Arc::clone(&asked));
            let proxy = proxy(server, false).await;
            let report = explore(&target(&judge.lab.backend, &proxy.base_url()), seed, REQUESTS / 2).await;
            let explored = report.explored.ok_or("nothing was explored")?;
            if report.verdict != Verdict::Conforms || explored.steps < 40 || explored.sent < REQUESTS / 2 {
                return Err(Failed::from(format!("seed {seed}: {explored:?} {:?}", report.checks)));
            }
            sequences.push(std::mem::take(&mut *asked.lock().expect("whole")));
        }
        match sequences[0] == sequences[3] && sequences[0] != sequences[1] {
            true => Ok(()),
            false => Err(Failed::from("requests that do not follow from the seed")),
        }
    })
}

/// Faults that no request with one thing alone shows, and how many items the shrunk searches have at most: one more than the fault
/// needs where a second spelling of an address is what makes the batch too long.
fn faults() -> impl Iterator<Item = (&'static Row, usize)> {
    let rows = Row::parse("explore.txt", include_str!("explore.txt"), Kind::Fault).expect("rows");
    rows.iter().zip([2, 4, 22])
}

/// Each of the faults is found, and the requests that show it are small.
pub fn finds_faults_of_combinations(judge: &Judge) -> Result<(), Failed> {
    const SEED: u64 = 7;
    judge.block_on(async {
        for (fault, most_items) in faults() {
            let id = &fault.id;
            let proxy = proxy(fault.server(Context::new(&judge.lab.backend)), false).await;
            let report = explore(&target(&judge.lab.backend, &proxy.base_url()), SEED, 4 * REQUESTS).await;
            let check = report.checks.iter().find(|check| check.id == ID).ok_or("it did not run")?;
            if fault.failure().is_some() || check.findings.is_empty() || report.verdict != Verdict::Findings {
                return Err(Failed::from(format!("{id} is not found: {:?}", report.explored)));
            }
            let bodies = check.exchanges.iter().filter_map(|exchange| exchange.request_body.as_deref());
            let sizes: Vec<(usize, usize)> = bodies.map(size).collect();
            // Two filters belong to the fault, or one and the page; a relation may add one.
            if sizes.iter().any(|(items, filters)| *items > most_items || *filters > 3) {
                return Err(Failed::from(format!("{id}: {sizes:?} {:?}", check.findings)));
            }
        }
        Ok(())
    })
}

/// How many items and filters a search has.
fn size(body: &str) -> (usize, usize) {
    let body: Value = serde_json::from_str(body).expect("a search has a JSON body");
    let members = body.as_object().expect("an object");
    let filters = members.keys().filter(|key| !matches!(key.as_str(), "ips" | "page" | "pageSize"));
    (body["ips"].as_array().map_or(0, Vec::len), filters.count())
}

/// The program explores again what a report tells, and finds it again.
pub fn is_replayed_from_a_report(judge: &Judge) -> Result<(), Failed> {
    judge.block_on(async {
        let (fault, _) = faults().last().expect("a fault");
        let proxy = proxy(fault.server(Context::new(&judge.lab.backend)), false).await;
        let Backend { facts, token, .. } = &*judge.lab.backend;
        let facts = Facts { own_addresses: facts.own_addresses.clone(), ..Facts::default() };
        let addresses = facts.own_addresses.join(",");
        let target = Target::new(&proxy.base_url(), token.clone(), facts, false)?;
        let report = explore(&target, 7, REQUESTS).await;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("report.json");
        let written = Format::Json.render(&report)?;
        let mut endless: Value = serde_json::from_str(&written)?;
        endless["explored"]["seconds"] = u64::MAX.into();
        endless["explored"]["requests"] = u64::MAX.into();
        // Whatever a report says, the limits of this run hold.
        for (report, limit) in [(written, 8_000), (endless.to_string(), 1_500)] {
            std::fs::write(&file, report)?;
            let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
            command.arg("replay").arg(&file).args([ID, "--profile", "full", "--base-url", &proxy.base_url()]);
            command
                .args(["--max-requests", &limit.to_string()])
                .env("SALLYPORT_API_KEY", token.expose())
                .env("SALLYPORT_OWN_ADDRESSES", &addresses);
            let output = tokio::task::spawn_blocking(move || command.output()).await??;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let cost = text.lines().find_map(|line| line.trim().strip_prefix("cost ")?.split(' ').next());
            let is_within = cost.and_then(|sent| sent.parse().ok()).is_some_and(|sent: u64| sent <= limit);
            if output.status.code() != Some(1) || !text.contains("seed 7, step ") || !is_within {
                return Err(Failed::from(format!("{:?} {text} {:?}", output.status, output.stderr)));
            }
        }
        Ok(())
    })
}
