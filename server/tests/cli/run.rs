//! `server run` and `server openapi`, as a user sees them.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    net::SocketAddr,
    process::{Command, ExitStatus, Stdio},
};

use sallyport_server::{api::generated::ListStaticGroups, edge::operation::Operation as _};

use super::{
    program::{done, output, server},
    server_process::ServerProcess,
    wire::{Response, send},
};

fn run(arguments: &[&str]) -> ServerProcess {
    ServerProcess::start(server(&["run", "--listen", "127.0.0.1:0"]).args(arguments).stderr(Stdio::piped()))
}

/// The token of the main account, which the sandbox prints first.
fn token(server: &ServerProcess) -> &str {
    server.printed.split_whitespace().find(|word| word.starts_with("sally_api_")).unwrap()
}

fn signal(server: &ServerProcess, name: &str) {
    let id = server.child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
}

/// Waits until the server has ended, and returns how, with its log.
fn wait(server: &mut ServerProcess) -> (ExitStatus, String) {
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    (server.child.wait().unwrap(), log)
}

fn get(address: SocketAddr, target: &str) -> Response {
    send(address, &format!("GET {target} HTTP/1.1"), b"")
}

fn groups(server: &ServerProcess, token: &str) -> Response {
    get(server.address, &format!("{}?api_key={token}", ListStaticGroups::PATH))
}

#[test]
fn the_sandbox_serves_until_a_signal_comes_and_logs_no_token() {
    for signal in ["TERM", "INT"] {
        let mut server = run(&["--log", "trace"]);
        let token = token(&server).to_owned();
        let response = groups(&server, &token);
        assert!(response.status == 200 && response.body.contains("warehouse"), "{response:?}");
        self::signal(&server, signal);
        let (status, log) = wait(&mut server);
        assert_eq!(status.code(), Some(0), "{log}");
        assert!(!log.is_empty() && !log.contains(&token));
        assert!(!log.contains('\u{1b}'), "colours are for terminals");
    }
}

#[test]
fn a_server_that_drains_is_not_ready_and_still_serves() {
    let mut server = run(&["--admin", "127.0.0.1:0", "--drain-delay", "5"]);
    let admin =
        server.printed.lines().find_map(|line| line.strip_prefix("operator's pages on http://")).unwrap();
    let admin: SocketAddr = admin.parse().unwrap();
    assert_eq!(get(admin, "/readyz").status, 200);
    signal(&server, "TERM");
    let draining = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        get(admin, "/readyz").status == 503
    });
    assert!(draining, "it says that it is ready after a signal");
    assert_eq!(groups(&server, token(&server)).status, 200);
    let (status, log) = wait(&mut server);
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn a_log_for_machines_tells_of_each_call_what_became_of_it() {
    let mut server = run(&["--log-format", "json"]);
    let token = token(&server).to_owned();
    let responses = [groups(&server, &token), groups(&server, "")];
    signal(&server, "TERM");
    let (_, log) = wait(&mut server);
    assert!(!log.contains(&token));
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (response, outcome) in responses.iter().zip(["success", "rejected"]) {
        let line = lines.iter().find(|line| line["outcome"] == outcome).unwrap();
        let id = line["span"]["request_id"].as_str().unwrap();
        assert_eq!(response.header("x-request-id"), Some(id), "{line}");
        assert_eq!(line["span"]["operation"], "listStaticGroups", "{line}");
        assert_eq!(line["span"]["caller"], "127.0.0.1", "{line}");
        assert_eq!(line["span"]["account"].is_number(), outcome == "success", "{line}");
        assert_eq!(line["code"].is_number(), outcome == "rejected", "{line}");
        assert!(line["status"].is_number() && line["micros"].is_number(), "{line}");
    }
}

#[test]
fn start_signals_and_end_are_lines_of_the_log_for_machines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.db");
    let db = path.to_str().unwrap();
    let created = |word: &str| {
        let printed = done(&output(&["create", "--db", db]));
        assert!(printed.contains(word), "{printed}");
    };
    created("created");
    created("already exists");
    let run = |listen: &str, ends: bool| {
        let arguments =
            ["run", "--db", db, "--listen", listen, "--log-format", "json", "--drain-delay", "600"];
        let mut child = server(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = Vec::new();
        for line in BufReader::new(child.stderr.take().unwrap()).lines() {
            let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
            let message = line["message"].as_str().unwrap().to_owned();
            // Two signals: the first begins the drain, the second ends it.
            if ends && (message.starts_with("listening on http://") || message.starts_with("SIGTERM")) {
                let id = child.id().to_string();
                assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
            }
            lines.push(message);
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{lines:#?}");
        lines
    };
    let lines = run("127.0.0.1:0", true);
    let last = lines.last().unwrap();
    assert!(last.contains("stopped at once by a second signal, SIGTERM"), "{lines:#?}");
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let lines = run(&holder.local_addr().unwrap().to_string(), false);
    assert!(lines.last().unwrap().starts_with("cannot listen on"), "{lines:#?}");
}

#[test]
fn a_database_keeps_its_tokens_from_run_to_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.db");
    let printed = done(&output(&["seed", "--db", path.to_str().unwrap()]));
    let token = printed.split_whitespace().find(|word| word.starts_with("sally_api_")).unwrap();
    for _ in 0..2 {
        let mut server = run(&["--db", path.to_str().unwrap()]);
        assert_eq!(server.printed, "", "tokens are shown when they are made, not later");
        assert_eq!(groups(&server, token).status, 200);
        signal(&server, "TERM");
        assert!(wait(&mut server).0.success());
    }
}

#[test]
fn the_document_is_printed_as_json() {
    let document: serde_json::Value = serde_json::from_str(&done(&output(&["openapi"]))).unwrap();
    assert_eq!(&document, sallyport_server::openapi());
}

#[test]
fn the_contract_is_printed_as_the_page_of_the_operators_address() {
    assert_eq!(done(&output(&["docs"])), sallyport_server::contract_page());
}
