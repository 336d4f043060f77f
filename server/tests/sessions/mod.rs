//! Sessions of administrators and callers with the program, as they type and send them, and what comes of it: the files `*.txt` beside.
//!
//! `## TITLE` begins a session, in a folder and with a database of its own: a SQLite file, with `[postgres]` before the title a database
//! of PostgreSQL, and with `[both]` once each. Four spaces go on with the line above. A line is one of:
//!
//! | line | what |
//! |---|---|
//! | `write FILE => TEXT` | writes a file |
//! | `file FILE => TEXTS` | a file has these texts |
//! | `files => TEXTS` | the names of all files, sorted, have these texts |
//! | `$ [VARIABLE=VALUE …] COMMAND [; COMMAND …] [< INPUT] => CODE TEXTS` | the program ends with this exit code each time; standard output has these texts, or after a failure standard error |
//! | `sh SCRIPT => CODE TEXTS` | the same for a script of bash, which has the program as `server`; the texts are of both outputs |
//! | `sql STATEMENTS` | changes the database as another program would, a SQLite file also in a transaction that stays open; `=> TEXTS` are those of an error |
//! | `certificate` | writes a new certificate for this machine, `chain.pem` and `key.pem`, which callers then trust alone |
//! | `run FLAGS` | starts a server; without `--db` it is a sandbox, whose tokens are `{main}`, `{second}` and so on |
//! | `also run FLAGS` | starts another server beside; requests are sent to both |
//! | `METHOD,… TARGET [HEADER …] [< BODY] => STATUS TEXTS` | what the server responds; a number of five digits is an error code with its envelope; responses with a request id have the same `data`; status 0 is none at all |
//! | `cached METHOD …` | the same again and again until all servers respond from memory |
//! | `memory NUMBER METHOD …` | the same once, and each server responds so often from memory |
//! | `hold METHOD …`, `held METHOD …` | the same on a connection that stays open, and on that connection |
//! | `until LINE` | the line comes true after some tries |
//! | `wait MILLISECONDS` | lets time pass |
//! | `printed => TEXTS` | what a sandbox has printed once it listens has these texts |
//! | `signal NAME` | sends a signal to the server |
//! | `end CODE => TEXTS` | the server ends with this exit code, and its log has these texts |
//! | `sqlite LINE`, `postgres LINE` | a line for one database only |
//! | `ipv6` | the rest needs IPv6, and is skipped on a machine without it |
//!
//! Targets begin with `admin:` for the operator's address, and with `plain:` where a request is not encrypted though the server is.
//! `{groups}`, `{extract}` and `{search}` are calls with the main token, those in capitals only their paths; `{db}` is the database,
//! `{request-id}` that of the last response, `{acme}` the lines of `support/acme.jsonl`, `{first-sqlite}` and `{first-postgres}` the tables of
//! the first version, and `{text}` a text that would steer a terminal,
//! which `{json-text}` is within JSON. Headers stand between ` | `, as texts do; one behind `!` must not be there, one behind `=` is all there is, and `…` in a text is any text of a
//! line. `\n` is a line end and `\xff` that byte.
//!
//! A command never prints what steers a terminal, a text `very-secret` or a token that was printed before, and no token is in a log. A
//! log that begins with JSON has nothing else.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs::File,
    io::{BufRead as _, BufReader, Read, Seek as _, Write},
    net::{SocketAddr, TcpListener},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    process::{Child, Command, Output, Stdio},
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

use crate::{
    store::backend::{Database, connect},
    support::{
        identity::Pair,
        tls_client::{client, handshake},
        wire::{Response, exchange, read},
    },
};

macro_rules! sessions {
    ($($name:ident)+) => {$(
        #[test]
        fn $name() {
            play(include_str!(concat!(stringify!($name), ".txt")));
        }
    )+};
}

sessions! { admission callers commands databases extractions in_force records sandbox secrets servers terminal tls }

/// ESC, BEL, CSI as a C1 control, DEL, NEL, line ends, reordering; and words that must stay as they are.
const STEERING: &str = "北京\u{1b}[2J\u{7}\u{9b}31m\u{7f}\u{85}\n\r\t\u{2028}\u{202e}\u{2066}";

/// Plays each session of a script.
fn play(script: &str) {
    std::thread::scope(|scope| {
        for session in format!("\n{script}").split("\n## ").skip(1) {
            let (title, lines) = session.split_once('\n').unwrap();
            let (title, lines) = (title.to_owned(), lines.replace("\n    ", " "));
            scope.spawn(move || {
                if !title.starts_with("[postgres]") {
                    Session::new(None).play(&title, &lines);
                }
                if title.starts_with("[postgres]") || title.starts_with("[both]") {
                    let runtime = Runtime::new().unwrap();
                    if let Some(Database::Postgres { url }) = runtime.block_on(Database::postgres()) {
                        Session::new(Some((url, runtime))).play(&title, &lines);
                    }
                }
            });
        }
    });
}

