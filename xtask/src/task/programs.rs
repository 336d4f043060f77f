//! Runs the built programs for their output. This crate does not depend on them, so that it runs when they do not build.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::{Deserialize, de::DeserializeOwned};

use crate::emit::{Check, texts::subcommands};

/// The registry of the suite: `conformance list --format json`.
pub(crate) fn checks(root: &Path) -> Result<Vec<Check>, String> {
    json(root, &["conformance", "list", "--format", "json"])
}

/// The document that the server emits: `server openapi`.
pub(crate) fn emitted(root: &Path) -> Result<serde_json::Value, String> {
    json(root, &["server", "openapi"])
}

/// The server's page of the contract: `server docs`.
pub(crate) fn page(root: &Path) -> Result<Vec<u8>, String> {
    output(root, &["server", "docs"])
}

/// The help of every program and of all its subcommands, each after the one that lists it.
pub(crate) fn help(root: &Path) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for program in ["sallyport", "server", "conformance"] {
        let path = built(root, program)?;
        let mut commands = vec![program.to_owned()];
        while let Some(command) = commands.pop() {
            let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
            let text = String::from_utf8_lossy(&run(root, &path, &words)?).into_owned();
            commands.extend(subcommands(&text).iter().rev().map(|name| format!("{command} {name}")));
            found.push((command, text));
        }
    }
    Ok(found)
}

/// Parses the JSON that a program prints.
fn json<T: DeserializeOwned>(root: &Path, program: &[&str]) -> Result<T, String> {
    serde_json::from_slice(&output(root, program)?)
        .map_err(|error| format!("error: unexpected output of `{}`: {error}\n", program.join(" ")))
}

/// Runs `program` (its name, then its arguments) and returns its output.
fn output(root: &Path, program: &[&str]) -> Result<Vec<u8>, String> {
    let [name, ..] = program else {
        return Err("error: missing name of the program\n".to_owned());
    };
    run(root, &built(root, name)?, program)
}

/// Runs the built program at `path` with the arguments of `program` and returns its output.
fn run(root: &Path, path: &Path, program: &[&str]) -> Result<Vec<u8>, String> {
    let shown = program.join(" ");
    let output = Command::new(path)
        .current_dir(root)
        // Help shows the values of environment variables.
        .env_clear()
        .args(program.iter().skip(1))
        .output()
        .map_err(|error| format!("error: cannot start `{shown}`: {error}\n"))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        return Err(format!("{messages}error: `{shown}` failed ({status}); fix what it reports above\n"));
    }
    Ok(output.stdout)
}

/// A message of cargo about a built target.
#[derive(Deserialize)]
struct Artifact {
    target: Target,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// Builds the programs and returns the path of one, whether the others build or not. They are built together, because
/// each alone would need other features of shared dependencies and rebuild them.
fn built(root: &Path, name: &str) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["build", "--bins", "--keep-going", "--message-format", "json-render-diagnostics"])
        .args([
            "--package",
            "sallyport-server",
            "--package",
            "sallyport-conformance",
            "--package",
            "sallyport-client",
        ])
        .args(["--features", "sallyport-client/cli"])
        // The first build takes minutes, so cargo's progress is shown.
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("error: cannot start cargo to build `{name}`: {error}\n"))?;
    let artifacts = output.stdout.split(|byte| *byte == b'\n').filter_map(|line| {
        // Other messages are about build scripts and the end of the build.
        serde_json::from_slice::<Artifact>(line).ok()
    });
    let program = artifacts.filter(|artifact| artifact.target.name == name).find_map(|it| it.executable);
    program
        .ok_or_else(|| format!("error: `{name}` does not build; fix the errors above and run this again\n"))
}
