//! A database with an account, and the program on it.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use super::program::{done, failure, server};

/// An account, an instance and a gateway with passwords.
const DATA: &str = include_str!("../support/acme.jsonl");

pub(crate) struct TestDatabase(tempfile::TempDir);

impl TestDatabase {
    pub(crate) fn open() -> Self {
        let database = Self(tempfile::tempdir().unwrap());
        std::fs::write(database.path("data.jsonl"), DATA).unwrap();
        let data = database.path("data.jsonl");
        database.succeed(&format!("import {}", data.display()));
        database
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = server(arguments);
        command.env("SALLYPORT_DB", self.path("test.db"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// With something to read on standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that does not want it ends before it is all written.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Standard output of a command line that does what it should.
    #[track_caller]
    pub(crate) fn succeed(&self, command: &str) -> String {
        done(&self.run(&words(command)))
    }

    /// A command line that fails with this exit code and message, and changes nothing. Returns all that it says.
    #[track_caller]
    pub(crate) fn fail(&self, code: i32, command: &str, message: &str) -> String {
        let before = self.succeed("export -");
        let error = failure(&self.run(&words(command)), code);
        assert_eq!(self.succeed("export -"), before, "{command}");
        assert!(error.contains(message), "{command}: {error}");
        error
    }
}

/// The arguments of a command line, which a space separates.
pub(crate) fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}
