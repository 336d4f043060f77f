//! The program: its exit codes, and what it writes.

use std::process::{Command, Output};

use crate::canned::{CannedServer, Reply, TOKEN};

fn conformance(arguments: &[&str], token: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.args(arguments).env_remove("SALLYPORT_API_KEY");
    if let Some(token) = token {
        command.env("SALLYPORT_API_KEY", token);
    }
    command.output().expect("the program runs")
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn without_a_base_url_the_reference_server_is_tested() {
    for arguments in [["run", "--only", "groups.*"].as_slice(), &["--only", "groups.*"]] {
        let output = conformance(arguments, None);
        assert_eq!(code(&output), Some(0), "{}", text(&output));
        assert!(text(&output).contains("no violation found in the"), "{}", text(&output));
        assert!(!text(&output).contains('\u{1b}'), "colours go to terminals only");
    }
}

#[test]
fn wrong_usage_ends_with_2_and_one_line_of_help() {
    let wrong: [(&[&str], Option<&str>, &str); 6] = [
        (&["run", "--only", "serch.*"], None, "matches no check"),
        (&["run", "--base-url", "https://api.invalid"], None, "SALLYPORT_API_KEY"),
        (&["run", "--base-url", "http://api.invalid"], Some(TOKEN), "--allow-http"),
        (&["run", "--base-url", "api.invalid"], Some(TOKEN), "https://"),
        (&["run", "--report", "pdf=x"], None, "json=FILE"),
        (&["explain", "search.nothing"], None, "unknown clause"),
    ];
    for (arguments, token, expected) in wrong {
        let output = conformance(arguments, token);
        assert_eq!(code(&output), Some(2), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(expected), "{}", text(&output));
        assert!(!text(&output).contains(TOKEN));
    }
}

#[test]
fn an_unreachable_target_ends_with_3_and_a_used_up_budget_with_4() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    drop(listener);
    let output = conformance(&["run", "--base-url", &url], Some(TOKEN));
    assert_eq!(code(&output), Some(3), "{}", text(&output));

    let output = conformance(&["run", "--only", "groups.*", "--max-bytes", "100"], None);
    assert_eq!(code(&output), Some(4), "{}", text(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_end_with_1_and_no_artefact_shows_the_token() {
    let server =
        CannedServer::start(|_| Reply::groups().with("X-Echo", "tok/en+with \"odd\" characters=")).await;
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let request = format!("json={}", report.display());
    let url = server.url();
    let output = tokio::task::spawn_blocking(move || {
        conformance(&["run", "--base-url", &url, "--only", "groups.*", "--report", &request], Some(TOKEN))
    });
    let output = output.await.expect("joined");
    assert_eq!(code(&output), Some(1), "{}", text(&output));
    let written = std::fs::read_to_string(&report).expect("the report");
    let parsed: serde_json::Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!((&parsed["schema_version"], &parsed["verdict"]), (&2.into(), &"findings".into()));
    for artefact in [text(&output), written] {
        assert!(artefact.contains("API_KEY"));
        assert!(!artefact.contains("tok/en") && !artefact.contains("tok%2Fen"), "{artefact}");
    }
}

#[test]
fn list_and_explain_agree_on_the_clauses() {
    let output = conformance(&["list", "--format", "json"], None);
    let checks: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("an array");
    assert!(checks.len() > 30);
    for check in checks.iter().take(3) {
        let (id, clause) = (check["id"].as_str().expect("id"), check["clauses"][0].as_str().expect("clause"));
        assert!(text(&conformance(&["explain", clause], None)).contains(id));
    }
}
