//! `server run` without a database.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::Value;

use super::program::server;

/// What a sandbox with fixed tokens prints in JSON, once it listens.
fn description() -> Value {
    let mut child = server(&["run", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log", "off"])
        .args(["--sandbox-tokens", "fixed", "--sandbox-output", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let read = BufReader::new(child.stdout.take().unwrap()).read_line(&mut line);
    child.kill().and_then(|()| child.wait()).unwrap();
    read.unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn a_sandbox_prints_itself_as_one_line_of_json_with_the_same_tokens_each_time() {
    let [one, other] = [(); 2].map(|()| description());
    assert_eq!(one["tokens"], other["tokens"]);
    assert!(one["admin"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    let base_url = one["baseUrl"].as_str().unwrap();
    let token = one["tokens"]["main"]["token"].as_str().unwrap();
    assert_eq!(one["clock"], format!("{base_url}/sandbox/clock"));
    for command in one["curl"].as_array().unwrap() {
        let command = command.as_str().unwrap();
        assert!(command.contains(base_url) && command.contains(token), "{command}");
    }
}
