//! Sessions of administrators and callers with the program, as they type and send them, and what comes of it: the files `*.txt` beside.
//!
//! `## TITLE` begins a session, in a folder and with a database of its own. Four spaces go on with the line above. A line is one of:
//!
//! | line | what |
//! |---|---|
//! | `write FILE => TEXT` | writes a file |
//! | `file FILE => TEXTS` | a file has these texts |
//! | `files => TEXTS` | the names of all files, sorted, have these texts |
//! | `$ [VARIABLE=VALUE …] COMMAND => CODE TEXTS` | the program ends with this exit code; standard output has these texts, or after a failure standard error |
//! | `run FLAGS` | starts a server; without `--db` it is a sandbox, whose tokens are `{main}`, `{second}` and so on |
//! | `METHOD,… TARGET [HEADER …] [< BODY] => STATUS TEXTS` | what the server responds; a number of five digits is an error code with its envelope; responses with a request id have the same `data` |
//! | `until METHOD …` | the same after some tries |
//! | `printed => TEXTS` | what a sandbox has printed once it listens has these texts |
//! | `signal NAME` | sends a signal to the server |
//! | `end CODE => TEXTS` | the server ends with this exit code, and its log has these texts |
//!
//! Targets begin with `admin:` for the operator's address. `{groups}`, `{extract}` and `{search}` are calls with the main token, those in
//! capitals only their paths. Headers stand between ` | `, as texts do; one behind `!` must not be there, and one behind `=` is
//! all there is. `\n` is a line end and `\xff` that byte. No token is in a log.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::File,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

use sallyport_server::{
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    edge::operation::Operation as _,
};
use serde_json::Value;

use crate::{
    cli::program::{done, failed, server},
    support::wire::{Response, exchange, read},
};

macro_rules! sessions {
    ($($name:ident)+) => {$(
        #[test]
        fn $name() {
            play(include_str!(concat!(stringify!($name), ".txt")));
        }
    )+};
}

sessions! { admission callers commands sandbox servers }

/// Plays each session of a script.
fn play(script: &str) {
    std::thread::scope(|scope| {
        for session in format!("\n{script}").split("\n## ").skip(1) {
            let session = session.to_owned();
            scope.spawn(move || Session::new().play(&session));
        }
    });
}

struct Session {
    folder: tempfile::TempDir,
    server: Option<Running>,
    /// What stands for names in braces.
    names: BTreeMap<String, String>,
}

struct Running {
    child: Child,
    address: SocketAddr,
    admin: SocketAddr,
    printed: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Session {
    fn new() -> Self {
        let paths = [
            ("EXTRACT", ExtractProxies::PATH),
            ("GROUPS", ListStaticGroups::PATH),
            ("SEARCH", SearchStaticInstances::PATH),
        ];
        let names = paths.map(|(name, path)| (name.to_owned(), path.to_owned())).into();
        Self { folder: tempfile::tempdir().unwrap(), server: None, names }
    }

    fn play(&mut self, session: &str) {
        let (title, lines) = session.split_once('\n').unwrap();
        for line in lines.replace("\n    ", " ").lines().filter(|line| !line.is_empty()) {
            let place = format!("{title}: {line}");
            let filled = self.filled(line);
            let (words, expected) = filled.split_once(" => ").unwrap_or((&filled, ""));
            let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
            match verb {
                "write" => {
                    std::fs::write(self.folder.path().join(rest), expected.replace("\\n", "\n")).unwrap();
                }
                "file" => {
                    let text = std::fs::read_to_string(self.folder.path().join(rest)).unwrap();
                    assert_texts(&place, &text, expected);
                }
                "files" => {
                    let files = std::fs::read_dir(self.folder.path()).unwrap();
                    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
                    let mut names: Vec<_> = names.collect();
                    names.sort();
                    assert_texts(&place, &names.join(" "), expected);
                }
                "$" => self.execute(&place, rest, expected),
                "run" => self.start(rest),
                "printed" => assert_texts(&place, &self.running().printed, expected),
                "signal" => {
                    let id = self.running().child.id().to_string();
                    assert!(Command::new("kill").args(["-s", rest, &id]).status().unwrap().success());
                }
                "end" => {
                    let code = self.server.as_mut().unwrap().child.wait().unwrap().code().unwrap();
                    let log = self.log();
                    assert_eq!(rest, code.to_string(), "{place}: {log}");
                    assert_texts(&place, &log, expected);
                }
                "until" => {
                    let judged = || self.request(&place, rest, expected);
                    let is_met = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(judged)).is_ok();
                    let again = |_| {
                        std::thread::sleep(Duration::from_millis(20));
                        is_met()
                    };
                    assert!((0..200).any(again), "{place}: not in time");
                }
                _ => self.request(&place, words, expected),
            }
        }
        self.server = None;
        let log = self.log();
        let is_secret =
            |(name, value): &(&String, &String)| value.starts_with("sally_") || name.starts_with('…');
        let shown = self.names.iter().filter(is_secret).find(|(_, value)| log.contains(*value));
        assert_eq!(shown, None, "{title}: {log}");
        assert!(!log.contains("panicked") && !log.contains('\u{1b}'), "{title}: {log}");
    }

