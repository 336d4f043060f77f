//! Runs the program.

use std::path::Path;
use std::process::{Command, Output, Stdio};

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
    program(&[arguments, full].concat()).output().expect("the program runs")
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
