//! `server run` and `server openapi`, as a user sees them.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Command, Stdio},
};

use sallyport_server::{api::generated::ListStaticGroups, edge::operation::Operation as _};

use super::{
    program::{done, output, server},
    server_process::ServerProcess,
    wire::send,
};

fn terminate(child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
}

#[test]
fn a_log_for_machines_tells_of_each_call_what_became_of_it() {
    let mut command = server(&["run", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    let mut server = ServerProcess::start(command.stderr(Stdio::piped()));
    // That of the main account, which the sandbox prints first.
    let token = server.printed.split_whitespace().find(|word| word.starts_with("sally_api_")).unwrap();
    let responses = [token, ""].map(|token| {
        let head = format!("GET {}?api_key={token} HTTP/1.1", ListStaticGroups::PATH);
        send(server.address, &head, b"")
    });
    terminate(&server.child);
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(!log.contains(token));
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
                terminate(&child);
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
fn the_document_is_printed_as_json() {
    let document: serde_json::Value = serde_json::from_str(&done(&output(&["openapi"]))).unwrap();
    assert_eq!(&document, sallyport_server::openapi());
}

#[test]
fn the_contract_is_printed_as_the_page_of_the_operators_address() {
    assert_eq!(done(&output(&["docs"])), sallyport_server::contract_page());
}
