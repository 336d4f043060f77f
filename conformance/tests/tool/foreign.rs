//! Text of a target, a report or a recording leaves the program as text, and credentials of a target do not leave it at all.

use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::misbehaving::{self as server, MisbehavingServer};
use crate::program::{code, every_report, run, text};

/// Clears the screen, turns the direction of writing, ends the line, says it all in eight bits.
const ACTS: &str = "</pre>\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{7f}\r\n::error::\u{2028}\u{ffff}";
const COOKIE: &str = "c00kie-of-the-target";

/// Whatever a terminal acts on, but for ends of lines.
fn acts(text: &str) -> Option<char> {
    let marks = ['\u{202e}', '\u{2066}', '\u{2028}', '\u{ffff}'];
    text.chars().find(|c| (c.is_control() && !"\n\t".contains(*c)) || marks.contains(c))
}

fn assert_plain(what: &str, text: &str) {
    assert_eq!(acts(text), None, "{what}: {text:?}");
    assert!(!text.lines().any(|line| line.starts_with("::error::")), "{what}: a line was forged: {text}");
}

/// Groups that break their schema, with such text as names, values, codes, ids and headers.
fn foreign(stream: &mut TcpStream) -> std::io::Result<()> {
    let item = json!({"groupId": ACTS, "name": 1, ACTS: ACTS, "createdAt": ACTS});
    let body = json!({"code": 200, "message": ACTS, "requestId": ACTS, ACTS: {ACTS: [ACTS]}, "data": {"items": [item, {"groupId": ACTS}]}});
    respond(stream, "200 OK", &body)
}

fn rejection(stream: &mut TcpStream) -> std::io::Result<()> {
    respond(stream, "403 No", &json!({"code": ACTS, "message": ACTS}))
}

fn respond(stream: &mut TcpStream, status: &str, body: &Value) -> std::io::Result<()> {
    let cookie = format!("sid={COOKIE}; Path=/");
    let place = format!("/elsewhere?code={COOKIE}");
    let credential = format!("Bearer {COOKIE}");
    let challenge = format!("Digest nonce=\"{COOKIE}\"");
    let headers = [
        ("Content-Type", "application/json"),
        ("Set-Cookie", cookie.as_str()),
        ("Location", &place),
        ("Authorization", &credential),
        ("Proxy-Authenticate", &challenge),
        ("X-Api-Key", COOKIE),
        ("X-Auth-Token", COOKIE),
        ("X-Odd", "\u{9b}31m\u{202e}odd"),
    ];
    server::response(stream, status, &headers, body.to_string().as_bytes())
}

/// Every file below a folder.
fn files(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            files(&entry, found);
        } else {
            let text = String::from_utf8(std::fs::read(&entry).expect("a file")).expect("text");
            found.push((entry.display().to_string(), text));
        }
    }
}

#[test]
fn foreign_text_and_credentials_do_nothing_by_any_way_out() {
    for behaviour in [foreign, rejection] {
        let folder = tempfile::tempdir().expect("a folder");
        let target = MisbehavingServer::start(behaviour);
        let url = target.url();
        let base = ["--base-url", &url];
        let mut shown = Vec::new();
        let mut ran = |arguments: &[&str]| {
            let output = run(&[arguments, base.as_slice()].concat());
            let printed = text(&output);
            shown.push((arguments[0].to_owned(), printed));
            code(&output)
        };
        let reports = every_report(folder.path());
        assert_ne!(ran(&["run", "--verbose", "--max-seconds", "30", &reports]), 0);
        let recording = folder.path().join("recording");
        let recording = recording.to_str().expect("UTF-8");
        assert_eq!(ran(&["record", recording]), 0);
        ran(&["compare", recording]);
        let report = folder.path().join("report.json");
        ran(&["replay", report.to_str().expect("UTF-8"), "groups.envelope.schema"]);
        ran(&["replay", report.to_str().expect("UTF-8"), ACTS]);
        files(folder.path(), &mut shown);
        assert!(shown.len() > 10, "{} texts", shown.len());
        for (what, text) in &shown {
            assert_plain(what, text);
            assert!(!text.contains(COOKIE), "{what} shows a credential: {text}");
        }
        let read = |form: &str| {
            std::fs::read_to_string(folder.path().join(format!("report.{form}"))).expect("a report")
        };
        for form in ["json", "sarif"] {
            let _: Value = serde_json::from_str(&read(form)).expect("JSON");
        }
        assert!(!read("html").contains("</pre>\\u"), "markup came through");
        quick_junit::Report::deserialize_from_str(&read("junit")).expect("valid XML");
    }
}

#[test]
fn a_forged_report_and_a_forged_recording_are_only_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let finding = json!({"id": ACTS, "findings": [{}]});
    std::fs::write(&report, json!({"target": ACTS, "checks": [finding]}).to_string()).expect("written");
    let rejected = run(&["replay", report.to_str().expect("UTF-8"), "groups.order.ascending"]);
    assert_eq!(code(&rejected), 2);
    assert_plain("replay", &text(&rejected));

    let mut places = Vec::new();
    for (name, line) in [("before", "a"), ("after", ACTS)] {
        let place = folder.path().join(name);
        std::fs::create_dir(&place).expect("a folder");
        let entry =
            format!("---\nsource: conformance record\nexpression: \u{1b}[2J\u{202e}\n---\nbody /x: {line}\n");
        std::fs::write(place.join("groups.\u{1b}[31m.snap"), entry).expect("written");
        places.push(place);
    }
    let places: Vec<_> = places.iter().map(|place| place.to_str().expect("UTF-8")).collect();
    let compared = run(&["compare", places[0], places[1]]);
    assert_eq!(code(&compared), 1, "{}", text(&compared));
    assert_plain("compare", &text(&compared));

    let config = folder.path().join("c.toml");
    std::fs::write(&config, "profile = \"\\u001b[2J\\u202e\"\n").expect("written");
    let rejected = run(&["plan", "--config", config.to_str().expect("UTF-8")]);
    assert_eq!(code(&rejected), 2);
    assert_plain("plan", &text(&rejected));
}