struct Session {
    folder: tempfile::TempDir,
    /// The URL of the database, unless it is a file.
    postgres: Option<(String, Runtime)>,
    servers: Vec<Running>,
    /// The certificate that callers trust.
    trusted: Option<CertificateDer<'static>>,
    held: Option<Box<dyn Stream>>,
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
        let names = [
            ("EXTRACT", ExtractProxies::PATH),
            ("GROUPS", ListStaticGroups::PATH),
            ("SEARCH", SearchStaticInstances::PATH),
            ("db", &db),
            ("acme", include_str!("../support/acme.jsonl")),
            ("first-sqlite", include_str!("../../src/store/sqlite/migrations/0001_initial.sql")),
            ("first-postgres", include_str!("../../src/store/postgres/migrations/0001_initial.sql")),
            ("text", STEERING),
            ("json-text", json.trim_matches('"')),
        ];
        Self {
            names: names.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            folder: tempfile::tempdir().unwrap(),
            postgres,
            servers: Vec::new(),
            trusted: None,
            held: None,
            transaction: None,
            printed: BTreeSet::new(),
        }
    }

    fn play(&mut self, title: &str, lines: &str) {
        for line in lines.lines().filter(|line| !line.is_empty()) {
            if line == "ipv6" && TcpListener::bind("[::]:0").is_err() {
                eprintln!("skipped: this machine has no IPv6");
                return;
            }
            self.step(&format!("{title}: {line}"), line);
        }
        self.servers.clear();
        let log = self.log();
        let is_secret =
            |(name, value): &(&String, &String)| value.starts_with("sally_") || name.starts_with('…');
        let shown = self.names.iter().filter(is_secret).find(|(_, value)| log.contains(*value));
        assert_eq!(shown, None, "{title}: {log}");
        assert!(!log.contains("panicked") && !log.contains('\u{1b}'), "{title}: {log}");
        for line in log.lines().filter(|_| log.starts_with('{')) {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{title}: {error}: {line}"));
        }
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
                let output = self.program("bash").args(["-c", rest]).output().unwrap();
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8(said).unwrap();
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
            "cached" => {
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
                let (number, request) = rest.split_once(' ').unwrap();
                for server in 0..self.servers.len() {
                    let before = self.cache_hits(server);
                    self.request(server, place, request, expected);
                    assert_eq!((self.cache_hits(server) - before).to_string(), number, "{place}");
                }
            }
            "hold" | "held" => {
                let held = self.held.take().filter(|_| verb == "held");
                let mut stream = held.unwrap_or_else(|| self.connect(0, Endpoint::Callers));
                self.request_on(Some(&mut *stream), 0, place, rest, expected);
                self.held = Some(stream);
            }
            _ => (0..self.servers.len()).for_each(|server| self.request(server, place, words, expected)),
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// The line with what names stand for.
    fn filled(&self, line: &str) -> String {
        let line = line
            .replace("{groups}", "{GROUPS}?api_key={main}")
            .replace("{extract}", "{EXTRACT}?api_key={main}&num=1")
            .replace("{search}", "{SEARCH}?api_key={main}");
        self.names.iter().fold(line, |line, (name, value)| line.replace(&format!("{{{name}}}"), value))
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
        // Nothing but the program's own ends of lines steers a terminal.
        let odd = |letter: char| !(letter.is_ascii_graphic() || " \n北京…–é".contains(letter));
        assert!(!all.contains(odd), "{place}: {all:?}");
        assert!(
            !all.contains("very-secret") && !all.contains("panicked") && !all.contains("backtrace"),
            "{place}: {all}"
        );
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

    fn connect(&self, server: usize, endpoint: Endpoint) -> Box<dyn Stream> {
        let Running { address, is_encrypted, admin, .. } = self.servers[server];
        let socket = exchange(if endpoint == Endpoint::Admin { admin } else { address }, &[]);
        match (&self.trusted, is_encrypted && endpoint == Endpoint::Callers) {
            (Some(trusted), true) => {
                Box::new(handshake(socket, "127.0.0.1", &client(trusted.clone(), &[])).unwrap())
            }
            _ => Box::new(socket),
        }
    }

    /// Number of extractions that a server has served from memory.
    fn cache_hits(&self, server: usize) -> u64 {
        let mut stream = self.connect(server, Endpoint::Admin);
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
        let (head, body) = match request.split_once(" < ") {
            Some((head, body)) => (head, Some(bytes(body))),
            None => (request, None),
        };
        let (line, headers) = head.split_once(" | ").unwrap_or((head, ""));
        let (methods, target) =
            line.split_once(' ').unwrap_or_else(|| panic!("{place}: no line of a session"));
        let (endpoint, target) = match target.split_once(':') {
            Some(("admin", target)) => (Endpoint::Admin, target),
            Some(("plain", target)) => (Endpoint::Plain, target),
            _ => (Endpoint::Callers, target),
        };
        let mut headers: String =
            headers.split(" | ").filter(|it| !it.is_empty()).map(|it| format!("\r\n{it}")).collect();
        if let Some(body) = &body {
            write!(headers, "\r\nContent-Length: {}", body.len()).unwrap();
        }
        if held.is_none() {
            headers.push_str("\r\nConnection: close");
        }
        let (number, texts) = expected.split_once(' ').unwrap_or((expected, ""));
        let mut data = None;
        for method in methods.split(',') {
            let head = format!("{method} {target} HTTP/1.1\r\nHost: x{headers}\r\n\r\n");
            let whole = [bytes(&head), body.clone().unwrap_or_default()].concat();
            let mut new = if held.is_none() { Some(self.connect(server, endpoint)) } else { None };
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
            if target.contains("&request_id=") {
                let again = response.json()["data"].take();
                assert_eq!(*data.get_or_insert_with(|| again.clone()), again, "{place}");
            }
            let request_id = response.header("x-request-id").unwrap_or_default();
            self.names.insert("request-id".to_owned(), request_id.to_owned());
        }
    }
}

/// Where a request is sent to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Endpoint {
    Callers,
    /// That of callers, without encryption.
    Plain,
    Admin,
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
        } else if part.contains('…') {
            let parts = part.split('…');
            let fits = |line: &str| {
                parts
                    .clone()
                    .try_fold(line, |rest, part| rest.find(part).map(|at| &rest[at + part.len()..]))
                    .is_some()
            };
            assert!(said.lines().any(|line| fits(line)), "{place}: expected {part:?} in {said}");
        } else {
            assert!(said.contains(&part), "{place}: expected {part:?} in {said}");
        }
    }
}
