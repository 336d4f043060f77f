//! Asks the built programs what they are. This crate depends on none of them, so that it runs when they do not build.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::{Deserialize, de::DeserializeOwned};

use crate::emit::Check;

/// The registry of the suite: `conformance list --format json`.
pub(crate) fn checks(root: &Path) -> Result<Vec<Check>, String> {
    ask(root, &["conformance", "list", "--format", "json"])
}

/// What the running API says of itself: `server openapi`.
pub(crate) fn emitted(root: &Path) -> Result<serde_json::Value, String> {
    ask(root, &["server", "openapi"])
}

/// The contract as the server shows it to a browser: `server docs`.
pub(crate) fn page(root: &Path) -> Result<Vec<u8>, String> {
    output(root, &["server", "docs"])
}

/// Reads the JSON that a program prints.
fn ask<T: DeserializeOwned>(root: &Path, program: &[&str]) -> Result<T, String> {
    serde_json::from_slice(&output(root, program)?).map_err(|error| {
        format!("error: `{}` printed something other than expected: {error}\n", program.join(" "))
    })
}

/// Runs `program` (its name, then its arguments) and gives what it prints.
fn output(root: &Path, program: &[&str]) -> Result<Vec<u8>, String> {
    let [name, arguments @ ..] = program else { return Err("error: no program named\n".to_owned()) };
    let shown = program.join(" ");
    let path = built(root, name)?;
    let output = Command::new(path)
        .current_dir(root)
        .args(arguments)
        .output()
        .map_err(|error| format!("error: `{shown}` cannot be started: {error}\n"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        return Err(format!("{said}error: `{shown}` fails ({status}); mend what it says above\n"));
    }
    Ok(output.stdout)
}

/// What cargo prints of something that it has built.
#[derive(Deserialize)]
struct Artifact {
    target: Target,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// Builds the programs and gives the path of one. Both are built together: each alone would want its own features of what
/// they share, and most of it would be built anew. It does not matter whether the other one builds.
fn built(root: &Path, name: &str) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["build", "--bins", "--keep-going", "--message-format", "json-render-diagnostics"])
        .args(["--package", "sallyport-server", "--package", "sallyport-conformance"])
        // It takes minutes the first time, and cargo tells how far it is.
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("error: cargo cannot be started to build `{name}`: {error}\n"))?;
    let artifacts = output.stdout.split(|byte| *byte == b'\n').filter_map(|line| {
        // Other lines tell of build scripts and of the end.
        serde_json::from_slice::<Artifact>(line).ok()
    });
    let program = artifacts.filter(|artifact| artifact.target.name == name).find_map(|it| it.executable);
    program.ok_or_else(|| {
        format!("error: `{name}` does not build; mend what cargo says above and run this again\n")
    })
}
