//! Public tools that test an API from its document, run on one server of this instrument.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::driver::facts;
use crate::server::behaviour::Size;
use crate::server::world;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/openapi.yaml");
const SCHEMATHESIS_HOOKS: &str = include_str!("hooks.py");
const DREDD_HOOKS: &str = include_str!("hooks.js");
/// Seconds that Schemathesis may take for one server.
pub(crate) const SECONDS: u64 = 10;

/// What a tool objects to, in its own terms, and how many requests it sent.
pub(crate) struct Objections {
    pub(crate) failures: BTreeSet<String>,
    pub(crate) requests: u64,
}

/// The first line of what a program says of its version.
pub(crate) fn version(program: &Path) -> String {
    let output = Command::new(program).arg("--version").output();
    let output = output.unwrap_or_else(|error| panic!("{} cannot be started: {error}", program.display()));
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim().to_owned()
}

/// Some addresses of the account, as JSON.
fn own_addresses() -> String {
    let own = facts(Size::default()).own_addresses;
    serde_json::to_string(&own.iter().step_by(9).collect::<Vec<_>>()).expect("texts")
}

/// Runs Schemathesis in a folder of its own and reads its report.
pub(crate) fn schemathesis(program: &Path, url: &str, has_hooks: bool) -> Objections {
    let folder = tempfile::tempdir().expect("a folder");
    let mut configuration = format!("[parameters]\napi_key = \"{}\"\n", world::MAIN);
    if has_hooks {
        configuration = format!("hooks = \"hooks\"\n{configuration}");
        std::fs::write(folder.path().join("hooks.py"), SCHEMATHESIS_HOOKS).expect("a writable folder");
    }
    std::fs::write(folder.path().join("schemathesis.toml"), configuration).expect("a writable folder");
    let limit = SECONDS.to_string();
    let arguments = ["run", DOCUMENT, "--url", url, "--seed", "1", "--checks", "all", "--max-time", &limit];
    let reports = ["--report", "json", "--report-dir", "report", "--continue-on-failure", "--no-color"];
    run(program, folder.path(), arguments.into_iter().chain(reports));
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
    Objections { failures, requests: report["test_cases"]["generated"].as_u64().unwrap_or_default() }
}

/// Runs Dredd with hooks, without which every request has the wrong token.
pub(crate) fn dredd(program: &Path, url: &str) -> Objections {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("hooks.js"), DREDD_HOOKS).expect("a writable folder");
    let arguments = [DOCUMENT, url, "--hookfiles", "./hooks.js", "--no-color", "--loglevel", "error"];
    let output = run(program, folder.path(), arguments);
    let mut failures = BTreeSet::new();
    let mut requests = 0;
    let mut transaction = String::new();
    for line in output.lines() {
        let (kind, rest) = line.split_once(": ").unwrap_or_default();
        match kind {
            "complete" if rest.contains("passing") => {
                let numbers = rest.split(", ").filter(|part| !part.ends_with("skipped"));
                let numbers = numbers.filter(|part| !part.ends_with("total"));
                requests = numbers.filter_map(|part| part.split(' ').next()?.parse::<u64>().ok()).sum();
            }
            "fail" | "error" if rest.contains(" duration: ") => {
                transaction = rest.split(['?']).next().unwrap_or_default().to_owned();
                failures.insert(transaction.clone());
            }
            "fail" => drop(failures.insert(format!("{transaction} {rest}"))),
            "headers" | "body" if rest.starts_with("At ") => {
                failures.insert(format!("{transaction} {line}"));
            }
            _ => {}
        }
    }
    Objections { failures, requests }
}

/// Runs a tool to its end and returns what it wrote. It finds faults, so that its exit code says nothing.
fn run(program: &Path, folder: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("OWN_ADDRESSES", own_addresses())
        .env("SALLYPORT_API_KEY", world::MAIN)
        .env("PYTHONPATH", folder)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{} cannot be started: {error}", program.display()));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
