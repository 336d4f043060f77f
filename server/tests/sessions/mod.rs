#![doc = include_str!("README.md")]

mod calls;
mod damaged;
mod log;
mod programs;
mod sockets;
mod text;

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    io::{Read, Write},
    net::TcpListener,
    panic::{AssertUnwindSafe, catch_unwind},
    thread::{self, JoinHandle, sleep},
    time::Duration,
};

use rustls::pki_types::CertificateDer;
use sallyport_server::{
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    edge::operation::Operation as _,
    store::postgres::LEASE,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

pub(crate) use self::calls::assert_rejected;
use self::{programs::Running, sockets::*, text::*};
use crate::{
    nginx::{Nginx, installed},
    store::backend::Database,
    support::identity::Pair,
};

macro_rules! sessions {
    ($($name:ident)+) => {$(
        #[test]
        fn $name() {
            play(include_str!(concat!(stringify!($name), ".txt")));
        }
    )+};
}

sessions! {
    accounts admission callers commands configuration connections databases deadlines earlier entitlements extractions gateways groups
    http1 http2 import in_force input instances nginx records requests sandbox secrets servers terminal tls tokens whitelist
}

/// Most memory that a server may have had, whatever was sent to it. It takes about a tenth of this by itself.
const MAX_MEMORY_KB: u64 = 192 * 1024;

/// ESC, BEL, CSI as a C1 control, DEL, NEL, line ends, reordering; and words that must stay as they are.
const STEERING: &str = "北京\u{1b}[2J\u{7}\u{9b}31m\u{7f}\u{85}\n\r\t\u{2028}\u{202e}\u{2066}";

/// Plays each session of a script, some at a time, because each has programs of its own.
fn play(script: &str) {
    let script = format!("\n{script}");
    let sessions: Vec<_> =
        script.split("\n## ").skip(1).filter_map(|session| session.split_once('\n')).collect();
    for some in sessions.chunks(8) {
        thread::scope(|scope| {
            for (title, lines) in some {
                let lines = lines.replace("\n    ", " ").replace("\n|\n", "\\n\n");
                let lines = lines.replace("\n| ", "\\n").replace("\n< ", "\\n");
                scope.spawn(move || play_on_each(title, &lines));
            }
        });
    }
}

fn play_on_each(title: &str, lines: &str) {
    let is_known =
        !title.starts_with('[') || title.starts_with("[postgres] ") || title.starts_with("[both] ");
    assert!(is_known, "{title}: expected `[postgres]`, `[both]` or nothing before the title");
    if !title.starts_with("[postgres]") {
        Session::new(None).play(title, lines);
    }
    if title.starts_with("[postgres]") || title.starts_with("[both]") {
        let runtime = Runtime::new().unwrap();
        if let Some(Database::Postgres { url }) = runtime.block_on(Database::postgres()) {
            Session::new(Some((url, runtime))).play(title, lines);
        }
    }
}

struct Session {
    folder: tempfile::TempDir,
    /// The URL of the database, unless it is a file.
    postgres: Option<(String, Runtime)>,
    servers: Vec<Running>,
    /// The certificate that callers trust.
    trusted: Option<CertificateDer<'static>>,
    /// Connections that wait for their end, and what they have received then.
    opened: Vec<JoinHandle<String>>,
    /// Connections that stay open.
    kept: Vec<Box<dyn Stream>>,
    nginx: Option<Nginx>,
    /// The connection of a transaction that is open.
    transaction: Option<Box<dyn Any>>,
    /// What stands for names in braces.
    names: BTreeMap<String, String>,
    /// Tokens that commands have printed.
    printed: BTreeSet<String>,
}

trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

impl Session {
    fn new(postgres: Option<(String, Runtime)>) -> Self {
        let db = postgres.as_ref().map_or("test.db", |(url, _)| url).to_owned();
        let json = json!(STEERING).to_string().replace("\\n", "\\u000a");
        let steering =
            include_str!("../support/steering.jsonl").replace("{json-text}", json.trim_matches('"'));
        let migrations = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/postgres/migrations");
        let newest = std::fs::read_dir(migrations).unwrap().count().to_string();
        let lease = LEASE.as_secs_f32().to_string();
        let (_, example) = include_str!("../../README.md").split_once("```json\n").unwrap();
        let names = [
            ("EXTRACT", ExtractProxies::PATH),
            ("GROUPS", ListStaticGroups::PATH),
            ("SEARCH", SearchStaticInstances::PATH),
            ("db", &db),
            ("acme", include_str!("../support/acme.jsonl")),
            ("readme-example", example.split("```").next().unwrap()),
            ("first-sqlite", include_str!("../../src/store/sqlite/migrations/0001_initial.sql")),
            ("first-postgres", include_str!("../../src/store/postgres/migrations/0001_initial.sql")),
            ("text", STEERING),
            ("json-text", json.trim_matches('"')),
            ("steering", &steering),
            ("newest-postgres", &newest),
            ("lease", &lease),
        ];
        let mut names: BTreeMap<_, _> = names.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        names.extend(limits());
        Self {
            names,
            folder: tempfile::tempdir().unwrap(),
            postgres,
            servers: Vec::new(),
            trusted: None,
            opened: Vec::new(),
            kept: Vec::new(),
            nginx: None,
            transaction: None,
            printed: BTreeSet::new(),
        }
    }

    fn play(&mut self, title: &str, lines: &str) {
        for line in lines.lines().filter(|line| !line.is_empty()) {
            if line == "ipv6" && TcpListener::bind("[::]:0").is_err()
                || line == "nginx" && installed().is_none()
            {
                // Past the test harness, which shows what is printed only for tests that fail.
                let _ = writeln!(std::io::stderr(), "SKIPPED: {title}: {line} is not to be had");
                return;
            }
            self.step(&format!("{title}: {line}"), line);
        }
        self.opened.drain(..).for_each(|opened| drop(opened.join().unwrap()));
        self.servers.clear();
        if let Some(nginx) = self.nginx.take() {
            // nginx may log a call after its response was read.
            let is_logged = |_| {
                sleep(Duration::from_millis(20));
                nginx.access_log().contains(ListStaticGroups::PATH)
            };
            assert!((0..500).any(is_logged), "{title}: calls are not logged");
            for (file, content) in nginx.files() {
                let place = format!("{title}: {}", file.display());
                self.assert_silent(&place, &String::from_utf8_lossy(&content));
            }
        }
        let log = self.log();
        self.assert_silent(title, &log);
        assert!(!log.contains("panicked") && !log.contains('\u{1b}'), "{title}: {log}");
        for line in log.lines().filter(|_| log.starts_with('{')) {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{title}: {error}: {line}"));
        }
    }

    /// No log shows a secret.
    fn assert_silent(&self, place: &str, log: &str) {
        let is_secret =
            |(name, value): &(&String, &String)| value.starts_with("sally_") || name.starts_with('…');
        let names = self.names.iter().filter(is_secret).map(|(_, value)| value);
        let shown = names.chain(&self.printed).find(|secret| log.contains(*secret));
        assert!(shown.is_none() && !log.contains("canary-"), "{place}: {shown:?} in {log}");
    }

    fn step(&mut self, place: &str, line: &str) {
        let filled = self.filled(line);
        let (words, expected) = filled.split_once(" => ").unwrap_or((&filled, ""));
        let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
        let again = line.strip_prefix(verb).unwrap_or_default().trim_start();
        match verb {
            "write" => std::fs::write(self.path(rest), expected.replace("\\n", "\n")).unwrap(),
            "$" => self.execute(place, rest, expected),
            "sh" => {
                let output = self.program("timeout").args(["300", "bash", "-c", rest]).output().unwrap();
                let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
                assert_harmless(place, &said);
                let (code, texts) = expected.split_once(' ').unwrap_or((expected, ""));
                assert_eq!(output.status.code().unwrap().to_string(), code, "{place}: {said}");
                assert_texts(place, &said, texts);
            }
            "sql" => {
                let error = self.change(rest).err().unwrap_or_default();
                assert_eq!(error.is_empty(), expected.is_empty(), "{place}: {error}");
                assert_texts(place, &error, expected);
            }
            "certificate" => {
                let pair = Pair::new();
                pair.write(self.folder.path());
                self.trusted = Some(pair.der());
            }
            "run" => {
                self.servers.clear();
                self.start(rest);
            }
            "also" => self.start(rest.strip_prefix("run").unwrap()),
            "printed" => assert_texts(place, &self.servers.last().unwrap().process.printed, expected),
            "end" => {
                let code = self.servers.last_mut().unwrap().process.child.wait().unwrap().code().unwrap();
                let log = self.log();
                assert_eq!(rest, code.to_string(), "{place}: {log}");
                assert_texts(place, &log, expected);
            }
            "until" => {
                let is_met = |_| {
                    sleep(Duration::from_millis(20));
                    catch_unwind(AssertUnwindSafe(|| self.step(place, again))).is_ok()
                };
                assert!((0..500).any(is_met), "{place}: not in time");
            }
            "sqlite" | "postgres" if (verb == "postgres") == self.postgres.is_some() => {
                self.step(place, again)
            }
            "sqlite" | "postgres" | "ipv6" => {}
            "unharmed" => {
                for line in [
                    "GET {groups} => 200",
                    "GET admin:/metrics => 200 sallyport_calls_total{ | !status=\"5",
                    &format!(
                        "sh grep VmHWM /proc/{{pid}}/status | tr -cd 0-9 | xargs test {MAX_MEMORY_KB} -gt => 0"
                    ),
                ] {
                    self.step(&format!("{place}: {line}"), line);
                }
            }
            "cached" | "memory" => {
                self.assert_running(place);
                let once = rest.split_once(' ').filter(|_| verb == "memory");
                let ((hits, request), tries) = once.map_or((("1", rest), 500), |once| (once, 1));
                let is_met = |_| {
                    (0..self.servers.len()).all(|server| {
                        let before = self.cache_hits(server);
                        self.request(None, server, place, request, expected);
                        (self.cache_hits(server) - before).to_string() == hits
                    })
                };
                assert!((0..tries).any(is_met), "{place}: another number of responses from memory");
            }
            "open" | "flood" | "raw" | "keep" | "leave" => self.open(place, verb, rest, expected),
            "drop" => self.kept.clear(),
            "closed" => {
                let received: String = self.opened.drain(..).map(|opened| opened.join().unwrap()).collect();
                assert_texts(place, &received, expected);
            }
            "nginx" => {
                self.nginx =
                    Some(Nginx::start(&installed().unwrap(), self.servers.last().unwrap().process.address))
            }
            "held" => {
                let mut stream = self.kept.pop().unwrap_or_else(|| self.connect(0, "").0);
                self.request(Some(&mut *stream), 0, place, rest, expected);
                self.kept.push(stream);
            }
            _ => {
                self.assert_running(place);
                (0..self.servers.len()).for_each(|server| self.request(None, server, place, words, expected));
            }
        }
    }

    fn assert_running(&self, place: &str) {
        assert!(!self.servers.is_empty(), "{place}: no running server, or an unknown verb");
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// The line with what names stand for.
    fn filled(&self, line: &str) -> String {
        let mut line = line
            .replace("{query}", "GET {EXTRACT}?api_key={main}&")
            .replace("{bodies}", "⟨1/49×POST,⟩{body}")
            .replace("{body}", "POST {search} | Content-Type: application/json < ")
            .replace(
                "{search-head}",
                "POST {search} HTTP/1.1\\x0d\\nHost: x\\x0d\\nContent-Type: application/json\\x0d\\n",
            )
            .replace("{groups}", "{GROUPS}?api_key={main}")
            .replace("{extract}", "{EXTRACT}?api_key={main}&num=1")
            .replace("{search}", "{SEARCH}?api_key={main}");
        if line.contains("{h2-") {
            for (name, frame) in h2_frames(&self.groups()) {
                line = line.replace(&format!("{{{name}}}"), &escaped(&frame));
            }
        }
        self.names.iter().fold(line, |line, (name, value)| line.replace(&format!("{{{name}}}"), value))
    }

    /// Path and query of a good call.
    fn groups(&self) -> String {
        format!("{}?api_key={}", ListStaticGroups::PATH, self.names["main"])
    }
}
