//! The same servers for other tools: served one at a time, or for a table that holds the suite against Schemathesis.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sallyport_conformance::Verdict;
use serde_json::Value;

use crate::driver::{Measured, Mode, Until, decisions_of, facts, run};
use crate::faults::{self, Fault};
use crate::measure::in_parallel;
use crate::server::Server;
use crate::server::behaviour::{Decisions, Size};
use crate::server::world;
use crate::variations::{self, Variation};

/// Where the table stands.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/COMPARISON.md");
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/openapi.yaml");
const HOOKS: &str = include_str!("hooks.py");
/// Of so many faults and variations one is tried: another tool takes its seconds for each.
const EACH_FAULT: usize = 21;
const EACH_VARIATION: usize = 6;
/// Seconds that Schemathesis may take for one server.
const SECONDS: u64 = 10;

/// Serves a fault, a variation or, without an id, the conforming server, until standard input ends.
pub(crate) fn serve(id: &str) {
    let fault = faults::ALL.iter().find(|fault| fault.id == id);
    let variation = variations::ALL.iter().find(|variation| variation.id == id);
    assert!(id.is_empty() || fault.is_some() || variation.is_some(), "no fault or variation `{id}`");
    let decisions = fault.map(decisions_of).or_else(|| variation.map(Variation::decisions));
    let server = Served::start(fault.map_or("", |fault| fault.id), decisions.unwrap_or_default());
    println!("{}", server.url);
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest).expect("standard input ends");
}

/// A server in threads of its own.
struct Served {
    url: String,
    _runtime: tokio::runtime::Runtime,
}

impl Served {
    fn start(fault: &str, decisions: Decisions) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let server: Arc<Server> = Server::new(fault, decisions);
        let (address, _) = runtime.block_on(server.listen()).expect("a port of the loopback interface");
        Self { url: format!("http://{address}"), _runtime: runtime }
    }
}

/// What a tool made of one server.
struct Seen {
    /// What it objects to, in its own terms.
    failures: BTreeSet<String>,
    requests: u64,
    elapsed: Duration,
}

/// A tool with what it is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tool {
    Suite(Mode),
    Document,
    Hooks,
}

impl Tool {
    const ALL: [Self; 5] = [
        Self::Suite(Mode::Full),
        Self::Suite(Mode::Token),
        Self::Suite(Mode::ProductionToken),
        Self::Document,
        Self::Hooks,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Suite(Mode::Full) => "this suite, `full`, every fact",
            Self::Suite(Mode::Token) => "this suite, `full`, a token",
            Self::Suite(Mode::ProductionToken) => "this suite, `production`, a token",
            Self::Suite(Mode::Production) => "this suite, `production`, every fact",
            Self::Document => "Schemathesis, the document and a token",
            Self::Hooks => "Schemathesis, with hooks and addresses",
        }
    }

    fn see(self, program: &Path, fault: &str, decisions: Decisions) -> Seen {
        match self {
            Self::Suite(mode) => of_suite(&run(fault, decisions, mode, &["*"], Until::End)),
            Self::Document | Self::Hooks => {
                let served = Served::start(fault, decisions);
                schemathesis(program, &served.url, self == Self::Hooks)
            }
        }
    }
}

fn of_suite(measured: &Measured) -> Seen {
    let mut failures: BTreeSet<String> =
        measured.failures.iter().map(|(check, clause, _)| format!("{check} {clause}")).collect();
    if measured.verdict != Verdict::Conforms && failures.is_empty() {
        failures.insert("no verdict".to_owned());
    }
    Seen { failures, requests: measured.requests, elapsed: measured.elapsed }
}