    /// The line with what names stand for.
    fn filled(&self, line: &str) -> String {
        let line = line
            .replace("{groups}", "{GROUPS}?api_key={main}")
            .replace("{extract}", "{EXTRACT}?api_key={main}&num=1")
            .replace("{search}", "{SEARCH}?api_key={main}");
        self.names.iter().fold(line, |line, (name, value)| line.replace(&format!("{{{name}}}"), value))
    }

    fn command(&self, line: &str) -> Command {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let is_variable = |word: &&&str| word.starts_with("SALLYPORT_") && word.contains('=');
        let (variables, words) = words.split_at(words.iter().take_while(is_variable).count());
        let mut command = server(words);
        command.env("SALLYPORT_DB", "test.db").current_dir(self.folder.path());
        command.envs(variables.iter().filter_map(|variable| variable.split_once('=')));
        command
    }

    fn execute(&mut self, place: &str, line: &str, expected: &str) {
        let output = self.command(line).output().unwrap();
        let (code, texts) = expected.split_once(' ').unwrap_or((expected, ""));
        assert_eq!(output.status.code().unwrap().to_string(), code, "{place}: {output:?}");
        let said = if code == "0" { done(&output) } else { failed(&output, code.parse().unwrap()) };
        assert_texts(place, &said, texts);
        // A failure is one line, unless more are expected, to which clap adds how the command is used.
        let errors: Vec<_> = said.lines().filter(|line| !line.contains(" WARN ")).collect();
        let is_error = |line: &&str| line.starts_with("error: ");
        assert!(code == "0" || errors.first().is_some_and(is_error), "{place}: {said}");
        assert!(code != "1" || errors.len() == 1 || texts.contains("\\n"), "{place}: {said}");
        if let Some(token) = said.split_whitespace().find(|word| word.starts_with("sally_api_")) {
            self.names.insert("main".to_owned(), token.to_owned());
        }
    }

    fn start(&mut self, flags: &str) {
        let is_sandbox = !flags.contains("--db");
        let mut command = self.command(&format!("run --listen 127.0.0.1:0 --admin 127.0.0.1:0 {flags}"));
        if is_sandbox {
            command.env_remove("SALLYPORT_DB").args([
                "--sandbox-tokens",
                "fixed",
                "--sandbox-output",
                "json",
            ]);
        }
        let log = File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        self.server = None;
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = || lines.next().unwrap_or_else(|| panic!("{flags}: it ended")).unwrap();
        let address = |url: &str| url.rsplit('/').next().unwrap().parse().unwrap();
        let first = next();
        if !is_sandbox {
            // No token, which is shown when it is made and not later.
            let admin = address(first.strip_prefix("operator's pages on ").unwrap());
            let address = address(next().strip_prefix("listening on ").unwrap());
            self.server = Some(Running { child, address, admin, printed: first });
            return;
        }
        let described: Value = serde_json::from_str(&first).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (base_url, admin) = (text(&described["baseUrl"]), text(&described["admin"]));
        for (name, token) in described["tokens"].as_object().unwrap() {
            let token = text(&token["token"]);
            // So many characters in a row are no accident.
            self.names.insert(format!("{name}…"), token[..20].to_owned());
            self.names.insert(format!("…{name}"), token[token.len() - 20..].to_owned());
            let before = self.names.insert(name.clone(), token.clone());
            assert!(before.is_none_or(|before| before == token), "fixed tokens are the same each time");
        }
        let (address, admin) = (address(&base_url), address(&admin));
        self.server = Some(Running { child, address, admin, printed: first });
        self.names.insert("shown-url".to_owned(), base_url.replace('/', "&#x2f;"));
        self.names.insert("url".to_owned(), base_url);
    }

