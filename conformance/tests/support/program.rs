//! Runs the program, and judges how it ended.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A token with all that makes trouble in URLs, JSON and headers.
pub(crate) const TOKEN: &str = r#"cAn4ry/+tok"en\ =&%42"#;

/// The program, with a token and no other variable of ours.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_conformance"));
    command.args(arguments).env("SALLYPORT_API_KEY", TOKEN);
    command
}

/// A command without variables of ours, and without a proxy.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let ours = name.to_str().is_some_and(|name| {
            ["SALLYPORT_", "CONFORMANCE_", "GITHUB_"].iter().any(|ours| name.starts_with(ours))
        });
        if ours {
            command.env_remove(name);
        }
    }
    for name in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command.stdin(Stdio::null());
    command
}

/// The program while it runs. Dropped, it is killed.
pub(crate) struct RunningProgram {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// All that was read of its standard output.
    pub(crate) printed: String,
}

impl RunningProgram {
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, lines, printed: String::new() }
    }

    /// Reads until a line has this text, and returns what came.
    pub(crate) fn read_until(&mut self, wanted: &str) -> String {
        let before = self.printed.len();
        let mut begin = before;
        while !self.printed[begin..].contains(wanted) {
            begin = self.printed.len();
            if self.lines.read_line(&mut self.printed).expect("a line") == 0 {
                let errors = self.errors();
                panic!("{wanted} did not come: {}{errors}", self.printed);
            }
        }
        self.printed[before..].to_owned()
    }

    pub(crate) fn send(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    /// Waits until it ends, and returns the exit code. What it prints meanwhile is not read, which may keep it waiting.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let mut status = None;
        wait_until(|| {
            status = self.child.try_wait().expect("its status");
            status.is_some()
        });
        status?.code()
    }

    /// Reads the rest, and returns the exit code and all that it printed, errors at the end.
    pub(crate) fn finish(&mut self) -> (Option<i32>, String) {
        self.lines.read_to_string(&mut self.printed).expect("text");
        let errors = self.errors();
        (self.ended(), self.printed.clone() + &errors)
    }

    fn errors(&mut self) -> String {
        let mut errors = String::new();
        let stderr = self.child.stderr.take();
        stderr.map(|mut stderr| stderr.read_to_string(&mut errors).expect("text"));
        errors
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn wait_until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not come to an end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

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
