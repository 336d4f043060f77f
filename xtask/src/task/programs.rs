//! Runs the built programs for their output. This crate does not depend on them, so that it runs when they do not build.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::de::DeserializeOwned;

use super::cargo::{PACKAGES, PROGRAM_ARGUMENTS, built_programs, cargo};
use crate::model::Check;

/// The variable that names the profile of Cargo to build them with. CI sets the one of the tests, whose crates are built by then.
const PROFILE: &str = "XTASK_PROFILE";

/// The programs that were built.
#[derive(Debug)]
pub(crate) struct Programs<'a> {
    root: &'a Path,
    built: BTreeMap<String, PathBuf>,
}

impl<'a> Programs<'a> {
    /// Builds all programs. One that does not build is missed only when it is needed: cargo has shown its errors by then.
    ///
    /// They are built together, because each alone would need other features of shared dependencies and rebuild them.
    pub(crate) fn build(root: &'a Path) -> Result<Programs<'a>, String> {
        let output = cargo()
            .current_dir(root)
            .args(["build", "--keep-going", "--message-format", "json-render-diagnostics"])
            .args(["--profile", &std::env::var(PROFILE).unwrap_or_else(|_| "dev".to_owned())])
            .args(PACKAGES)
            .args(PROGRAM_ARGUMENTS)
            // The first build takes minutes, so cargo's progress is shown.
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("error: cannot start cargo: {error}\n"))?;
        Ok(Programs { root, built: built_programs(&String::from_utf8_lossy(&output.stdout)) })
    }

    /// The registry of the suite: `conformance list --format json`.
    pub(crate) fn checks(&self) -> Result<Vec<Check>, String> {
        self.json(&["conformance", "list", "--format", "json"])
    }

    /// Lets the suite read its contract: `conformance explain CLAUSE` needs all of it.
    ///
    /// Fails with what the suite misses in the document.
    pub(crate) fn read_contract(&self, clause: &str) -> Result<(), String> {
        self.output(&["conformance", "explain", clause]).map(drop).map_err(|error| {
            format!(
                "{error}error: the suite cannot read the contract: undo the change of the document, or extend \
                 conformance/src/contract/ so that it reads it\n"
            )
        })
    }

    /// The document that the server emits: `server openapi`.
    pub(crate) fn emitted(&self) -> Result<serde_json::Value, String> {
        self.json(&["server", "openapi"])
    }

    /// The server's page of the contract: `server docs`.
    pub(crate) fn page(&self) -> Result<Vec<u8>, String> {
        self.output(&["server", "docs"])
    }

    /// Parses the JSON that a program prints.
    fn json<T: DeserializeOwned>(&self, program: &[&str]) -> Result<T, String> {
        serde_json::from_slice(&self.output(program)?)
            .map_err(|error| format!("error: unexpected output of `{}`: {error}\n", program.join(" ")))
    }

    /// Runs `program` (its name, then its arguments) and returns its output.
    fn output(&self, program: &[&str]) -> Result<Vec<u8>, String> {
        let name = program.first().copied().unwrap_or_default();
        let path = self.built.get(name).ok_or_else(|| {
            format!("error: `{name}` does not build; fix the errors above and run this again\n")
        })?;
        let shown = program.join(" ");
        let output = Command::new(path)
            .current_dir(self.root)
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
}
