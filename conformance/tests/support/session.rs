//! Sessions with the program as scripts. `tool/scripts/README.md` describes their lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use sallyport_conformance::lab;
use serde_json::{Value, json};

use super::clean::{self, assert_clean};
use super::formats;
use super::network::{Network, assert_private};
use super::program::{Folder, RunningProgram, TOKEN, command, every_report, program, text, wait_until};
use super::request::{Ending, Request};
use super::rules::{RuledServer, closed_port, unescaped};

/// Programs that run side by side. Most of them wait for servers.
const AT_A_TIME: usize = 4;

/// Maximum time that a program may take until it ends, on a machine under load.
const LONGEST_RUN: Duration = Duration::from_secs(120);

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tool/scripts");

/// Plays each session of a script of the folder, some side by side.
pub(crate) fn play(name: &str) {
    let script = std::fs::read_to_string(format!("{SCRIPTS}/{name}.txt")).expect("a script");
    // One session alone, for its author.
    let chosen = std::env::var("SESSION").unwrap_or_default();
    let sessions = sessions(&script).filter(|session| session.contains(&chosen));
    let (sessions, failed) = (Mutex::new(sessions), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                let next = || sessions.lock().expect("a lock").next();
                while let Some(session) = next() {
                    if catch_unwind(AssertUnwindSafe(|| Session::new(&[]).play(&session))).is_err() {
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

/// The sessions of a script, whose first line is their title.
pub(crate) fn sessions(script: &str) -> impl Iterator<Item = String> {
    script.split("\n## ").skip(1).flat_map(rows)
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

pub(crate) struct Session {
    folder: Folder,
    /// Each with the number of connections that were expected so far.
    servers: BTreeMap<String, (RuledServer, usize)>,
    running: BTreeMap<String, RunningProgram>,
    network: Option<Network>,
    /// Files with a text that a script wrote, which may show the token.
    written: BTreeMap<String, String>,
    /// What stands for a text: the token and its forms, what `let` named, and what the last `shell` printed or `until` read.
    texts: BTreeMap<String, String>,
}

impl Session {
    /// A session in which further names stand for texts.
    pub(crate) fn new(more: &[(&str, String)]) -> Self {
        let folder = Folder::new();
        let json = json!(TOKEN).to_string();
        let forms = json!(clean::forms().join(" ")).to_string();
        let texts = [
            ("folder", folder.path().display().to_string()),
            ("scripts", SCRIPTS.to_owned()),
            ("token", TOKEN.to_owned()),
            ("percent", clean::forms()[1].clone()),
            ("forms", forms.trim_matches('"').to_owned()),
            ("lines", clean::forms().join("\\n")),
            ("json", json),
            ("checks", sallyport_conformance::registry().len().to_string()),
            ("faults", lab::faults().len().to_string()),
            ("variations", lab::variations().len().to_string()),
        ];
        let texts = texts.iter().chain(more).map(|(name, text)| ((*name).to_owned(), text.clone())).collect();
        Self {
            folder,
            servers: BTreeMap::new(),
            running: BTreeMap::new(),
            network: None,
            written: BTreeMap::new(),
            texts,
        }
    }

    pub(crate) fn play(&mut self, session: &str) {
        let (title, lines) = session.split_once('\n').expect("a title and lines");
        let lines = lines.replace("\n    ", " ");
        for line in lines.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            self.line(&format!("{title}: {line}"), &self.filled(line));
        }
        for (name, text) in files(self.folder.path()) {
            let is_response = ["response.txt", "body.txt"].contains(&&*name);
            if self.written.get(&name) != Some(&text) && !is_binary(&name) && !is_response {
                assert_clean(&format!("{title}: {name}"), &text);
            }
        }
        for (name, (server, _)) in &self.servers {
            let unmatched = &server.state().unmatched;
            assert!(unmatched.is_empty(), "{title}: no rule of `{name}` for {unmatched:?}");
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
                let text = expected.replace("\\n", "\n");
                self.folder.write(file, &text);
                self.written.insert((*file).to_owned(), text);
            }
            ["file", folder] if folder.ends_with('/') => {
                let all = files(&self.folder.path().join(folder));
                assert_texts(place, &all.into_values().collect::<String>(), expected);
            }
            ["file", file] => assert_texts(place, &self.folder.read(file), expected),
            ["prose", file] => assert_texts(place, &outside_code(&self.folder.read(file)), expected),
            ["names", folder] => {
                let names = files(&self.folder.path().join(folder)).into_keys();
                assert_texts(place, &lines(names), expected);
            }
            ["link", file, target] => {
                let _ = std::fs::remove_file(self.folder.path().join(file));
                std::os::unix::fs::symlink(target, self.folder.path().join(file)).expect("a link");
            }
            ["folder", name] => std::fs::create_dir(self.folder.path().join(name)).expect("a folder"),
            ["gone", file] => assert!(!self.folder.path().join(file).exists(), "{place}"),
            ["shell", script] => {
                // What the script itself changes stays its own.
                let is_own = |(file, text): &(&String, &String)| {
                    std::fs::read_to_string(self.folder.file(file)).is_ok_and(|found| found == **text)
                };
                let own: Vec<String> =
                    self.written.iter().filter(is_own).map(|(file, _)| file.clone()).collect();
                let mut shell = command("bash");
                let programs = Path::new(env!("CARGO_BIN_EXE_conformance")).parent().expect("a folder");
                let path = std::env::var("PATH").expect("a path");
                shell.env("PATH", format!("{}:{path}", programs.display()));
                let said =
                    shell.args(["-ec", script]).current_dir(self.folder.path()).output().expect("bash runs");
                assert_ended(place, said.status.code(), &text(&said), &format!("0 {expected}"));
                self.texts.insert("said".to_owned(), text(&said).trim().to_owned());
                for file in own.into_iter().filter(|file| self.folder.path().join(file).exists()) {
                    self.written.insert(file.clone(), self.folder.read(&file));
                }
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
                let after = before.replace(from, to);
                self.folder.write(file, &after);
                self.written.entry((*file).to_owned()).and_modify(|text| text.clone_from(&after));
            }
            ["junit", file] => assert_eq!(formats::wrong_junit(&self.folder.read(file)), None, "{place}"),
            ["schema", file] => {
                let schema = serde_json::from_str(include_str!("../../report.schema.json")).expect("JSON");
                let schema = jsonschema::validator_for(&schema).expect("a schema");
                let json = self.folder.json(file);
                let errors: Vec<_> = schema.iter_errors(&json).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "{place}: {errors:?}");
            }
            ["value", file, pointer] => {
                assert_texts(place, &lines(values(&self.folder.json(file), pointer)), expected);
            }
            ["number", file, pointer, range] => {
                let values = values(&self.folder.json(file), pointer);
                let [value] = values.as_slice() else { panic!("{place}: {values:?}") };
                assert_in(place, value.parse().expect("a number"), range);
            }
            ["requests", name, range] => {
                assert_in(place, self.servers[*name].0.state().requests.try_into().expect("a few"), range);
            }
            ["sent", name] => {
                assert_texts(place, &std::mem::take(&mut self.servers[*name].0.state().sent), expected);
            }
            ["asked", name] => {
                let (server, before) = self.servers.get_mut(*name).expect("a server");
                wait_until(|| server.state().connections > *before);
                *before = server.state().connections;
            }
            ["unasked", name] => {
                let (server, before) = &self.servers[*name];
                assert_eq!(server.state().connections, *before, "{place}: something was sent");
            }
            ["start", name, words @ ..] => {
                let running = RunningProgram::start(&mut self.command(words));
                self.running.insert((*name).to_owned(), running);
            }
            ["until", name, wanted] => assert_texts(place, &self.until(name, wanted), expected),
            ["authority" | "issue" | "front" | "tunnel", ..] => {
                let texts = self.network.get_or_insert_with(Network::new).line(&words, &self.folder);
                self.texts.extend(texts);
            }
            ["tunnelled", name] => {
                assert_texts(place, &self.network.as_ref().expect("a network").asked(name), expected);
            }
            ["wait", time] => std::thread::sleep(Duration::from_millis(time.parse().expect("a time in ms"))),
            ["signal", name, signal] => self.running[*name].send(signal),
            ["ended", name] => {
                let ended = self.running.get_mut(*name).expect("a program").ended();
                assert_ended(place, ended, "", expected);
            }
            [word @ ("ends" | "stop"), name] => {
                if *word == "stop" {
                    self.running[*name].send("-INT");
                }
                let (ended, said) = self.running.get_mut(*name).expect("a program").finish();
                assert_ended(place, ended, &said, expected);
            }
            ["lab", ..] => {
                let scenarios = line.strip_prefix("lab").unwrap_or_default().replace(" / ", "\n");
                self.folder.write("lab.toml", scenarios);
                let lab = ["proxy", "--embedded", "--output", "json", "--scenario", "lab.toml"];
                self.running.insert("lab".to_owned(), RunningProgram::start(&mut self.command(&lab)));
                self.until("lab", "baseUrl");
            }
            ["statuses", times] => {
                let listing = Request::new(&["groups"], &self.texts);
                let status = |_| listing.send(Ending::Close).0.expect("a status").to_string();
                let statuses: Vec<_> = (0..times.parse().expect("a number")).map(status).collect();
                self.texts.insert("said".to_owned(), statuses.join(" "));
                assert_texts(place, &self.texts["said"], expected);
            }
            ["log"] => {
                let log = Request::new(&["control", "GET", "/log"], &self.texts);
                // The lab learns by the connection that a caller left.
                wait_until(|| log.send(Ending::Close).1.contains("\"number\":"));
                self.ask(place, &log, Ending::Close, expected);
            }
            ["slow", time, request @ ..] => {
                let begun = Instant::now();
                self.ask(place, &Request::new(request, &self.texts), Ending::Close, expected);
                let least = Duration::from_millis(time.parse().expect("a time in ms"));
                assert!(begun.elapsed() >= least, "{place}: {:?}", begun.elapsed());
            }
            [word @ ("keep" | "leave"), request @ ..] => {
                let ending = if *word == "keep" { Ending::Keep } else { Ending::Leave };
                self.ask(place, &Request::new(request, &self.texts), ending, expected);
            }
            ["control", ..] => {
                let line = line.split(" => ").next().unwrap_or_default();
                let body = line.split_once(" <- ").map_or("", |(_, body)| body).replace(" / ", "\n");
                let request = words.split(|word| *word == "<-").next().unwrap_or_default();
                let request = Request { body, ..Request::new(request, &self.texts) };
                self.ask(place, &request, Ending::Close, expected);
            }
            request @ ["groups" | "extract" | "get", ..] => {
                self.ask(place, &Request::new(request, &self.texts), Ending::Close, expected);
            }
            words => self.run(place, words, expected),
        }
    }

    /// Runs the program, and looks at how it ends and what it prints.
    fn run(&self, place: &str, words: &[&str], expected: &str) {
        let begun = Instant::now();
        let output = self.command(words).output().expect("the program runs");
        assert!(begun.elapsed() < LONGEST_RUN, "{place}: {:?}", begun.elapsed());
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

    /// Reads what a program prints until a line has this text. The line, what stands behind the text, and the addresses and the token
    /// that a lab or a watch printed have names from then on.
    fn until(&mut self, name: &str, wanted: &str) -> String {
        let said = self.running.get_mut(name).expect("a program").read_until(wanted);
        let line = said.lines().last().unwrap_or_default().to_owned();
        let rest = line.rsplit_once(wanted).map_or("", |(_, rest)| rest).trim().to_owned();
        self.texts.extend([("said".to_owned(), rest), ("line".to_owned(), line)]);
        let printed = &self.running[name].printed;
        let marks = [
            ("", "http://"),
            (":control", "\"control\":\""),
            (":control", " control "),
            (":token", "\"token\":\""),
            (":token", "SALLYPORT_API_KEY="),
        ];
        for (part, mark) in marks {
            let found = printed
                .split_once(mark)
                .map(|(_, rest)| rest.split(['"', ' ', '\n']).next().unwrap_or_default());
            let prefix = if part.is_empty() { mark } else { "" };
            if let Some(found) = found {
                let found = format!("{prefix}{}", found.trim_end_matches('/'));
                let beginning = found.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
                self.texts.extend([(format!("{name}:name"), beginning), (format!("{name}{part}"), found)]);
            }
        }
        said
    }

    /// Sends a request, and looks at status and response. What the control endpoint of a lab says shows no token of an account.
    fn ask(&self, place: &str, request: &Request, ending: Ending, expected: &str) {
        let (status, said) = request.send(ending);
        let response = said.rsplit_once('\n').map_or(&*said, |(response, _)| response);
        self.folder.write("response.txt", response);
        self.folder.write("body.txt", response.split_once("\r\n\r\n").map_or("", |(_, body)| body));
        assert_ended(place, status, &said, expected);
        let tokens = self.texts.iter().filter(|(name, _)| name.ends_with(":token") && request.is_private);
        for (_, token) in tokens {
            assert!(!said.contains(&token[..token.len() / 2]), "{place}: {said}");
        }
    }

    fn add_entry(&self, file: &str, entry: &Value) {
        let is_new = !self.folder.path().join(file).exists();
        let mut archive =
            if is_new { json!({"log": {"version": "1.2", "entries": []}}) } else { self.folder.json(file) };
        archive["log"]["entries"].as_array_mut().expect("entries").push(entry.clone());
        self.folder.write(file, archive.to_string());
    }

    /// The line with what stands for an address or a path.
    fn filled(&self, line: &str) -> String {
        let mut line = line.replace("{closed}", &format!("http://{}", closed_port()));
        for (name, text) in &self.texts {
            line = line.replace(&format!("{{{name}}}"), text);
        }
        for (name, (server, _)) in &self.servers {
            line = line.replace(&format!("{{{name}}}"), &server.url());
            line = line.replace(&format!("{{{name}:port}}"), &server.address.port().to_string());
            line = line.replace(&format!("{{{name}:gateways}}"), &server.state().gateways.to_string());
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

fn lines(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().map(|text| text + "\n").collect()
}

/// Databases and archives, which are no text.
fn is_binary(name: &str) -> bool {
    [".db", ".tgz", ".tar.gz", ".whl"].iter().any(|part| name.contains(part))
}

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
            let text = match is_binary(&name) {
                true => String::from_utf8_lossy(&bytes).into_owned(),
                false => String::from_utf8(bytes).unwrap_or_else(|_| panic!("{name} is not UTF-8")),
            };
            found.insert(name, text);
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
    let pointer = pointer.trim_start_matches('/');
    if pointer.is_empty() {
        return vec![value.as_str().map_or_else(|| value.to_string(), str::to_owned)];
    }
    let (name, rest) = pointer.split_once('/').unwrap_or((pointer, ""));
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
    assert_private(place, said);
    assert!(!said.contains("panicked"), "{place}: {said}");
    assert_texts(place, said, texts);
}

/// Texts that must be there, or with `!` must not, or with `2*` so many times. With `=` each line is one of these.
fn assert_texts(place: &str, said: &str, expected: &str) {
    let shown = || match said.char_indices().map(|(index, _)| index).collect::<Vec<_>>().as_slice() {
        all if all.len() < 4_000 => said.to_owned(),
        all => format!("{} … {}", &said[..all[2_000]], &said[all[all.len() - 2_000]..]),
    };
    for part in expected.split(" | ").filter(|part| !part.is_empty()) {
        let part = part.replace("\\n", "\n").replace("\\r", "\r").replace("\\e", "\u{1b}");
        if let Some(lines) = part.strip_prefix('=') {
            let is_known = |line| lines.split('/').any(|known| known == line);
            assert!(!said.is_empty() && said.lines().all(is_known), "{place}: {part:?} in {}", shown());
            continue;
        }
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
