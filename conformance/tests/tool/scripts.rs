//! Sessions with the program as scripts. `scripts/README.md` describes their lines.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use serde_json::{Value, json};

use super::program::{Finish as _, Folder, TOKEN, code, program, text};
use super::server::{self, TestServer};

/// Programs that run side by side. Most of them wait for servers.
const AT_A_TIME: usize = 4;

macro_rules! scripts {
    ($($name:ident)+) => {$(
        #[test]
        fn $name() {
            play(include_str!(concat!("scripts/", stringify!($name), ".txt")));
        }
    )+};
}

scripts! { commands configurations endings evidence facts judged observed usage written }

/// Plays each session of a script, in a folder of its own.
fn play(script: &str) {
    let sessions = script.split("\n## ").skip(1).filter(|session| {
        cfg!(feature = "embedded")
            || !session.lines().next().is_some_and(|title| title.ends_with("(embedded)"))
    });
    let (sessions, failed) = (Mutex::new(sessions), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                let next = || sessions.lock().expect("a lock").next();
                while let Some(session) = next() {
                    if catch_unwind(AssertUnwindSafe(|| Session::new().play(session))).is_err() {
                        failed.lock().expect("a lock").push(session.lines().next().unwrap_or_default());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("a lock");
    assert!(failed.is_empty(), "failed: {failed:#?}");
}

/// What a session has begun.
struct Session {
    folder: Folder,
    /// Each with the number of connections that were expected so far.
    servers: BTreeMap<String, (TestServer, usize)>,
}

impl Session {
    fn new() -> Self {
        Self { folder: Folder::new(), servers: BTreeMap::new() }
    }

    fn play(&mut self, session: &str) {
        let (title, lines) = session.split_once('\n').expect("a title and lines");
        let lines = lines.replace("\n    ", " ");
        for line in lines.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            let filled = self.filled(line);
            let (words, expected) = filled.split_once(" => ").unwrap_or((&filled, ""));
            let words = split(words);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let place = format!("{title}: {line}");
            match words.as_slice() {
                ["serve", name, behaviour, arguments @ ..] => {
                    self.servers.insert((*name).to_owned(), (serve(behaviour, arguments), 0));
                }
                ["write", file] => drop(self.folder.write(file, expected.replace("\\n", "\n"))),
                ["file", file] => assert_texts(&place, &self.folder.read(file), expected),
                ["link", file, target] => {
                    let link = self.folder.path().join(file);
                    std::os::unix::fs::symlink(target, link).expect("a link");
                }
                ["folder", name] => {
                    std::fs::create_dir(self.folder.path().join(name)).expect("a folder");
                }
                ["gone", file] => assert!(!self.folder.path().join(file).exists(), "{place}"),
                ["entry", file, method, path, sent @ .., response] => {
                    self.add_entry(file, &entry(method, path, sent, &self.folder.read(response)));
                }
                ["field", path, sent @ .., response] => {
                    let sent: String = sent.iter().map(|sent| format!(" --data-raw '{sent}'")).collect();
                    self.folder.write("curl.txt", format!("curl '{FIELD}{path}'{sent}"));
                    self.run(&place, &["judge", "--curl", "curl.txt", "--response", response], expected);
                }
                ["metrics", file] => super::ci::assert_metrics(&self.folder.read(file)),
                ["config", ..] => {
                    let (text, _) = filled.split_once(" => ").expect("a text and texts");
                    self.folder.write("c.toml", text.trim_start_matches("config ").replace("\\n", "\n"));
                    self.run(&place, &["plan", "--config", "c.toml"], &format!("2 {expected}"));
                }
                ["edit", file, from, to] => {
                    let before = self.folder.read(file);
                    assert!(before.contains(from), "{place}: {before}");
                    self.folder.write(file, before.replace(from, to));
                }
                ["asked", name] => {
                    let (server, before) = self.servers.get_mut(*name).expect("a server");
                    assert!(server.connections() > *before, "{place}: nothing was sent");
                    *before = server.connections();
                }
                ["unasked", name] => {
                    let (server, before) = &self.servers[*name];
                    assert_eq!(server.connections(), *before, "{place}: something was sent");
                }
                words => self.run(&place, words, expected),
            }
        }
    }

    /// Runs the program, and looks at how it ends and what it prints.
    fn run(&self, place: &str, words: &[&str], expected: &str) {
        let (has_no_token, is_full) = (words[0] == "!", words[0] == "full");
        let words = &words[usize::from(has_no_token || is_full)..];
        let is_variable = |word: &&&str| !word.starts_with('-') && word.contains('=');
        let (variables, words) = words.split_at(words.iter().take_while(is_variable).count());
        let sends =
            ["run", "record", "compare", "replay"].contains(&words[0]) && !words.contains(&"--profile");
        let full: &[&str] = if sends && !has_no_token { &["--profile", "full"] } else { &[] };
        let mut command = program(&[words, full].concat());
        for name in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        if has_no_token {
            command.env_remove("SALLYPORT_API_KEY");
        }
        if is_full {
            command.stdout(File::options().write(true).open("/dev/full").expect("a device"));
        }
        for (name, value) in variables.iter().filter_map(|variable| variable.split_once('=')) {
            command.env(name, value.replace("\\n", "\n"));
        }
        let output = command.current_dir(self.folder.path()).finish();
        let (code_expected, texts) = expected.split_once(' ').unwrap_or((expected, ""));
        let said = text(&output);
        let code = code(&output).to_string();
        assert!([code.as_str(), "?"].contains(&code_expected), "{place}: {code}: {said}");
        assert!(!said.contains(&TOKEN[..8]), "{place}: shows the token: {said}");
        assert_texts(place, &said, texts);
    }

    /// Adds an exchange to an HTTP Archive, which may be new.
    fn add_entry(&self, file: &str, entry: &Value) {
        let is_new = !self.folder.path().join(file).exists();
        let mut archive =
            if is_new { json!({"log": {"version": "1.2", "entries": []}}) } else { self.folder.json(file) };
        archive["log"]["entries"].as_array_mut().expect("entries").push(entry.clone());
        self.folder.write(file, archive.to_string());
    }

    /// The line with what stands for an address or a path.
    fn filled(&self, line: &str) -> String {
        let mut line = line.replace("{closed}", &format!("http://{}", server::closed_port()));
        for (name, (server, _)) in &self.servers {
            line = line.replace(&format!("{{{name}}}"), &server.url());
            line = line.replace(&format!("{{{name}:port}}"), &server.address().port().to_string());
        }
        line
    }
}

/// Where the exchanges of `entry` and `field` were recorded.
const FIELD: &str = "https://a.invalid/openapi/v1/";

/// An entry of an HTTP Archive, with a response as `curl -i` prints it.
fn entry(method: &str, path: &str, sent: &[&str], response: &str) -> Value {
    let (head, body) = response.split_once("\n\n").expect("a head and a body");
    let status: u16 = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let header = |(name, value): (&str, &str)| json!({"name": name, "value": value});
    let headers: Vec<Value> = head.lines().filter_map(|line| line.split_once(": ").map(header)).collect();
    let mut entry = json!({
        "startedDateTime": "2026-01-01T10:00:00.250Z", "time": 12.5,
        "request": {"method": method, "url": format!("{FIELD}{path}"), "headers": []},
        "response": {"status": status, "headers": headers, "content": {"text": body}},
    });
    if let [sent] = sent {
        entry["request"]["headers"] = json!([header(("content-type", "application/json"))]);
        entry["request"]["postData"] = json!({"mimeType": "application/json", "text": sent});
    }
    entry
}

/// Words as a shell reads them: what stands between single quotes is one word.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut is_open) = (vec![String::new()], false);
    for part in line.split('\'') {
        for (number, piece) in part.split(if is_open { '\0' } else { ' ' }).enumerate() {
            if number > 0 {
                words.push(String::new());
            }
            words.last_mut().expect("a word").push_str(piece);
        }
        is_open = !is_open;
    }
    words
}

/// Texts that must be there, or with `!` must not, or with `2*` so many times.
fn assert_texts(place: &str, said: &str, expected: &str) {
    for part in expected.split(" | ").filter(|part| !part.is_empty()) {
        let part = part.replace("\\n", "\n").replace("\\e", "\u{1b}");
        let times = part.split_once('*').and_then(|(times, part)| Some((times.parse::<usize>().ok()?, part)));
        match (part.strip_prefix('!'), times) {
            (Some(absent), _) => assert!(!said.contains(absent), "{place}: {absent:?} in {said}"),
            (None, Some((times, part))) => {
                assert_eq!(said.matches(part).count(), times, "{place}: {part:?} in {said}");
            }
            (None, None) => assert!(said.contains(&part), "{place}: expected {part:?} in {said}"),
        }
    }
}

/// A server that behaves so.
fn serve(behaviour: &str, arguments: &[&str]) -> TestServer {
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let ids = move || arguments.iter().map(|id| id.parse().expect("an id")).collect::<Vec<u32>>();
    match behaviour {
        "groups" => {
            let ids = ids();
            TestServer::start(move |stream| server::groups(stream, &ids))
        }
        "fixed" => super::evidence::fixed(),
        "passive" => super::evidence::without_extraction(false),
        "miscounting" => super::evidence::miscounting(),
        // In the wrong order, without a name, and without the headers.
        "unnamed" => TestServer::start(|stream| {
            let group = |id: u8| json!({"groupId": id, "createdAt": "2026", "updatedAt": ""});
            let data = json!({"items": [group(2), group(1)]});
            let body = json!({"code": 200, "message": "ok", "requestId": "r", "data": data}).to_string();
            server::response(stream, "200 OK", &[("X-Request-Id", "")], body.as_bytes())
        }),
        "denying" => super::evidence::without_extraction(true),
        "empty" => TestServer::start(|stream| {
            let body = br#"{"code": 200, "message": "ok", "requestId": "r", "data": {"items": []}}"#;
            let headers = [("Content-Type", "application/json"), ("X-Request-Id", "r")];
            server::response(stream, "200 OK", &headers, body)
        }),
        "array" => TestServer::start(|stream| server::json(stream, b"[]")),
        // The first response goes to the question whether anybody is there.
        "flaky" => TestServer::start_reading(|stream, request| {
            server::groups(stream, if request.number == 1 { &[2, 1] } else { &[1, 2] })
        }),
        "rejecting" => TestServer::start(|stream| respond(stream, "401 Unauthorized", 40_102)),
        "misdirected" => TestServer::start(|stream| respond(stream, "421 Misdirected Request", 42_100)),
        "picky" => TestServer::start_reading(|stream, request| match request.head.contains("trace=7") {
            true => respond(stream, "401 Unauthorized", 1),
            false => server::groups(stream, &[1, 2]),
        }),
        "short" => TestServer::start_reading(|stream, request| {
            match request.head {
            head if !head.contains("/extract") => server::groups(stream, &[1]),
            head if head.contains("ZZZ") => {
                let headers = [("Content-Type", "application/json"), ("Retry-After", "1")];
                server::response(stream, "404 Not Found", &headers, br#"{"code": 50301, "message": "none"}"#)
            }
            _ => server::json(stream, br#"{"code": 0, "success": true, "msg": "ok", "request_ip": "127.0.0.1", "data": [{"ip": "192.0.2.1", "port": 1}]}"#),
        }
        }),
        other => panic!("unknown behaviour {other}"),
    }
}

fn respond(stream: &mut TcpStream, status: &str, code: u32) -> std::io::Result<()> {
    let body = format!(r#"{{"code": {code}, "message": "no"}}"#);
    server::response(stream, status, &[("Content-Type", "application/json")], body.as_bytes())
}
