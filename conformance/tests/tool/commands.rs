//! The commands beside `run`, over real files and sockets.

use std::net::TcpStream;

use serde_json::Value;

use crate::misbehaving::{self as server, Misbehaving};
use crate::program::{code, run, text};

fn groups(stream: &mut TcpStream) -> std::io::Result<()> {
    server::groups(stream, &[1, 2])
}

#[test]
fn a_plan_sends_nothing_and_keeps_to_the_profile() {
    let target = Misbehaving::start(groups);
    for arguments in [["plan", "--profile", "smoke"].as_slice(), &["run", "--dry-run", "--profile", "smoke"]]
    {
        let output = run(&[arguments, &["--base-url", &target.url()]].concat());
        assert_eq!(code(&output), 0, "{}", text(&output));
        assert!(text(&output).contains("0 gateways, but for repetitions"), "{}", text(&output));
        assert!(!text(&output).contains("extract.num-range"), "{}", text(&output));
    }
    let full = run(&["plan", "--base-url", &target.url()]);
    assert!(text(&full).contains("SALLYPORT_OWN_ADDRESSES"), "{}", text(&full));
    assert_eq!(target.connections(), 0);
}

#[test]
fn a_configuration_is_written_read_and_complained_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("conformance.toml");
    let path = file.to_str().expect("a path in UTF-8");
    assert_eq!(code(&run(&["init", path])), 0);
    assert_eq!(code(&run(&["init", path])), 2, "a file that is there is not written over");
    assert_eq!(code(&run(&["init", path, "--force"])), 0);

    let target = Misbehaving::start(groups);
    let configured = format!("base-url = \"{}\"\nonly = [\"groups.envelope.success\"]\n", target.url());
    std::fs::write(&file, configured).expect("written");
    let output = run(&["run", "--config", path]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    assert!(target.connections() > 0);
    let overruled =
        run(&["run", "--config", path, "--base-url", &format!("http://{}", server::closed_port())]);
    assert_eq!(code(&overruled), 3, "an argument goes before the configuration: {}", text(&overruled));

    std::fs::write(&file, "\nbase-ulr = \"x\"\n").expect("written");
    let output = run(&["run", "--config", path]);
    assert_eq!(code(&output), 2);
    assert!(text(&output).contains("conformance.toml:2: unknown key `base-ulr`: did you mean `base-url`?"));
}

#[test]
fn a_recording_is_compared_with_a_changed_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("before");
    let place = place.to_str().expect("a path in UTF-8");
    let target = Misbehaving::start(groups);
    let recorded = run(&["record", place, "--base-url", &target.url()]);
    assert_eq!(code(&recorded), 0, "{}", text(&recorded));
    let same = run(&["compare", place, "--base-url", &target.url()]);
    assert_eq!(code(&same), 0, "{}", text(&same));
    let changed = Misbehaving::start(|stream| {
        let body = br#"{"code": 200, "message": "ok", "requestId": "r", "data": {"items": []}}"#;
        server::answer(stream, "200 OK", &[("Content-Type", "application/json"), ("X-Request-Id", "r")], body)
    });
    let compared = run(&["compare", place, "--base-url", &changed.url()]);
    assert_eq!(code(&compared), 1, "{}", text(&compared));
    for line in
        ["groups.envelope: A successful group listing", "groups.listed", "- header cache-control: no-store"]
    {
        assert!(text(&compared).contains(line), "expected {line:?} in {}", text(&compared));
    }
    assert_eq!(code(&run(&["compare", "no-such-folder", place])), 2);
    assert_eq!(code(&run(&["compare", place, place])), 0);
}

#[test]
fn a_finding_is_replayed_against_its_target_and_against_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let report = report.to_str().expect("a path in UTF-8");
    let broken = Misbehaving::start(|stream| server::groups(stream, &[2, 1]));
    let check = "groups.order.ascending";
    let request = format!("json={report}");
    assert_eq!(code(&run(&["run", "--base-url", &broken.url(), "--only", check, "--report", &request])), 1);
    let again = run(&["replay", report, check]);
    assert_eq!(code(&again), 1, "{}", text(&again));
    let fixed = Misbehaving::start(groups);
    let elsewhere = run(&["replay", report, check, "--base-url", &fixed.url()]);
    assert_eq!(code(&elsewhere), 0, "{}", text(&elsewhere));
    let unknown = run(&["replay", report, "groups.envelope.success"]);
    assert_eq!(code(&unknown), 2);
    assert!(text(&unknown).contains(check), "the checks with findings are named: {}", text(&unknown));
}

#[test]
fn every_clause_is_explained_with_its_words_and_a_request() {
    let output = run(&["list", "--format", "json"]);
    let checks: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array");
    for clause in ["search.match-port", "groups.order", "extract.num-range", "all.https"] {
        let output = run(&["explain", clause]);
        assert_eq!(code(&output), 0);
        let text = text(&output);
        assert!(text.contains("What a failure means") && text.contains("curl -sS"), "{text}");
        let citing = checks.iter().filter(|check| {
            check["clauses"].as_array().is_some_and(|clauses| clauses.iter().any(|cited| cited == clause))
        });
        for check in citing {
            assert!(text.contains(check["id"].as_str().expect("an id")), "{text}");
        }
    }
    let wrong = run(&["explain", "search.mach-port"]);
    assert_eq!(code(&wrong), 2);
    assert!(text(&wrong).contains("search.match-port"), "{}", text(&wrong));
}

#[test]
fn quiet_and_verbose_say_less_and_more() {
    let target = Misbehaving::start(groups);
    let said = |how: &[&str]| {
        let url = target.url();
        let arguments = [&["run", "--base-url", &url, "--only", "groups.envelope.success"], how].concat();
        text(&run(&arguments))
    };
    let (quiet, normal, verbose) = (said(&["--quiet"]), said(&[]), said(&["--verbose"]));
    assert_eq!(quiet.trim().lines().count(), 1, "{quiet}");
    assert!(normal.contains("pass groups.envelope.success") && !normal.contains("→ 200"), "{normal}");
    assert!(verbose.contains("→ 200"), "{verbose}");
}
