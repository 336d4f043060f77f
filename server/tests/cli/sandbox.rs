//! `server run` without a database, and that none of its options goes with one.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
};

use serde_json::Value;

use super::program::{done, failed, output, server};

/// A server that is stopped at the end of its test, whatever happens.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already, which is the better case.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a sandbox with fixed tokens prints in JSON.
fn description() -> (Server, Value) {
    let mut child = server(&["run", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log", "off"])
        .args(["--sandbox-tokens", "fixed", "--sandbox-output", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Server(child), serde_json::from_str(&line).unwrap())
}

#[test]
fn a_sandbox_prints_itself_as_one_line_of_json_with_the_same_tokens_each_time() {
    let ((_one, one), (_other, other)) = (description(), description());
    assert_eq!(one["tokens"], other["tokens"]);
    assert_ne!(one["baseUrl"], other["baseUrl"]);
    assert!(one["admin"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    let base_url = one["baseUrl"].as_str().unwrap();
    let token = one["tokens"]["main"]["token"].as_str().unwrap();
    assert_eq!(one["clock"], format!("{base_url}/sandbox/clock"));
    for command in one["curl"].as_array().unwrap() {
        let command = command.as_str().unwrap();
        assert!(command.contains(base_url) && command.contains(token), "{command}");
    }
}

#[test]
fn no_option_of_the_sandbox_goes_with_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("real.db");
    let db = db.to_str().unwrap();
    done(&output(&["seed", "--db", db]));
    for (name, value) in [("sandbox-tokens", "fixed"), ("sandbox-output", "json")] {
        let (flag, variable) =
            (format!("--{name}"), format!("SALLYPORT_{}", name.to_uppercase().replace('-', "_")));
        let run = ["run", "--listen", "127.0.0.1:0"];
        let [mut flags, mut variable_set, mut database_set] = [(); 3].map(|()| server(&run));
        flags.args(["--db", db, &flag, value]);
        variable_set.args(["--db", db]).env(&variable, value);
        database_set.args([&flag, value]).env("SALLYPORT_DB", db);
        for mut command in [flags, variable_set, database_set] {
            let error = failed(&command.output().unwrap(), 2);
            assert!(
                error.contains(&format!("'--{name} ")) && error.contains("cannot be used with"),
                "{error}"
            );
        }
    }
}

#[test]
fn the_clock_is_no_option_and_other_commands_take_no_tokens_of_the_sandbox() {
    let listed = done(&output(&["run", "--help"]));
    assert!(listed.contains("--sandbox-tokens") && !listed.contains("--clock"), "{listed}");
    for command in [["seed", "--sandbox-tokens", "fixed"], ["run", "--sandbox-tokens", "7x"]] {
        let error = failed(&output(&command), 2);
        assert!(error.contains("sandbox-tokens"), "{error}");
    }
}
