//! Sessions with the program as scripts. `scripts/README.md` describes their lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use super::clean::{self, assert_clean};
use super::program::{Finish as _, Folder, RunningProgram, TOKEN, every_report, program, text, wait_until};
use super::rules::{RuledServer, unescaped};
use super::server;

/// Programs that run side by side. Most of them wait for servers.
const AT_A_TIME: usize = 4;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tool/scripts");

macro_rules! scripts {
    ($($name:ident)+) => {$(
        #[test]
        fn $name() {
            play(stringify!($name));
        }
    )+};
}

scripts! {
    action artefacts commands configurations endings evidence facts judged observed servers usage watch written
    busy discovery environments runs wire
}

/// Plays each session of a script, in a folder of its own.
fn play(name: &str) {
    let script = std::fs::read_to_string(format!("{SCRIPTS}/{name}.txt")).expect("a script");
    let sessions = script.split("\n## ").skip(1).filter(|session| {
        cfg!(feature = "embedded")
            || !session.lines().next().is_some_and(|title| title.ends_with("(embedded)"))
    });
    // One session alone, for its author.
    let chosen = std::env::var("SESSION").unwrap_or_default();
    let sessions = sessions.flat_map(rows).filter(|session| session.contains(&chosen));
    let (sessions, failed) = (Mutex::new(sessions), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                let next = || sessions.lock().expect("a lock").next();
                while let Some(session) = next() {
                    if catch_unwind(AssertUnwindSafe(|| Session::new().play(&session))).is_err() {
                        let title = session.lines().next().unwrap_or_default().to_owned();
                        failed.lock().expect("a lock").push(title);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("a lock");
    assert!(failed.is_empty(), "failed: {failed:#?}");
}

/// A session for each row of its table, `each NAME :: …` with lines `- VALUE :: …`; without one, the session itself.
fn rows(session: &str) -> Vec<String> {
    let Some((title, (names, rest))) =
        session.split_once("\neach ").and_then(|(title, rest)| Some((title, rest.split_once('\n')?)))
    else {
        return vec![session.to_owned()];
    };
    let (rows, lines): (Vec<&str>, Vec<&str>) = rest.lines().partition(|line| line.starts_with("- "));
    let of_row = |row: &&str| {
        let (names, values): (Vec<_>, Vec<_>) =
            (names.split(" :: ").collect(), row[2..].split(" :: ").collect());
        assert_eq!(names.len(), values.len(), "{title}: {row}");
        let filled = names
            .iter()
            .zip(values)
            .fold(lines.join("\n"), |lines, (name, value)| lines.replace(&format!("{{{name}}}"), value));
        format!("{title} ({})\n{filled}", &row[2..])
    };
    rows.iter().map(of_row).collect()
}

/// What a session has begun.
struct Session {
    folder: Folder,
    /// Each with the number of connections that were expected so far.
    servers: BTreeMap<String, (RuledServer, usize)>,
    running: BTreeMap<String, RunningProgram>,
    /// Files that may show the token.
    written: BTreeSet<String>,
    /// What stands for a text: the token and its forms, what `let` named, and what the last `shell` printed.
    texts: BTreeMap<String, String>,
}

impl Session {
    fn new() -> Self {
        let folder = Folder::new();
        let json = json!(TOKEN).to_string();
        let forms = json!(clean::forms().join(" ")).to_string();
        let texts = [
            ("folder", folder.path().display().to_string()),
            ("scripts", SCRIPTS.to_owned()),
            ("token", TOKEN.to_owned()),
            ("percent", clean::forms()[1].clone()),
            ("forms", forms.trim_matches('"').to_owned()),
            ("json", json),
        ];
        let texts = texts.map(|(name, text)| (name.to_owned(), text)).into();
        Self { folder, servers: BTreeMap::new(), running: BTreeMap::new(), written: BTreeSet::new(), texts }
    }

    fn play(&mut self, session: &str) {
        let (title, lines) = session.split_once('\n').expect("a title and lines");
        let lines = lines.replace("\n    ", " ");
        for line in lines.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            self.line(&format!("{title}: {line}"), &self.filled(line));
        }
        for (name, text) in files(self.folder.path()) {
            if !self.written.contains(&name) && !text.contains('\0') {
                assert_clean(&format!("{title}: {name}"), &text);
            }
        }
    }

    fn line(&mut self, place: &str, line: &str) {
        let (words, expected) = line.split_once(" => ").unwrap_or((line, ""));
        let words = split(words);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["serve", name] => match self.servers.get(*name) {
                Some((server, _)) => server.change(expected),
                None => drop(self.servers.insert((*name).to_owned(), (RuledServer::start(expected), 0))),
            },
            ["write", file] => {
                self.written.insert((*file).to_owned());
                self.folder.write(file, expected.replace("\\n", "\n"));
            }
            ["file", file] if file.ends_with('/') => {
                let all: String = files(&self.folder.path().join(file)).into_values().collect();
                assert_texts(place, &all, expected);
            }
            ["file", file] => assert_texts(place, &self.folder.read(file), expected),
            ["prose", file] => assert_texts(place, &outside_code(&self.folder.read(file)), expected),
            ["names", folder] => {
                let names =
                    files(&self.folder.path().join(folder)).into_keys().map(|name| format!("{name}\n"));
                assert_texts(place, &names.collect::<String>(), expected);
            }
            ["link", file, target] => {
                let _ = std::fs::remove_file(self.folder.path().join(file));
                std::os::unix::fs::symlink(target, self.folder.path().join(file)).expect("a link");
            }
            ["folder", name] => std::fs::create_dir(self.folder.path().join(name)).expect("a folder"),
            ["gone", file] => assert!(!self.folder.path().join(file).exists(), "{place}"),
            ["shell", script] => {
                let mut shell = super::program::command("bash");
                let programs = Path::new(env!("CARGO_BIN_EXE_conformance")).parent().expect("a folder");
                let path = std::env::var("PATH").expect("a path");
                shell.env("PATH", format!("{}:{path}", programs.display()));
                let said = shell.args(["-ec", script]).current_dir(self.folder.path()).finish();
                assert!(said.status.success(), "{place}: {}", text(&said));
                assert_texts(place, &text(&said), expected);
                self.texts.insert("said".to_owned(), text(&said).trim().to_owned());
            }
            ["let", name] => {
                let text = String::from_utf8(unescaped(expected)).expect("UTF-8");
                self.texts.insert((*name).to_owned(), text);
            }
            ["entry", file, method, path, sent @ .., response] => {
                self.add_entry(file, &entry(method, path, sent, &self.folder.read(response)));
            }
            ["field", path, sent @ .., response] => {
                let sent: String = sent.iter().map(|sent| format!(" --data-raw '{sent}'")).collect();
                self.folder.write("curl.txt", format!("curl '{FIELD}{path}'{sent}"));
                self.run(place, &["judge", "--curl", "curl.txt", "--response", response], expected);
            }
            ["metrics", file] => assert_metrics(&self.folder.read(file)),
            ["config", ..] => {
                let text = line.split_once(" => ").map_or("", |(text, _)| text).trim_start_matches("config ");
                self.folder.write("c.toml", text.replace("\\n", "\n"));
                self.run(place, &["plan", "--config", "c.toml"], &format!("2 {expected}"));
            }
            ["edit", file, from, to] => {
                let before = self.folder.read(file);
                assert!(before.contains(from), "{place}: {before}");
                self.folder.write(file, before.replace(from, to));
            }
            ["schema", file] => {
                let schema = serde_json::from_str(include_str!("../../report.schema.json")).expect("JSON");
                let schema = jsonschema::validator_for(&schema).expect("a schema");
                let json = self.folder.json(file);
                let errors: Vec<_> = schema.iter_errors(&json).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "{place}: {errors:?}");
            }
            ["value", file, pointer] => {
                let values = values(&self.folder.json(file), pointer);
                assert_texts(
                    place,
                    &values.iter().map(|value| format!("{value}\n")).collect::<String>(),
                    expected,
                );
            }
            ["number", file, pointer, range] => {
                let values = values(&self.folder.json(file), pointer);
                let [value] = values.as_slice() else { panic!("{place}: {values:?}") };
                assert_in(place, value.parse().expect("a number"), range);
            }
            ["requests", name, range] => {
                assert_in(place, self.servers[*name].0.requests().try_into().expect("a few"), range);
            }
            ["sent", name] => {
                let sent = std::mem::take(&mut *self.servers[*name].0.sent.lock().expect("whole"));
                assert_texts(place, &sent, expected);
            }
            ["asked", name] => {
                let (server, before) = self.servers.get_mut(*name).expect("a server");
                wait_until(|| server.connections() > *before);
                *before = server.connections();
            }
            ["unasked", name] => {
                let (server, before) = &self.servers[*name];
                assert_eq!(server.connections(), *before, "{place}: something was sent");
            }
            ["start", name, words @ ..] => {
                let running = RunningProgram::start(&mut self.command(words));
                self.running.insert((*name).to_owned(), running);
            }
            ["until", name, wanted] => {
                let said = self.running.get_mut(*name).expect("a program").read_until(wanted);
                assert_texts(place, &said, expected);
            }
            ["wait", time] => std::thread::sleep(Duration::from_millis(time.parse().expect("a time in ms"))),
            ["signal", name, signal] => self.running[*name].send(signal),
            ["ended", name] => {
                let ended = self.running.get_mut(*name).expect("a program").ended();
                assert_ended(place, ended, "", expected);
            }
            ["ends", name] => {
                let (ended, said) = self.running.get_mut(*name).expect("a program").finish();
                assert_ended(place, ended, &said, expected);
            }
            ["get", name, request @ ..] => {
                let said = self.get(name, request);
                let body = said.split_once("\r\n\r\n").map_or("", |(_, body)| body);
                self.folder.write("body.txt", body);
                assert_texts(place, &said, expected);
            }
            words => self.run(place, words, expected),
        }
    }

    /// Runs the program, and looks at how it ends and what it prints.
    fn run(&self, place: &str, words: &[&str], expected: &str) {
        let output = self.command(words).finish();
        self.folder.write("stdout.txt", &output.stdout);
        assert_ended(place, output.status.code(), &text(&output), expected);
    }

    /// The program, or a step of the action, with what stands before it.
    fn command(&self, words: &[&str]) -> Command {
        let (prefix, words) = match words {
            [prefix @ ("!" | "full" | "closed" | "step"), words @ ..] => (*prefix, words),
            words => ("", words),
        };
        let is_variable = |word: &&&str| !word.starts_with('-') && word.contains('=');
        let (variables, words) = words.split_at(words.iter().take_while(is_variable).count());
        let sends =
            ["run", "record", "compare", "replay"].contains(&words[0]) && !words.contains(&"--profile");
        let full: &[&str] = if sends && prefix != "!" { &["--profile", "full"] } else { &[] };
        let reports = every_report(self.folder.path());
        let words = words.iter().map(|word| if *word == "--every-report" { reports.as_str() } else { word });
        let words: Vec<&str> = words.chain(full.iter().copied()).collect();
        let mut command = match prefix {
            "step" => super::action::step(words[0], self.folder.path()),
            _ => program(&words),
        };
        for name in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        match prefix {
            "!" => drop(command.env_remove("SALLYPORT_API_KEY")),
            "full" => drop(command.stdout(File::options().write(true).open("/dev/full").expect("a device"))),
            "closed" => drop(command.stdout(std::io::pipe().expect("a pipe").1)),
            _ => {}
        }
        for (name, value) in variables.iter().filter_map(|variable| variable.split_once('=')) {
            command.env(name, value.replace("\\n", "\n"));
        }
        command.current_dir(self.folder.path());
        command
    }

    /// Asks a program at the address that it has printed.
    fn get(&self, name: &str, request: &[&str]) -> String {
        let printed = &self.running[name].printed;
        let address = printed.split("http://").nth(1).and_then(|rest| rest.split(['/', ' ', '\n']).next());
        let address = address.expect("an address");
        let head = match request {
            [line] if line.contains("HTTP/") => (*line).to_owned(),
            [line] => format!("{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close"),
            [line, host] => format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close"),
            _ => panic!("expected a request line and perhaps a host"),
        };
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        write!(stream, "{head}\r\n\r\n").expect("sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        response
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
        for (name, text) in &self.texts {
            line = line.replace(&format!("{{{name}}}"), text);
        }
        for (name, (server, _)) in &self.servers {
            line = line.replace(&format!("{{{name}}}"), &server.url());
            line = line.replace(&format!("{{{name}:port}}"), &server.address().port().to_string());
            line = line.replace(&format!("{{{name}:gateways}}"), &server.gateways().to_string());
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

/// Every file below a folder, by its path from there.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let name = entry.file_name().into_string().expect("a name in UTF-8");
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            let below = files(&entry.path());
            found.extend(below.into_iter().map(|(below, text)| (format!("{name}/{below}"), text)));
        } else if kind.is_file() {
            let bytes = std::fs::read(entry.path()).expect("a file");
            found.insert(name, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    found
}

/// Markdown without its code, in which a reader finds no mentions, references and links.
fn outside_code(markdown: &str) -> String {
    let (mut text, mut is_code) = (String::new(), false);
    for line in markdown.lines().map(|line| line.replace("\\`", "")) {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            assert_eq!(line.matches('`').count() % 2, 0, "{line}");
            text.extend(line.split('`').step_by(2));
            text.push('\n');
        }
    }
    text
}

/// What a pointer leads to, with `*` for each item or member. Texts stand without quotes.
fn values(value: &Value, pointer: &str) -> Vec<String> {
    let Some((name, rest)) =
        pointer.trim_start_matches('/').split_once('/').or(match pointer.trim_start_matches('/') {
            "" => None,
            last => Some((last, "")),
        })
    else {
        return vec![value.as_str().map_or_else(|| value.to_string(), str::to_owned)];
    };
    let found: Vec<&Value> = match (name, value) {
        ("*", Value::Array(items)) => items.iter().collect(),
        ("*", Value::Object(members)) => members.values().collect(),
        (_, value) => value.pointer(&format!("/{name}")).into_iter().collect(),
    };
    found.into_iter().flat_map(|value| values(value, rest)).collect()
}

/// A metric has one HELP and one TYPE, its samples follow them, and no series comes twice.
fn assert_metrics(text: &str) {
    assert!(text.ends_with('\n'), "{text}");
    let (mut metric, mut seen) = ("", BTreeSet::new());
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

/// A number in a range, `FROM..TO` with both of them, each a sum such as `25+100`.
fn assert_in(place: &str, number: i64, range: &str) {
    let sum = |terms: &str| -> i64 {
        let terms = terms.replace('-', "+-");
        terms.split('+').map(|term| term.parse::<i64>().expect("a number")).sum()
    };
    let (from, to) = range.split_once("..").unwrap_or((range, range));
    let is_in = number >= sum(from) && (to.is_empty() || number <= sum(to));
    assert!(is_in, "{place}: {number} is not in {range}");
}

/// How a program ended, `CODE TEXTS`. Nothing that it prints shows the token.
fn assert_ended(place: &str, ended: Option<i32>, said: &str, expected: &str) {
    let (codes, texts) = expected.split_once(' ').unwrap_or((expected, ""));
    let ended = ended.map_or("none".to_owned(), |code| code.to_string());
    assert!(codes == "?" || codes.split('/').any(|code| code == ended), "{place}: {ended}: {said}");
    assert_clean(place, said);
    assert!(!said.contains("panicked"), "{place}: {said}");
    assert_texts(place, said, texts);
}

/// Texts that must be there, or with `!` must not, or with `2*` so many times.
fn assert_texts(place: &str, said: &str, expected: &str) {
    let shown = || match said.char_indices().map(|(index, _)| index).collect::<Vec<_>>().as_slice() {
        all if all.len() < 4_000 => said.to_owned(),
        all => format!("{} … {}", &said[..all[2_000]], &said[all[all.len() - 2_000]..]),
    };
    for part in expected.split(" | ").filter(|part| !part.is_empty()) {
        let part = part.replace("\\n", "\n").replace("\\r", "\r").replace("\\e", "\u{1b}");
        let times = part.split_once('*').and_then(|(times, part)| Some((times.parse::<usize>().ok()?, part)));
        match (part.strip_prefix('!'), times) {
            (Some(absent), _) => assert!(!said.contains(absent), "{place}: {absent:?} in {}", shown()),
            (None, Some((times, part))) => {
                assert_eq!(said.matches(part).count(), times, "{place}: {part:?} in {}", shown());
            }
            (None, None) => assert!(said.contains(&part), "{place}: expected {part:?} in {}", shown()),
        }
    }
}
