//! Imports of inputs that stall, and of very long lines, by the program itself.

use std::{
    fs,
    io::{BufWriter, Write as _},
    process::{Command, Stdio},
    time::Duration,
};

use sallyport_server::{data::seed::seed, store::RecordKind};
use serde_json::json;

use super::{
    backend::{Database, on_both, put},
    processes::{Outcome, extract, start_server},
};

fn import(database: &Database, file: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_server"));
    command.args(["import", file]).env("SALLYPORT_DB", database.name());
    command
}

async fn an_input_that_stalls_keeps_nobody_waiting(database: Database) {
    let sample = seed(database.open().await.as_ref()).await.unwrap();
    let server = start_server(&database.name());
    let mut import = import(&database, "-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = import.stdin.take().unwrap();
    // More than the pipe holds, so that the program has begun to read, and more than it reads at once.
    for number in 0..20_000 {
        writeln!(input, r#"{{"account":{{"name":"account {number}","realNameVerified":true}}}}"#).unwrap();
    }
    let gateway = r#"{"gateway":{"host":"gw.invalid","port":1,"region":"USA","protocol":"http"}}"#;
    writeln!(input, "{gateway}").unwrap();
    input.flush().unwrap();
    // Long enough to have done whatever can be done with these lines.
    tokio::time::sleep(Duration::from_secs(1)).await;
    for id in 0..10 {
        let outcome = extract(server.address, &sample, id).await;
        assert!(matches!(outcome, Outcome::Given(_)), "request id {id}: {outcome:?}");
    }
    // On PostgreSQL adding gateways takes another lock.
    let mine = json!({"host": "mine.invalid", "port": 1, "region": "USA", "protocol": "http"});
    put(database.open().await.as_ref(), RecordKind::Gateway, mine).await.unwrap();
    drop(input);
    let output = import.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("imported 20000 accounts, ") && said.contains(" 1 gateway,"), "{said}");
}

/// All together they would take 256 MiB, and several times that once they are read.
async fn long_lines_take_bounded_memory(database: Database) {
    const LINES: usize = 256;
    const MAX_KIB: u64 = 200 << 10;
    database.open().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    let mut file = BufWriter::new(fs::File::create(&path).unwrap());
    let long = "x".repeat((1 << 20) - 200);
    for port in 1..=LINES {
        writeln!(
            file,
            r#"{{"gateway":{{"host":"gw.invalid","port":{port},"region":"USA","protocol":"http","username":"{long}"}}}}"#
        )
        .unwrap();
    }
    file.flush().unwrap();
    let mut import = import(&database, path.to_str().unwrap()).stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", import.id());
    let mut highest = 0;
    let ended = loop {
        // The highest so far, so that nothing is missed between two looks but what comes after the last.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok());
        highest = highest.max(peak.unwrap_or(0));
        if let Some(ended) = import.try_wait().unwrap() {
            break ended;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    };
    assert!(ended.success());
    assert!((1..MAX_KIB).contains(&highest), "{} MiB", highest >> 10);
}

on_both! {
    an_input_that_stalls_keeps_nobody_waiting,
    long_lines_take_bounded_memory,
}
