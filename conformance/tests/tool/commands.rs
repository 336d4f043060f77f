//! The commands beside `run`, over real files and sockets.

use std::net::TcpStream;

use serde_json::Value;

use super::program::{AssertOutput as _, Finish as _, Folder, program, run, run_without_token, text};
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
fn every_finding_is_replayed_passive_ones_too() {
    let folder = Folder::new();
    let report = &folder.file("report.json");
    // In the wrong order, without a name, and without the headers.
    let broken = TestServer::start(|stream| {
        let group = |id: u8| serde_json::json!({"groupId": id, "createdAt": "2026", "updatedAt": ""});
        let data = serde_json::json!({"items": [group(2), group(1)]});
        let body = serde_json::json!({"code": 200, "message": "ok", "requestId": "r", "data": data});
        server::response(stream, "200 OK", &[("X-Request-Id", "")], body.to_string().as_bytes())
    });
    let fixed = TestServer::start(groups);
    let request = format!("json={report}");
    run(&["run", "--base-url", &broken.url(), "--only", "groups.*", "--report", &request]).assert(1, &[]);
    let written = folder.json("report.json");
    let checks = written["checks"].as_array().expect("checks");
    let with_findings = checks.iter().filter(|check| check["findings"][0]["severity"] == "fail");
    let ids: Vec<_> = with_findings.filter_map(|check| check["id"].as_str()).collect();
    for passive in ["groups.envelope.schema", "groups.headers.request-id"] {
        assert!(ids.contains(&passive), "{ids:?}");
        let elsewhere = ["replay", report, passive, "--base-url", &fixed.url(), "--allow-other-target"];
        run(&elsewhere).assert(0, &[]);
    }
    for check in ids {
        run(&["replay", report, check, "--base-url", &broken.url()]).assert(1, &["Reproduce curl"]);
    }
    // What compares exchanges of recorded traffic, too.
    let (har, recorded) = (folder.file("run.har"), &folder.file("recorded.json"));
    let run_again = ["run", "--base-url", &broken.url(), "--only", "groups.order.ascending", "--report"];
    run(&[run_again.as_slice(), &[&format!("har={har}")]].concat()).assert(1, &[]);
    run(&["observe", &har, "--report", &format!("json={recorded}")]).assert(1, &["groups.order.recorded"]);
    let again = ["replay", recorded, "groups.order.recorded", "--base-url"];
    run(&[again.as_slice(), &[&broken.url()]].concat()).assert(1, &["Reproduce curl"]);
    run(&[again.as_slice(), &[&fixed.url(), "--allow-other-target"]].concat()).assert(0, &[]);
    // A report is of others: no request of it leaves the base URL, with the token or without.
    let elsewhere = TestServer::start(groups);
    let host = elsewhere.url().replace("http://", "");
    let written = folder.read("report.json");
    for target in [format!("@{host}/x?"), format!(".{host}/"), "x".to_owned()] {
        folder.write(
            "report.json",
            written.replace("\"target\": \"/openapi", &format!("\"target\": \"{target}/openapi")),
        );
        run(&["replay", report, "groups.envelope.schema", "--base-url", &broken.url()])
            .assert(2, &["expected the requests of `groups.envelope.schema` in `exchanges`"]);
    }
    assert_eq!(elsewhere.connections(), 0);
    folder.write("report.json", written);
    let cut = folder.read("report.json").replace("\"request_body_cut\": false", "\"request_body_cut\": true");
    folder.write("report.json", cut);
    run(&["replay", report, "groups.envelope.schema", "--base-url", &broken.url()])
        .assert(2, &["expected the requests of `groups.envelope.schema` in `exchanges`"]);
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

#[cfg(all(unix, feature = "embedded"))]
#[test]
fn a_client_under_test_gets_none_of_the_testers_tokens() {
    const TOKENS: [&str; 3] = ["second-cAn4ry-77", "rejected-cAn4ry-78", "own-cAn4ry-79"];
    let folder = Folder::new();
    let environment = folder.file("environment");
    let known = folder.write("known", TOKENS.join("\n"));
    // The second one gets them anyway, and shows them.
    for (more, code, printed) in
        [("", 0, "1 case"), ("cat \"$0\" >&2;", 1, "a token of the tester's environment")]
    {
        let answer = r#"{"error": {"class": "rejected", "message": "x"}}"#;
        let script = format!("cat > /dev/null; env > '{environment}'; {more} echo '{answer}'");
        let client = [
            "client",
            "--only",
            "client.https-only.plain-http",
            "--report",
            "json=-",
            "--",
            "sh",
            "-c",
            &script,
            &known,
        ];
        let output = program(&client)
            .env("SALLYPORT_API_KEY", TOKENS[2])
            .env("SALLYPORT_SECOND_API_KEY", TOKENS[0])
            .env("SALLYPORT_REJECTED_TOKENS", format!("revoked={}", TOKENS[1]))
            .env("SALLYPORT_OWN_ADDRESSES", "203.0.113.7")
            .env("SALLYPORT_DB", "server.db")
            .finish();
        let shown = text(&output.assert(code, &[printed]));
        let handed = std::fs::read_to_string(&environment).expect("the environment");
        for token in TOKENS {
            assert!(!shown.contains(token) && !handed.contains(token), "{token}: {shown}{handed}");
        }
        assert!(handed.contains("SALLYPORT_API_KEY=") && !handed.contains("SALLYPORT_OWN"), "{handed}");
        assert!(!handed.contains("SALLYPORT_DB"), "{handed}");
    }
}
