//! Runs the program, and judges how it ended.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A token with all that makes trouble in URLs, JSON and headers.
pub(crate) const TOKEN: &str = r#"cAn4ry/+tok"en\ =&%42"#;

/// The program, with a token and no other variable of ours.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    for (name, _) in std::env::vars_os() {
        let ours = name.to_str().is_some_and(|name| {
            ["SALLYPORT_", "CONFORMANCE_", "GITHUB_"].iter().any(|ours| name.starts_with(ours))
        });
        if ours {
            command.env_remove(name);
        }
    }
    command.args(arguments).env("SALLYPORT_API_KEY", TOKEN).stdin(Stdio::null());
    command
}

/// Runs it to its end. Servers of tests bear the profile `full`, which nobody gets without asking for it.
pub(crate) fn run(arguments: &[&str]) -> Output {
    let sends = ["run", "record", "compare", "replay"].contains(&arguments[0]);
    let full: &[&str] = if sends && !arguments.contains(&"--profile") { &["--profile", "full"] } else { &[] };
    program(&[arguments, full].concat()).finish()
}

pub(crate) trait Finish {
    /// Runs it to its end.
    fn finish(&mut self) -> Output;
}

impl Finish for Command {
    fn finish(&mut self) -> Output {
        self.output().expect("the program runs")
    }
}

pub(crate) trait AssertOutput: Sized {
    /// Asserts that it ended with this exit code, and printed each of these texts.
    fn assert(self, code: i32, printed: &[&str]) -> Self;
}

impl AssertOutput for Output {
    #[track_caller]
    fn assert(self, expected: i32, printed: &[&str]) -> Self {
        let text = text(&self);
        assert_eq!(code(&self), expected, "{text}");
        for part in printed {
            assert!(text.contains(part), "expected {part:?} in {text}");
        }
        self
    }
}

/// Its exit code.
pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("it ended by itself")
}

/// All that it printed.
pub(crate) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The argument for a report in every format, in a folder.
pub(crate) fn every_report(folder: &Path) -> String {
    let forms = ["html", "json", "junit", "sarif", "md", "comment", "prometheus", "har"];
    let reports = forms.map(|form| format!("{form}={}", folder.join(format!("report.{form}")).display()));
    format!("--report=github,{}", reports.join(","))
}

/// A temporary folder. Its paths are text, as arguments need them.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a file in it.
    pub(crate) fn file(&self, name: &str) -> String {
        self.path().join(name).to_str().expect("a path in UTF-8").to_owned()
    }

    /// Writes a file, and returns its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let file = self.file(name);
        std::fs::write(&file, content).expect("written");
        file
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect("a file of text")
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }
}