/// Runs Schemathesis in a folder of its own and reads its report.
fn schemathesis(program: &Path, url: &str, has_hooks: bool) -> Seen {
    let folder = tempfile::tempdir().expect("a folder");
    let mut configuration = format!("[parameters]\napi_key = \"{}\"\n", world::MAIN);
    if has_hooks {
        configuration = format!("hooks = \"hooks\"\n{configuration}");
        std::fs::write(folder.path().join("hooks.py"), HOOKS).expect("a writable folder");
    }
    std::fs::write(folder.path().join("schemathesis.toml"), configuration).expect("a writable folder");
    let own = facts(Size::default()).own_addresses;
    let own: Vec<&String> = own.iter().step_by(9).collect();
    let begun = Instant::now();
    let limit = SECONDS.to_string();
    let arguments = ["run", DOCUMENT, "--url", url, "--seed", "1", "--checks", "all", "--max-time", &limit];
    let reports = ["--report", "json", "--report-dir", "report", "--continue-on-failure", "--no-color"];
    Command::new(program)
        .args(arguments)
        .args(reports)
        .current_dir(folder.path())
        .env("OWN_ADDRESSES", serde_json::to_string(&own).expect("texts"))
        .env("PYTHONPATH", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("Schemathesis can be started");
    let elapsed = begun.elapsed();
    let report = std::fs::read_dir(folder.path().join("report")).expect("a report").next();
    let text =
        std::fs::read_to_string(report.expect("a report").expect("a report").path()).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("a report in JSON");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut failures = BTreeSet::new();
    for failure in list(&report["failures"]) {
        for operation in list(&failure["operations"]) {
            failures.insert(format!("{} {} {operation}", failure["code"], failure["title"]));
        }
    }
    Seen { failures, requests: report["test_cases"]["generated"].as_u64().unwrap_or_default(), elapsed }
}

/// Tries each tool on some faults and variations and writes the table. What a tool objects to on the conforming server counts
/// neither for it nor against it elsewhere.
pub(crate) fn compare(program: &Path) {
    let version = Command::new(program).arg("--version").output().expect("Schemathesis can be started");
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    let chosen: Vec<&Fault> =
        faults::ALL.iter().filter(|fault| !fault.is_inferred).step_by(EACH_FAULT).collect();
    let others: Vec<&Variation> = variations::ALL.iter().skip(1).step_by(EACH_VARIATION).collect();
    let mut rows = Vec::new();
    let mut caught_by: Vec<BTreeSet<&str>> = Vec::new();
    for tool in Tool::ALL {
        let baseline = tool.see(program, "", Decisions::default());
        let of_faults = in_parallel(&chosen, |fault| tool.see(program, fault.id, decisions_of(fault)));
        let of_variations = in_parallel(&others, |variation| tool.see(program, "", variation.decisions()));
        let objects = |seen: &Seen| seen.failures.difference(&baseline.failures).next().is_some();
        let caught: BTreeSet<&str> = chosen
            .iter()
            .zip(&of_faults)
            .filter(|(_, seen)| objects(seen))
            .map(|(fault, _)| fault.id)
            .collect();
        let wrong = of_variations.iter().filter(|seen| objects(seen)).count();
        println!("{}: {} of {}, {wrong} of {}", tool.name(), caught.len(), chosen.len(), others.len());
        rows.push(format!(
            "| {} | {} of {} | {} | {wrong} of {} | {} | {:.1} s |",
            tool.name(),
            caught.len(),
            chosen.len(),
            baseline.failures.len(),
            others.len(),
            baseline.requests,
            baseline.elapsed.as_secs_f64()
        ));
        caught_by.push(caught);
    }
    std::fs::write(FILE, page(&version, &rows, &chosen, &caught_by)).expect("the page can be written");
}

fn page(version: &str, rows: &[String], chosen: &[&Fault], caught_by: &[BTreeSet<&str>]) -> String {
    let mut text = format!(
        "# Side by side with Schemathesis\n\n\
         Schemathesis tests any API from its document; this suite tests one API and knows what its prose says. Both ran against the\n\
         same servers of `tests/independent/`, whose author did not know the checks: one in {EACH_FAULT} faults of stated \
         clauses and\none in {EACH_VARIATION} conforming variations. Made by\n\n\
         ```console\npip install schemathesis\ncargo test --workspace --locked --test independent -- --compare schemathesis\n```\n\n\
         A fault counts as caught when a tool objects to something that it does not object to on the conforming server. \
         Schemathesis\n({version}) has all of its checks, seed 1 and {SECONDS} s a server; with hooks it is also given addresses \
         of the account, and\nchecks of codes, pages and filters (`tests/independent/hooks.py`).\n\n\
         | tool | faults caught | objections to the conforming server | variations wrongly failed | requests | time |\n\
         |---|---|---|---|---|---|\n"
    );
    for row in rows {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{row}");
    }
    let theirs: BTreeSet<&str> = caught_by[3..].iter().flatten().copied().collect();
    let lost: Vec<&&str> = theirs.difference(&caught_by[0]).collect();
    text += "\n## What Schemathesis finds and this suite does not\n\n";
    if lost.is_empty() {
        text += "Nothing among these faults.\n";
    }
    for id in lost {
        let _ = writeln!(text, "- `{id}`");
    }
    text += "\n## Fault by fault\n\n`+` caught, `-` not, in the order of the table.\n\n| fault | clause | |\n|---|---|---|\n";
    for fault in chosen {
        let marks: String =
            caught_by.iter().map(|caught| if caught.contains(fault.id) { '+' } else { '-' }).collect();
        let _ = writeln!(text, "| {} | {} | `{marks}` |", fault.text, fault.clause);
    }
    text
}
