//! `server run` and `server openapi`, as a user sees them.
#![expect(clippy::unwrap_used, reason = "a test may panic; clippy does not know that helpers are part of it")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
};

/// A server that is stopped at the end of its test, whatever happens.
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn run(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_server"))
            .args(["run", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .env_remove("SALLYPORT_DB")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// What is printed up to the address, and the address.
    fn ready(&mut self) -> (String, SocketAddr) {
        let mut before = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it ended before it listened: {before}");
            match line.trim_end().strip_prefix("listening on http://") {
                Some(address) => return (before, address.parse().unwrap()),
                None => before.push_str(&line),
            }
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// How it ended, and what it logged.
    fn ended(&mut self) -> (ExitStatus, String) {
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap(), log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already, which is the better case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn get(address: SocketAddr, target: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {target} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

/// The path of the operation, from the document.
fn path_of(operation: &str) -> String {
    let document = sallyport_server::emitted_openapi();
    let paths = document["paths"].as_object().unwrap();
    let (path, _) = paths
        .iter()
        .find(|(_, methods)| methods.as_object().unwrap().values().any(|it| it["operationId"] == operation))
        .unwrap();
    path.clone()
}

#[test]
fn the_sandbox_serves_until_a_signal_comes_and_logs_no_token() {
    for signal in ["TERM", "INT"] {
        let mut server = Server::run(&["--log", "trace"]);
        let (printed, address) = server.ready();
        let token = printed.split_whitespace().find(|word| word.starts_with("sally_api_")).unwrap();
        let response = get(address, &format!("{}?api_key={token}", path_of("listStaticGroups")));
        assert!(response.starts_with("HTTP/1.1 200") && response.contains("warehouse"), "{response}");
        server.signal(signal);
        let (status, log) = server.ended();
        assert_eq!(status.code(), Some(0), "{log}");
        assert!(!log.is_empty() && !log.contains(token));
        assert!(!log.contains('\u{1b}'), "colours are for terminals");
    }
}

#[test]
fn a_server_that_drains_is_not_ready_and_still_serves() {
    let mut server = Server::run(&["--admin", "127.0.0.1:0", "--drain-delay", "5"]);
    let (printed, address) = server.ready();
    let token = printed.split_whitespace().find(|word| word.starts_with("sally_api_")).unwrap();
    let admin = printed.lines().find_map(|line| line.strip_prefix("operator's pages on http://")).unwrap();
    let admin: SocketAddr = admin.parse().unwrap();
    assert!(get(admin, "/readyz").starts_with("HTTP/1.1 200"));
    server.signal("TERM");
    let draining = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        get(admin, "/readyz").starts_with("HTTP/1.1 503")
    });
    assert!(draining, "it says that it is ready after a signal");
    let response = get(address, &format!("{}?api_key={token}", path_of("listStaticGroups")));
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    let (status, log) = server.ended();
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn a_database_that_others_can_read_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.db");
    let db = path.to_str().unwrap();
    let seeded = Command::new(env!("CARGO_BIN_EXE_server")).args(["seed", "--db", db]).output().unwrap();
    assert!(seeded.status.success());
    let log = |mode| {
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        let mut server = Server::run(&["--db", db]);
        server.ready();
        server.signal("TERM");
        server.ended().1
    };
    let narrow = log(0o600);
    assert!(!narrow.contains("mode"), "{narrow}");
    for mode in [0o644, 0o640, 0o606] {
        let wide = log(mode);
        let warning = wide.lines().find(|line| line.contains(&format!("{db} has mode {mode:o}"))).unwrap();
        assert!(warning.contains("WARN") && warning.contains(&format!("chmod 600 '{db}'")), "{warning}");
    }
}

#[test]
fn a_log_for_machines_tells_of_each_call_what_became_of_it() {
    let mut server = Server::run(&["--log-format", "json"]);
    let (printed, address) = server.ready();
    let token = printed.split_whitespace().find(|word| word.starts_with("sally_api_")).unwrap();
    let path = path_of("listStaticGroups");
    let responses = [get(address, &format!("{path}?api_key={token}")), get(address, &path)];
    server.signal("TERM");
    let (_, log) = server.ended();
    assert!(!log.contains(token));
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (response, outcome) in responses.iter().zip(["success", "rejected"]) {
        let line = lines.iter().find(|line| line["outcome"] == outcome).unwrap();
        let id = line["span"]["request_id"].as_str().unwrap();
        assert!(response.contains(&format!("x-request-id: {id}")), "{line} is not of {response}");
        assert_eq!(line["span"]["operation"], "listStaticGroups", "{line}");
        assert_eq!(line["span"]["caller"], "127.0.0.1", "{line}");
        assert_eq!(line["span"]["account"].is_number(), outcome == "success", "{line}");
        assert_eq!(line["code"].is_number(), outcome == "rejected", "{line}");
        assert!(line["status"].is_number() && line["micros"].is_number(), "{line}");
    }
}

#[test]
fn a_database_keeps_its_tokens_from_run_to_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.db");
    let seeded =
        Command::new(env!("CARGO_BIN_EXE_server")).args(["seed", "--db"]).arg(&path).output().unwrap();
    let printed = String::from_utf8(seeded.stdout).unwrap();
    let token = printed.split_whitespace().find(|word| word.starts_with("sally_api_")).unwrap();
    for _ in 0..2 {
        let mut server = Server::run(&["--db", path.to_str().unwrap()]);
        let (before, address) = server.ready();
        assert_eq!(before, "", "tokens are shown when they are made, not later");
        let response = get(address, &format!("{}?api_key={token}", path_of("listStaticGroups")));
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        server.signal("TERM");
        assert!(server.ended().0.success());
    }
}

#[test]
fn an_address_that_cannot_be_served_is_one_line() {
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap().to_string();
    for (listen, code, reason) in
        [(taken.as_str(), 1, "listen on"), ("0.0.0.0:0", 2, "not a loopback address")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_server"))
            .args(["run", "--log", "off", "--listen", listen])
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(reason) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn run_makes_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing.db");
    let mut server = Server::run(&["--db", path.to_str().unwrap()]);
    let (status, error) = server.ended();
    assert_eq!(status.code(), Some(1));
    assert!(error.contains("no database at") && error.lines().count() == 1, "{error}");
    assert!(!path.exists());
}

#[test]
fn the_emitted_document_is_printed_as_json() {
    let output = Command::new(env!("CARGO_BIN_EXE_server")).arg("openapi").output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document, sallyport_server::emitted_openapi());
}

#[test]
fn the_contract_is_printed_as_the_page_of_the_operators_address() {
    let output = Command::new(env!("CARGO_BIN_EXE_server")).arg("docs").output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), sallyport_server::contract_page());
}