    fn running(&self) -> &Running {
        self.server.as_ref().expect("a running server")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Sends requests, and looks at their responses.
    fn request(&self, place: &str, request: &str, expected: &str) {
        let (head, body) = match request.split_once(" < ") {
            Some((head, body)) => (head, Some(bytes(body))),
            None => (request, None),
        };
        let (line, headers) = head.split_once(" | ").unwrap_or((head, ""));
        let (methods, target) =
            line.split_once(' ').unwrap_or_else(|| panic!("{place}: no line of a session"));
        let (address, target) = match target.strip_prefix("admin:") {
            Some(target) => (self.running().admin, target),
            None => (self.running().address, target),
        };
        let mut headers: String =
            headers.split(" | ").filter(|it| !it.is_empty()).map(|it| format!("\r\n{it}")).collect();
        if let Some(body) = &body {
            write!(headers, "\r\nContent-Length: {}", body.len()).unwrap();
        }
        let mut data = None;
        for method in methods.split(',') {
            let head = format!("{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close{headers}\r\n\r\n");
            let whole = [bytes(&head), body.clone().unwrap_or_default()].concat();
            let response = read(exchange(address, &[&whole]));
            let (number, texts) = expected.split_once(' ').unwrap_or((expected, ""));
            if number.len() == 5 {
                assert_eq!(assert_rejected(&response, target).to_string(), number, "{place}: {response:?}");
            } else {
                assert_eq!(response.status.to_string(), number, "{place}: {response:?}");
            }
            assert_texts(place, &response.text(), texts);
            if target.contains("&request_id=") {
                let again = response.json()["data"].take();
                assert_eq!(*data.get_or_insert_with(|| again.clone()), again, "{place}");
            }
        }
    }
}

/// That the response is a rejection in the envelope of its operation. Returns its code.
#[track_caller]
pub(crate) fn assert_rejected(response: &Response, target: &str) -> i64 {
    let body = response.json();
    let code = body["code"].as_i64().unwrap();
    assert_eq!(code / 100, i64::from(response.status), "{response:?}");
    assert_ne!(body["message"].as_str().unwrap(), "");
    assert_eq!(response.header("cache-control"), Some("no-store"));
    if response.status == 429 {
        // Every rate of these sessions is two an hour.
        let wait: u64 = response.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=1800).contains(&wait), "{wait}");
    }
    let trace = response.header("x-request-id").expect("X-Request-Id");
    let fields: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    if target.starts_with(ExtractProxies::PATH) {
        assert_eq!(fields, ["code", "message"]);
    } else {
        assert_eq!(fields, ["code", "message", "requestId"]);
        assert_eq!(body["requestId"], trace);
    }
    code
}

/// The bytes that a text stands for.
fn bytes(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap().replace("\\n", "\n").into_bytes();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(part[2..].replace("\\n", "\n").as_bytes());
    }
    bytes
}

/// Texts that must be there, with `!` must not, or with `=` are all there is.
#[track_caller]
fn assert_texts(place: &str, said: &str, expected: &str) {
    for part in expected.split(" | ").filter(|part| !part.is_empty()) {
        let part = part.replace("\\n", "\n");
        if let Some(absent) = part.strip_prefix('!') {
            assert!(!said.contains(absent), "{place}: {absent:?} in {said}");
        } else if let Some(whole) = part.strip_prefix('=') {
            assert_eq!(said, whole, "{place}");
        } else {
            assert!(said.contains(&part), "{place}: expected {part:?} in {said}");
        }
    }
}
