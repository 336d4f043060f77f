//! Cargo, and what it prints about built programs.

use std::{collections::BTreeMap, path::PathBuf, process::Command};

use serde::Deserialize;

/// The cargo that runs this program, or the one of the path.
pub(super) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
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

/// The programs that `cargo build --message-format json-render-diagnostics` reports, by name.
pub(super) fn built_programs(stdout: &str) -> BTreeMap<String, PathBuf> {
    // Other messages are about build scripts and the end of the build.
    let artifacts = stdout.lines().filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
    artifacts.filter_map(|artifact| Some((artifact.target.name, artifact.executable?))).collect()
}
