//! What goes to machines that watch a run: GitHub's runner, Prometheus, readers of HTTP Archives.

use std::net::TcpStream;

use serde_json::Value;

use super::program::{AssertOutput as _, Finish as _, Folder, TOKEN, program, run};
use super::server::{self, TestServer};

/// Groups in the wrong order, under names that GitHub's runner would take for commands.
fn commanding(stream: &mut TcpStream) -> std::io::Result<()> {
    let group = |id: u32| {
        serde_json::json!({"groupId": id, "name": "\n::error::forged\r\n##[error]forged",
                           "createdAt": "::set-output name=x::forged", "updatedAt": 1})
    };
    let body = serde_json::json!({"code": 200, "message": "::stop-commands::forged", "requestId": "r",
                                  "data": {"items": [group(2), group(1)]}});
    server::json(stream, body.to_string().as_bytes())
}

#[test]
fn annotations_and_a_summary_for_github() {
    let target = TestServer::start(commanding);
    let folder = Folder::new();
    let summary = folder.write("summary.md", "of the step before\n");
    let output = program(&["run", "--base-url", &target.url(), "--only", "groups.*", "--verbose"])
        .args(["--report", "github", "--profile", "full"])
        .env("GITHUB_STEP_SUMMARY", &summary)
        .finish();

    // What the service says stands between two commands that it cannot guess.
    let shown = String::from_utf8(output.assert(1, &[]).stdout).expect("text");
    let lines: Vec<&str> = shown.lines().collect();
    let word = lines[0].strip_prefix("::stop-commands::").expect("a guard comes first");
    let end = lines.iter().position(|line| *line == format!("::{word}::")).expect("the guard ends");
    assert!(lines[1..end].iter().any(|line| line.contains("groups.order.ascending")), "{shown}");
    let annotations = &lines[end + 1..];
    assert!(annotations.len() > 1, "{shown}");
    for line in annotations {
        let known = ["::error title=", "::warning title=", "::notice title="];
        assert!(known.iter().any(|known| line.starts_with(known)), "{line}");
    }
    assert!(annotations.iter().any(|line| line.contains("groups.order is violated")), "{shown}");
    let count = |level: &str| annotations.iter().filter(|line| line.starts_with(level)).count();
    assert!(count("::error") <= 10 && count("::warning") <= 10, "{shown}");

    let written = folder.read("summary.md");
    assert!(written.starts_with("of the step before\n# Conformance: findings: "), "{written}");
    assert!(written.contains("`groups.order`"), "{written}");
}

/// A metric has one HELP and one TYPE, its samples follow them, and no series comes twice.
pub(crate) fn assert_metrics(text: &str) {
    assert!(text.ends_with('\n'), "{text}");
    let (mut metric, mut seen) = ("", std::collections::BTreeSet::new());
    for line in text.lines() {
        let (series, value) = line.rsplit_once(' ').expect("two words");
        if let Some(name) = series.strip_prefix("# TYPE ") {
            metric = name;
        } else if !series.starts_with("# HELP sallyport_conformance_") {
            let name = series.split('{').next().unwrap_or_default();
            assert!(name == metric && value.parse::<f64>().is_ok(), "{line}");
        }
        assert!(seen.insert(series), "{line}");
    }
}

#[test]
fn an_archive_has_every_exchange_of_the_checks_without_the_token() {
    let target = TestServer::start(|stream| server::groups(stream, &[1, 2]));
    let folder = Folder::new();
    let reports = format!("har={},json={}", folder.file("run.har"), folder.file("run.json"));
    run(&["run", "--base-url", &target.url(), "--only", "groups.*", "--report", &reports]);
    let (har, report) = (folder.json("run.har"), folder.json("run.json"));
    assert_eq!(har["log"]["version"], "1.2");
    let entries = har["log"]["entries"].as_array().expect("entries");
    let sent: u64 = report["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .map(|check| check["requests"].as_u64().expect("a number"))
        .sum();
    // What the run looks for by itself belongs to no check.
    let is_of_check = |entry: &&Value| !entry["comment"].as_str().is_some_and(|of| of.contains(".discovery"));
    let of_checks: Vec<&Value> = entries.iter().filter(is_of_check).collect();
    assert_eq!(of_checks.len() as u64, sent);
    for entry in of_checks {
        let (request, response) = (&entry["request"], &entry["response"]);
        assert!(entry["startedDateTime"].as_str().is_some_and(|at| at.parse::<jiff::Timestamp>().is_ok()));
        assert!(request["url"].as_str().is_some_and(|url| url.starts_with(&target.url())), "{request}");
        assert!(response["status"].is_u64() && response["content"]["size"].is_u64(), "{response}");
        assert!(entry["comment"].as_str().is_some_and(|check| check.starts_with("groups.")), "{entry}");
        for list in ["cookies", "headers", "queryString"] {
            assert!(request[list].is_array(), "{list}");
        }
        for member in ["cache", "timings", "time"] {
            assert!(entry.get(member).is_some(), "{member}");
        }
    }
    let token = |pair: &Value| pair["name"] == "api_key" && pair["value"] == "$API_KEY";
    let has_token =
        |entry: &&Value| entry["request"]["queryString"].as_array().is_some_and(|all| all.iter().any(token));
    assert!(entries.iter().any(|entry| has_token(&entry)), "{har}");
    assert!(!har.to_string().contains(&TOKEN[..8]));
    let body =
        entries.iter().find_map(|entry| entry["response"]["content"]["text"].as_str()).expect("a body");
    assert_eq!(serde_json::from_str::<Value>(body).expect("a whole body")["code"], 200);
}
