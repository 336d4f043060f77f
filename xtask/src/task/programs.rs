//! Asks the built programs what they are. This crate depends on none of them, so that it runs when they do not build.

use std::{path::Path, process::Command};

use serde::de::DeserializeOwned;

use crate::emit::Check;

/// The registry of the suite: `conformance list --format json`.
pub(crate) fn checks(root: &Path) -> Result<Vec<Check>, String> {
    ask(root, "sallyport-conformance", &["conformance", "list", "--format", "json"])
}

/// What the running API says of itself: `server openapi`.
pub(crate) fn emitted(root: &Path) -> Result<serde_json::Value, String> {
    ask(root, "sallyport-server", &["server", "openapi"])
}

/// The contract as the server shows it to a browser: `server docs`.
pub(crate) fn page(root: &Path) -> Result<Vec<u8>, String> {
    output(root, "sallyport-server", &["server", "docs"])
}

/// Reads the JSON that a program prints.
fn ask<T: DeserializeOwned>(root: &Path, package: &str, program: &[&str]) -> Result<T, String> {
    serde_json::from_slice(&output(root, package, program)?).map_err(|error| {
        format!("error: `{}` printed something other than expected: {error}\n", program.join(" "))
    })
}

/// Runs `program` (its name, then its arguments) of `package` and gives what it prints.
fn output(root: &Path, package: &str, program: &[&str]) -> Result<Vec<u8>, String> {
    let [name, arguments @ ..] = program else { return Err("error: no program named\n".to_owned()) };
    let shown = program.join(" ");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["run", "--quiet", "--package", package, "--bin", name, "--"])
        .args(arguments)
        .output()
        .map_err(|error| format!("error: cargo cannot be started to run `{shown}`: {error}\n"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "{said}error: `{shown}` does not build or run ({}); mend what it says above and run this again\n",
            output.status
        ));
    }
    Ok(output.stdout)
}
