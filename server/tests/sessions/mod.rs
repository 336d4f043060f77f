#![doc = include_str!("README.md")]

mod damaged;
mod log;
mod sockets;
mod text;

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufRead as _, BufReader, Read, Seek as _, Write},
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use rustix::net::{AddressFamily, SocketType, bind, connect as connect_socket, socket};
use rustls::pki_types::CertificateDer;
use sallyport_server::{
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    edge::operation::Operation as _,
    store::postgres::LEASE,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    nginx::{Nginx, installed},
    store::backend::{Database, connect},
    support::{
        identity::Pair,
        tls_client::{client, handshake},
        wire::{Response, exchange, read},
    },
};

use self::{sockets::*, text::*};

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
        std::thread::scope(|scope| {
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
    held: Option<Box<dyn Stream>>,
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

struct Running {
    child: Child,
    address: SocketAddr,
    is_encrypted: bool,
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
        let lease = LEASE.as_millis().to_string();
        let names = [
            ("EXTRACT", ExtractProxies::PATH),
            ("GROUPS", ListStaticGroups::PATH),
            ("SEARCH", SearchStaticInstances::PATH),
            ("db", &db),
            ("acme", include_str!("../support/acme.jsonl")),
            (
                "readme-example",
                include_str!("../../README.md")
                    .split("```json\n")
                    .nth(1)
                    .unwrap()
                    .split("```")
                    .next()
                    .unwrap(),
            ),
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
            held: None,
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
                std::thread::sleep(Duration::from_millis(20));
                nginx.access_log().contains(ListStaticGroups::PATH)
            };
            assert!((0..500).any(is_logged), "{title}: calls are not logged");
            for (file, content) in nginx.files() {
                self.assert_silent(
                    &format!("{title}: {}", file.display()),
                    &String::from_utf8_lossy(&content),
                );
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
            "file" => assert_texts(place, &std::fs::read_to_string(self.path(rest)).unwrap(), expected),
            "files" => {
                let files = std::fs::read_dir(self.folder.path()).unwrap();
                let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
                let mut names: Vec<_> = names.collect();
                names.sort();
                assert_texts(place, &names.join(" "), expected);
            }
            "$" => self.execute(place, rest, expected),
            "sh" => {
                let output = self.program("timeout").args(["300", "bash", "-c", rest]).output().unwrap();
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8(said).unwrap();
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
            "printed" => assert_texts(place, &self.running().printed, expected),
            "signal" => {
                let id = self.running().child.id().to_string();
                assert!(Command::new("kill").args(["-s", rest, &id]).status().unwrap().success());
            }
            "end" => {
                let code = self.servers.last_mut().unwrap().child.wait().unwrap().code().unwrap();
                let log = self.log();
                assert_eq!(rest, code.to_string(), "{place}: {log}");
                assert_texts(place, &log, expected);
            }
            "until" => {
                let is_met = |_| {
                    std::thread::sleep(Duration::from_millis(20));
                    catch_unwind(AssertUnwindSafe(|| self.step(place, again))).is_ok()
                };
                assert!((0..500).any(is_met), "{place}: not in time");
            }
            "wait" => std::thread::sleep(Duration::from_millis(rest.parse().unwrap())),
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
            "cached" => {
                self.assert_running(place);
                let is_served_from_memory = |_| {
                    (0..self.servers.len()).all(|server| {
                        let before = self.cache_hits(server);
                        self.request(server, place, rest, expected);
                        self.cache_hits(server) > before
                    })
                };
                assert!((0..500).any(is_served_from_memory), "{place}: never from memory");
            }
            "memory" => {
                self.assert_running(place);
                let (number, request) = rest.split_once(' ').unwrap();
                for server in 0..self.servers.len() {
                    let before = self.cache_hits(server);
                    self.request(server, place, request, expected);
                    assert_eq!((self.cache_hits(server) - before).to_string(), number, "{place}");
                }
            }
            "open" | "drip" | "slow" | "flood" => {
                let (text, again) = match verb {
                    "flood" => rest.split_once(" < ").unwrap(),
                    _ => (rest, ""),
                };
                let (endpoint, number, first) = destination(text);
                let [first, again]: [Arc<[_]>; 2] = [first, again].map(|text| bytes(text).into());
                let is_patient = verb == "flood" || endpoint.starts_with("nginx");
                let max_wait = Duration::from_secs(if is_patient { 60 } else { 20 });
                for _ in 0..number {
                    let (mut stream, socket) = self.connect(0, endpoint);
                    let (place, pace) = (place.to_owned(), verb.to_owned());
                    let (first, again) = (Arc::clone(&first), Arc::clone(&again));
                    self.opened.push(std::thread::spawn(move || {
                        if pace != "flood" {
                            return ended(&place, &pace, stream, &socket, &first, max_wait);
                        }
                        let _ = stream.write_all(&first);
                        flooded(&place, socket, &again, max_wait);
                        String::new()
                    }));
                }
            }
            "raw" => self.raw(place, 1, rest, expected),
            _ if verb.starts_with("raw×") => self.raw(place, count(&verb["raw×".len()..]), rest, expected),
            "keep" => {
                let (endpoint, number, text) = destination(rest);
                let bytes = bytes(text);
                for _ in 0..number {
                    let (mut stream, _) = self.connect(0, endpoint);
                    // The server may hang up before it has read all of it.
                    let _ = stream.write_all(&bytes).and_then(|()| stream.flush());
                    self.kept.push(stream);
                }
            }
            "drop" => self.kept.clear(),
            "leave" => {
                let (endpoint, number, text) = destination(rest);
                let bytes = bytes(text);
                for round in 0..number {
                    let _ = self.connect(0, endpoint).0.write_all(&bytes[..round % bytes.len() + 1]);
                }
            }
            "closed" => {
                let received: String = self.opened.drain(..).map(|opened| opened.join().unwrap()).collect();
                assert_texts(place, &received, expected);
            }
            "nginx" => self.nginx = Some(Nginx::start(&installed().unwrap(), self.running().address)),
            "hold" | "held" => {
                let held = self.held.take().filter(|_| verb == "held");
                let mut stream = held.unwrap_or_else(|| self.connect(0, "").0);
                self.request_on(Some(&mut *stream), 0, place, rest, expected);
                self.held = Some(stream);
            }
            _ => {
                self.assert_running(place);
                (0..self.servers.len()).for_each(|server| self.request(server, place, words, expected));
            }
        }
    }

    /// Sends bytes on so many connections, each of which gets these statuses.
    fn raw(&mut self, place: &str, number: usize, text: &str, expected: &str) {
        let bytes: Arc<[_]> = bytes(text).into();
        for _ in 0..number {
            let (mut stream, socket) = self.connect(0, "plain");
            let (place, bytes, expected) = (place.to_owned(), Arc::clone(&bytes), expected.to_owned());
            self.opened.push(std::thread::spawn(move || {
                // The server may hang up before it has read all of it.
                let _ = stream.write_all(&bytes);
                assert_statuses(&place, &statuses(socket), &expected);
                String::new()
            }));
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
        let line = line
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
        let line = match line.contains("{h2-resets}") {
            true => line.replace("{h2-resets}", &escaped(&h2_resets(&self.groups()))),
            false => line,
        };
        self.names.iter().fold(line, |line, (name, value)| line.replace(&format!("{{{name}}}"), value))
    }

    /// Path and query of a good call.
    fn groups(&self) -> String {
        format!("{}?api_key={}", ListStaticGroups::PATH, self.names["main"])
    }

    /// A program in the folder, without settings in its environment but the database, and without input.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SALLYPORT_"))
        {
            command.env_remove(name);
        }
        let folder = Path::new(env!("CARGO_BIN_EXE_server")).parent().unwrap();
        let path = std::env::join_paths(
            std::iter::once(folder.to_owned())
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        command.env("SALLYPORT_DB", &self.names["db"]).env("PATH", path.unwrap());
        command.env("RUST_BACKTRACE", "1").current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    fn command(&self, line: &str) -> Command {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let is_variable = |word: &&&str| word.starts_with("SALLYPORT_") && word.contains('=');
        let (variables, words) = words.split_at(words.iter().take_while(is_variable).count());
        let mut command = self.program(env!("CARGO_BIN_EXE_server"));
        command.args(words).envs(variables.iter().filter_map(|variable| variable.split_once('=')));
        command
    }

    fn execute(&mut self, place: &str, line: &str, expected: &str) {
        let (commands, input) = line.split_once(" < ").unwrap_or((line, ""));
        let (code, texts) = expected.split_once(' ').unwrap_or((expected, ""));
        for line in commands.split(" ; ") {
            let mut command = self.command(line);
            if !input.is_empty() {
                let mut file = tempfile::tempfile().unwrap();
                file.write_all(&bytes(input)).unwrap();
                file.rewind().unwrap();
                command.stdin(file);
            }
            let output = command.output().unwrap();
            let place = format!("{place} ({line})");
            assert_eq!(output.status.code().unwrap().to_string(), code, "{place}: {output:?}");
            let said = self.said(&place, &output);
            if let Some(lines) = texts.strip_prefix("=\\n") {
                let all = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
                let is_same = all.lines().count() == lines.split("\\n").count()
                    && lines.split("\\n").zip(all.lines()).all(|(expected, line)| fits(expected, line));
                assert!(is_same, "{place}: expected\n{}\nfound\n{all}", lines.replace("\\n", "\n"));
                continue;
            }
            assert_texts(&place, &said, texts);
            // A failure is one line, unless more are expected, to which clap adds how the command is used.
            let errors: Vec<_> = said.lines().filter(|line| !line.contains(" WARN ")).collect();
            let is_error = |line: &&str| line.starts_with("error: ");
            assert!(code == "0" || errors.first().is_some_and(is_error), "{place}: {said}");
            assert!(code != "1" || errors.len() == 1 || texts.contains("\\n"), "{place}: {said}");
        }
    }

    /// What a command says: its result, or why it failed.
    fn said(&mut self, place: &str, output: &Output) -> String {
        let [result, messages] =
            [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap());
        let all = [result.as_str(), &messages].concat();
        assert_harmless(place, &all);
        assert!(!all.contains("very-secret"), "{place}: {all}");
        let shown = self.printed.iter().find(|token| all.contains(*token));
        assert_eq!(shown, None, "{place}: a token is shown once: {all}");
        if !output.status.success() {
            assert_eq!(result, "", "{place}");
            return messages;
        }
        let tokens: Vec<_> = result.split_whitespace().filter(|word| word.starts_with("sally_")).collect();
        if let Some(main) = tokens.first() {
            assert!(!messages.contains(main), "{place}: {messages}");
            self.names.insert("main".to_owned(), (*main).to_owned());
        }
        self.printed.extend(tokens.into_iter().map(str::to_owned));
        result
    }

    /// Changes the database behind the program's back, and waits until that is in force.
    fn change(&mut self, sql: &str) -> Result<(), String> {
        let Some((url, runtime)) = &self.postgres else {
            let (file, sql) = sql.split_once(".db: ").unwrap_or(("test", sql));
            let open = || rusqlite::Connection::open(self.folder.path().join(format!("{file}.db"))).unwrap();
            let db = self.transaction.take().and_then(|db| db.downcast().ok());
            let db: Box<rusqlite::Connection> = db.unwrap_or_else(|| Box::new(open()));
            let changed = db.execute_batch(sql).map_err(|error| error.to_string());
            self.transaction = if db.is_autocommit() { None } else { Some(db) };
            return changed;
        };
        // The end of its connection ends a transaction.
        self.transaction = None;
        let client = runtime.block_on(connect(url)).map_err(|error| error.to_string())?;
        let changed = runtime.block_on(client.batch_execute(sql));
        if sql.starts_with("BEGIN") {
            self.transaction = Some(Box::new(client));
        }
        std::thread::sleep(LEASE);
        changed.map_err(|error| error.as_db_error().map_or(error.to_string(), ToString::to_string))
    }

    fn start(&mut self, flags: &str) {
        let is_sandbox = !flags.contains("--db");
        let listen = if flags.contains("--listen") { "" } else { "--listen 127.0.0.1:0" };
        let mut command = self.command(&format!("run {listen} --admin 127.0.0.1:0 {flags}"));
        if is_sandbox {
            command.env_remove("SALLYPORT_DB").args([
                "--sandbox-tokens",
                "fixed",
                "--sandbox-output",
                "json",
            ]);
        }
        let log = File::options().create(true).append(true).open(self.path("log")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = || lines.next().unwrap_or_else(|| panic!("{flags}: it ended")).unwrap();
        let address = |url: &str| url.rsplit('/').next().unwrap().parse().unwrap();
        let is_encrypted = flags.contains("--tls-cert");
        let first = next();
        if !is_sandbox {
            // No token, which is shown when it is made and not later.
            let admin = address(first.strip_prefix("operator's pages on ").unwrap());
            let url = next();
            let address = address(url.strip_prefix("listening on ").unwrap());
            self.names.insert("address".to_owned(), SocketAddr::to_string(&address));
            self.servers.push(Running { child, address, is_encrypted, admin, printed: first });
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
        for (name, frame) in h2_frames(&self.groups()) {
            self.names.insert(name.to_owned(), escaped(&frame));
        }
        self.names.insert("pid".to_owned(), child.id().to_string());
        let (address, admin) = (address(&base_url), address(&admin));
        self.servers.push(Running { child, address, is_encrypted, admin, printed: first });
        self.names.insert("shown-url".to_owned(), base_url.replace('/', "&#x2f;"));
        self.names.insert("url".to_owned(), base_url);
    }

    fn running(&self) -> &Running {
        self.servers.last().expect("a running server")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    fn connect(&self, server: usize, endpoint: &str) -> (Box<dyn Stream>, TcpStream) {
        let Running { address, is_encrypted, admin, .. } = self.servers[server];
        let (socket, trusted) = match endpoint {
            "admin" => (exchange(admin, &[]), None),
            "nginx" | "nginx-plain" | "nginx-h2" | "other" => {
                let nginx = self.nginx.as_ref().unwrap();
                let from = Ipv4Addr::new(127, 0, 0, if endpoint == "other" { 8 } else { 9 });
                let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
                bind(&socket, &SocketAddrV4::new(from, 0)).unwrap();
                connect_socket(&socket, &nginx.address).unwrap();
                let socket = TcpStream::from(socket);
                socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
                (socket, Some(nginx.pair.der()))
            }
            _ => (exchange(address, &[]), self.trusted.clone().filter(|_| is_encrypted)),
        };
        let protocols: &[&str] = match endpoint {
            "h2" | "nginx-h2" => &["h2"],
            _ => &["http/1.1"],
        };
        let same = socket.try_clone().unwrap();
        match trusted.filter(|_| !endpoint.ends_with("plain")) {
            Some(trusted) => {
                let stream = handshake(socket, "127.0.0.1", &client(trusted, protocols)).unwrap();
                assert_eq!(stream.conn.alpn_protocol(), Some(protocols[0].as_bytes()));
                (Box::new(stream), same)
            }
            None => (Box::new(socket), same),
        }
    }

    /// Number of extractions that a server has served from memory.
    fn cache_hits(&self, server: usize) -> u64 {
        let (mut stream, _) = self.connect(server, "admin");
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let page = read(stream).body;
        let hits = page.lines().find_map(|line| line.strip_prefix("sallyport_store_cache_hits_total "));
        hits.unwrap().parse().unwrap()
    }

    fn request(&mut self, server: usize, place: &str, request: &str, expected: &str) {
        self.request_on(None, server, place, request, expected);
    }

    /// Sends requests, on this connection or else each on its own, and looks at their responses.
    fn request_on(
        &mut self,
        mut held: Option<&mut dyn Stream>,
        server: usize,
        place: &str,
        request: &str,
        expected: &str,
    ) {
        let (head, bodies) = request.split_once(" < ").map_or((request, None), |(head, it)| (head, Some(it)));
        let (line, headers) = head.split_once(" | ").unwrap_or((head, ""));
        let (methods, target) =
            line.split_once(' ').unwrap_or_else(|| panic!("{place}: no line of a session"));
        let (endpoint, target) = target
            .split_once(":/")
            .map_or(("", target), |(endpoint, _)| (endpoint, &target[endpoint.len() + 1..]));
        let mut headers: String =
            headers.split(" | ").filter(|it| !it.is_empty()).map(|it| format!("\r\n{it}")).collect();
        if held.is_none() {
            headers.push_str("\r\nConnection: close");
        }
        let (number, texts) = expected.split_once(' ').unwrap_or((expected, ""));
        let mut data = None;
        let bodies: Vec<_> = bodies.map_or(vec![None], |bodies| bodies.split(" ; ").map(Some).collect());
        let same_data = target.contains("&request_id=") || bodies.len() > 1;
        for (method, body) in
            repeated(methods).split(',').flat_map(|method| bodies.iter().map(move |body| (method, body)))
        {
            let body = body.map(bytes);
            let length = body.as_ref().filter(|_| !headers.contains("Content-Length"));
            let length = length.map(|body| format!("\r\nContent-Length: {}", body.len())).unwrap_or_default();
            let head = format!("{method} {target} HTTP/1.1\r\nHost: x{headers}{length}\r\n\r\n");
            let whole = [bytes(&head), body.unwrap_or_default()].concat();
            let mut new = if held.is_none() { Some(self.connect(server, endpoint).0) } else { None };
            let stream = held.as_deref_mut().or(new.as_deref_mut()).unwrap();
            // The server may hang up at the first letter.
            let _ = stream.write_all(&whole);
            if number == "0" {
                let mut response = Vec::new();
                // A reset is an end as well.
                let _ = stream.read_to_end(&mut response);
                assert!(!String::from_utf8_lossy(&response).contains("HTTP/1.1"), "{place}: {response:?}");
                continue;
            }
            let response = read(stream);
            if number.len() == 5 {
                assert_eq!(assert_rejected(&response, target).to_string(), number, "{place}: {response:?}");
            } else {
                assert_eq!(response.status.to_string(), number, "{place}: {response:?}");
            }
            assert_texts(place, &response.text(), texts);
            if same_data && response.status == 200 {
                let again = response.json()["data"].take();
                assert_eq!(*data.get_or_insert_with(|| again.clone()), again, "{place}");
            }
            let request_id = response.header("x-request-id").unwrap_or_default();
            self.names.insert("request-id".to_owned(), request_id.to_owned());
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
