//! Text of a target, a report or a recording leaves the program as text, and credentials of a target do not leave it at all.

use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

use super::program::{AssertOutput as _, Folder, code, every_report, run, text};
use super::server::{self, TestServer};

/// Clears the screen, turns the direction of writing, ends the line, says it all in eight bits.
const ACTS: &str = "@org/team#1 [x](https://evil.invalid) www.evil.invalid </pre>\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{7f}\r\n::error::\u{2028}\u{ffff}";
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

/// Markdown without its code, in which a reader finds no mentions, references and links.
fn outside_code(markdown: &str) -> String {
    let mut text = String::new();
    let mut is_code = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            assert_eq!(line.replace("\\`", "").matches('`').count() % 2, 0, "{line}");
            text.extend(line.replace("\\`", "").split('`').step_by(2));
            text.push('\n');
        }
    }
    text
}

#[test]
fn foreign_text_and_credentials_do_nothing_by_any_way_out() {
    for behaviour in [foreign, rejection] {
        let folder = Folder::new();
        let target = TestServer::start(behaviour);
        let url = target.url();
        let base = ["--base-url", &url];
        let mut shown = Vec::new();
        let mut ran = |arguments: &[&str]| {
            let output = run(&[arguments, base.as_slice()].concat());
            shown.push((arguments[0].to_owned(), text(&output)));
            code(&output)
        };
        let reports = every_report(folder.path());
        assert_ne!(ran(&["run", "--verbose", "--max-seconds", "30", &reports]), 0);
        let (recording, report) = (folder.file("recording"), folder.file("report.json"));
        assert_eq!(ran(&["record", &recording]), 0);
        ran(&["compare", &recording]);
        ran(&["replay", &report, "groups.envelope.schema"]);
        ran(&["replay", &report, ACTS]);
        files(folder.path(), &mut shown);
        assert!(shown.len() > 10, "{} texts", shown.len());
        for (what, text) in &shown {
            assert_plain(what, text);
            assert!(!text.contains(COOKIE), "{what} shows a credential: {text}");
        }
        assert!(folder.json("report.json").is_object() && folder.json("report.sarif").is_object());
        assert!(!folder.read("report.html").contains("</pre>\\u"), "markup came through");
        for report in ["report.md", "report.comment"] {
            let (shown, text) = (folder.read(report), outside_code(&folder.read(report)));
            let mut active = ["@", "://", "www.", "](", "#1"].into_iter();
            assert_eq!(active.find(|active| text.contains(active)), None, "{report}: {text}");
            assert!(shown.contains("@org/team") || !shown.contains("Actual"), "{shown}");
        }
        assert!(!folder.read("report.sarif").contains("[x](https"), "a link in SARIF");
        quick_junit::Report::deserialize_from_str(&folder.read("report.junit")).expect("valid XML");
    }
}

#[test]
fn a_forged_report_and_a_forged_recording_are_only_read() {
    let folder = Folder::new();
    let finding = json!({"id": ACTS, "findings": [{}]});
    let report = folder.write("report.json", json!({"target": ACTS, "checks": [finding]}).to_string());
    let [before, after] = [("before", "a"), ("after", ACTS)].map(|(name, line)| {
        let place = folder.file(name);
        std::fs::create_dir(&place).expect("a folder");
        let entry =
            format!("---\nsource: conformance record\nexpression: \u{1b}[2J\u{202e}\n---\nbody /x: {line}\n");
        folder.write(&format!("{name}/groups.\u{1b}[31m.snap"), entry);
        place
    });
    let config = folder.write("c.toml", "profile = \"\\u001b[2J\\u202e\"\n");
    for (arguments, expected) in [
        (["replay", &report, "groups.order.ascending"], 2),
        (["compare", &before, &after], 1),
        (["plan", "--config", &config], 2),
    ] {
        assert_plain(arguments[0], &text(&run(&arguments).assert(expected, &[])));
    }
}
