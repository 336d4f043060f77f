//! The same servers for other tools: served one at a time, or for a table that compares the suite with Schemathesis and
//! Dredd.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::driver::{EndOfRun, Mode, RunResult, decisions_of, run};
use crate::faults::{self, Fault};
use crate::measure::in_parallel;
use crate::other_tools::{self, Objections};
use crate::server::Server;
use crate::server::behaviour::Decisions;
use crate::variations::{self, Variation};
use sallyport_conformance::Verdict;

/// Where the table stands.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/COMPARISON.md");
/// Of so many faults and variations one is tried: another tool takes its seconds for each.
const EACH_FAULT: usize = 21;
const EACH_VARIATION: usize = 6;

/// Serves a fault, a variation or, without an id, the conforming server, until standard input ends.
pub(crate) fn serve(id: &str) {
    let fault = faults::ALL.iter().find(|fault| fault.id == id);
    let variation = variations::ALL.iter().find(|variation| variation.id == id);
    assert!(id.is_empty() || fault.is_some() || variation.is_some(), "no fault or variation `{id}`");
    let decisions = fault.map(decisions_of).or_else(|| variation.map(Variation::decisions));
    let server = RunningServer::start(fault.map_or("", |fault| fault.id), decisions.unwrap_or_default());
    println!("{}", server.url);
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest).expect("standard input ends");
}

/// A server in threads of its own.
struct RunningServer {
    url: String,
    _runtime: tokio::runtime::Runtime,
}

impl RunningServer {
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
struct ToolResult {
    objections: Objections,
    elapsed: Duration,
}

/// A tool with what it is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tool {
    Suite(Mode),
    Schemathesis { has_hooks: bool },
    Dredd,
}

/// Where the other tools are.
pub(crate) struct Programs<'a> {
    pub(crate) schemathesis: &'a Path,
    pub(crate) dredd: &'a Path,
}

impl Tool {
    const ALL: [Self; 6] = [
        Self::Suite(Mode::Full),
        Self::Suite(Mode::Token),
        Self::Suite(Mode::ProductionToken),
        Self::Schemathesis { has_hooks: false },
        Self::Schemathesis { has_hooks: true },
        Self::Dredd,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Suite(Mode::Full) => "this suite, `full`, every fact",
            Self::Suite(Mode::Token) => "this suite, `full`, a token",
            Self::Suite(Mode::ProductionToken) => "this suite, `production`, a token",
            Self::Suite(Mode::Production) => "this suite, `production`, every fact",
            Self::Schemathesis { has_hooks: false } => "Schemathesis, the document and a token",
            Self::Schemathesis { has_hooks: true } => "Schemathesis, with hooks and addresses",
            Self::Dredd => "Dredd, with hooks and addresses",
        }
    }

    fn see(self, programs: &Programs<'_>, fault: &str, decisions: Decisions) -> ToolResult {
        let begun = Instant::now();
        let objections = match self {
            Self::Suite(mode) => of_suite(&run(fault, decisions, mode, &["*"], EndOfRun::End)),
            Self::Schemathesis { has_hooks } => {
                let served = RunningServer::start(fault, decisions);
                other_tools::schemathesis(programs.schemathesis, &served.url, has_hooks)
            }
            Self::Dredd => {
                let served = RunningServer::start(fault, decisions);
                other_tools::dredd(programs.dredd, &served.url)
            }
        };
        ToolResult { objections, elapsed: begun.elapsed() }
    }
}

fn of_suite(measured: &RunResult) -> Objections {
    let mut failures: BTreeSet<String> =
        measured.failures.iter().map(|(check, clause, _)| format!("{check} {clause}")).collect();
    if measured.verdict != Verdict::Conforms && failures.is_empty() {
        failures.insert("no verdict".to_owned());
    }
    Objections { failures, requests: measured.requests }
}

/// Tries each tool on some faults and variations and writes the table. What a tool objects to on the conforming server counts
/// neither for it nor against it elsewhere.
pub(crate) fn compare(programs: &Programs<'_>) {
    let versions = [programs.schemathesis, programs.dredd].map(other_tools::version);
    let chosen: Vec<&Fault> =
        faults::ALL.iter().filter(|fault| !fault.is_inferred).step_by(EACH_FAULT).collect();
    let others: Vec<&Variation> = variations::ALL.iter().skip(1).step_by(EACH_VARIATION).collect();
    let mut rows = Vec::new();
    let mut caught_by: Vec<BTreeSet<&str>> = Vec::new();
    for tool in Tool::ALL {
        let baseline = tool.see(programs, "", Decisions::default());
        let of_faults = in_parallel(&chosen, |fault| tool.see(programs, fault.id, decisions_of(fault)));
        let of_variations = in_parallel(&others, |variation| tool.see(programs, "", variation.decisions()));
        let objects = |seen: &ToolResult| {
            seen.objections.failures.difference(&baseline.objections.failures).next().is_some()
        };
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
            baseline.objections.failures.len(),
            others.len(),
            baseline.objections.requests,
            baseline.elapsed.as_secs_f64()
        ));
        caught_by.push(caught);
    }
    std::fs::write(FILE, page(&versions, &rows, &chosen, &caught_by)).expect("the page can be written");
}

fn page(
    [schemathesis, dredd]: &[String; 2],
    rows: &[String],
    chosen: &[&Fault],
    caught_by: &[BTreeSet<&str>],
) -> String {
    let seconds = other_tools::SECONDS;
    let mut text = format!(
        "# Side by side with Schemathesis and Dredd\n\n\
         Schemathesis and Dredd test any API from its document; this suite tests one API and knows what its prose says. All \
         ran against the\nsame servers of `tests/independent/`, whose author did not know the checks: one in {EACH_FAULT} \
         faults of stated clauses and\none in {EACH_VARIATION} conforming variations. Made by\n\n\
         ```console\npip install schemathesis\nnpm install dredd\n\
         cargo test --workspace --locked --test independent -- --compare schemathesis node_modules/.bin/dredd\n```\n\n\
         A fault counts as caught when a tool objects to something that it does not object to on the conforming server. \
         Schemathesis\n({schemathesis}) has all of its checks, seed 1 and {seconds} s a server; with hooks it is also given \
         addresses of the account, and\nchecks of codes, pages and filters (`tests/independent/hooks.py`). Dredd ({dredd}) \
         sends the examples of the document and compares\nthe responses with them; without hooks it has no token, so that it \
         is run with hooks only (`tests/independent/hooks.js`).\n\n\
         | tool | faults caught | objections to the conforming server | variations wrongly failed | requests | time |\n\
         |---|---|---|---|---|---|\n"
    );
    for row in rows {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{row}");
    }
    let theirs: BTreeSet<&str> = caught_by[3..].iter().flatten().copied().collect();
    let lost: Vec<&&str> = theirs.difference(&caught_by[0]).collect();
    text += "\n## What the others find and this suite does not\n\n";
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
