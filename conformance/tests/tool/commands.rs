//! The commands beside `run`, over real files and sockets.

use std::net::TcpStream;

use serde_json::Value;

use super::program::{AssertOutput as _, Folder, run, run_without_token, text};
use super::server::{self, TestServer};

fn groups(stream: &mut TcpStream) -> std::io::Result<()> {
    server::groups(stream, &[1, 2])
}

#[test]
fn the_server_writes_what_is_known_of_its_sample_data() {
    let folder = Folder::new();
    let place = folder.path().join("facts");
    let store = sallyport_server::store::sqlite::SqliteStore::temporary().expect("a database");
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

#[test]
fn every_clause_is_explained_with_its_words_and_a_request() {
    let output = run(&["list", "--format", "json"]);
    let checks: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array");
    assert_eq!(checks.len(), sallyport_conformance::registry().len());
    let cited = checks.iter().take(3).filter_map(|check| check["clauses"][0].as_str());
    for clause in cited.chain(["search.match-port", "groups.order", "extract.num-range", "all.https"]) {
        let output = run(&["explain", clause]);
        let text = text(&output.assert(0, &["A request that a conforming service accepts", "curl -sS"]));
        let citing = checks.iter().filter(|check| {
            check["clauses"].as_array().is_some_and(|clauses| clauses.iter().any(|cited| cited == clause))
        });
        for check in citing {
            assert!(text.contains(check["id"].as_str().expect("an id")), "{text}");
        }
    }
}

/// The verdict, what it rests on, and what would raise that: no line for each check.
#[cfg(feature = "embedded")]
#[test]
fn a_run_without_findings_has_a_few_lines_and_the_verdict_first() {
    let said = text(&run_without_token(&["run", "--profile", "smoke"]).assert(0, &[]));
    assert!(said.lines().count() <= 15, "{said}");
    let (_, summary) = said.split_once("\n\n").expect("a summary");
    let labels: Vec<&str> = summary.lines().filter_map(|line| line.get(..16)).map(str::trim).collect();
    assert_eq!(labels[..4], ["verdict", "coverage", "detection", "to judge more"], "{said}");
}

#[test]
fn a_report_on_standard_output_stands_there_alone_and_makes_a_baseline() {
    let server = TestServer::start(|stream| server::groups(stream, &[2, 1]));
    let base = ["run", "--base-url", &server.url(), "--only", "groups.order"];
    let output = run(&[base.as_slice(), &["--report", "json=-"]].concat()).assert(1, &[]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report and nothing else");
    assert_eq!(report["verdict"], "findings");
    assert!(String::from_utf8_lossy(&output.stderr).contains(" findings: 1 clause violated, "));

    let folder = Folder::new();
    let path = folder.write("report.json", &output.stdout);
    let baseline = run(&["baseline", &path, "--reason", "ticket \"1\"", "--until", "2999-12-31"]);
    let config = folder.write("conformance.toml", &baseline.assert(0, &[]).stdout);
    run(&[base.as_slice(), &["--config", &config, "--quiet"]].concat()).assert(0, &[]);
}

#[test]
fn what_is_skipped_is_named_by_reason_and_folds() {
    let target = TestServer::start(groups);
    let folder = Folder::new();
    let reports = format!("json={},html={}", folder.file("r.json"), folder.file("r.html"));
    let url = target.url();
    let only =
        ["--only", "groups.order.*", "--only", "search.activated-range.*", "--only", "search.paging.*"];
    let skip = ["--skip", "search.activated-range.format"];
    let arguments = [&["run", "--base-url", &url, "--profile", "full"], only.as_slice(), &skip].concat();
    let reason = "supply addresses of the account's instances (SALLYPORT_OWN_ADDRESSES) to run this";
    let said = text(&run(&arguments));
    let line = said.lines().find(|line| line.contains("to judge more ") && line.contains(reason));
    assert!(line.is_some_and(|line| line.contains(" checks: supply ")), "{said}");
    assert!(!said.contains("search.activated-range."), "a line for each skipped check: {said}");
    let verbose = text(&run(&[arguments.as_slice(), &["--verbose"]].concat()));
    assert!(verbose.contains("skipped search.activated-range."), "{verbose}");

    let gated = run(&[arguments.as_slice(), &["--fail-on-skip", "--report", &reports]].concat());
    let said = text(&gated.assert(4, &[]));
    let line =
        said.lines().find(|line| line.contains("gate not met --fail-on-skip: ") && line.contains(reason));
    let line = line.expect("a line of the gate");
    assert!(line.contains("(search.activated-range.") && line.contains(" more): supply "), "{line}");
    assert!(line.matches("; ").count() <= 5, "{line}");
    let (report, page) = (folder.json("r.json"), folder.read("r.html"));
    let checks = report["checks"].as_array().expect("checks");
    let skipped: Vec<&str> = checks
        .iter()
        .filter(|check| check["outcome"]["reason"].as_str().is_some_and(|found| found.contains(reason)))
        .filter_map(|check| check["id"].as_str())
        .collect();
    assert!(skipped.len() > 1, "{report}");
    assert!(skipped.iter().all(|id| page.contains(id)), "{skipped:?}");
}
