//! The program `server`, and what became of it.

use std::process::{Command, Output, Stdio};

/// The program with these arguments, without settings in its environment and without input.
pub(crate) fn server(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_server"));
    let settings = std::env::vars_os().map(|(name, _)| name);
    for name in settings.filter(|name| name.to_string_lossy().starts_with("SALLYPORT_")) {
        command.env_remove(name);
    }
    command.args(arguments).env("RUST_BACKTRACE", "1").stdin(Stdio::null());
    command
}

pub(crate) fn output(arguments: &[&str]) -> Output {
    server(arguments).output().unwrap()
}

/// Standard output of a command that did what it should.
#[track_caller]
pub(crate) fn done(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Standard error of a command that failed.
#[track_caller]
pub(crate) fn failed(output: &Output, code: i32) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert!(
        output.stdout.is_empty() && !error.contains("panicked") && !error.contains("backtrace"),
        "{error}"
    );
    error
}

/// The same for a failure in one line, to which clap adds how the command is used.
#[track_caller]
pub(crate) fn failure(output: &Output, code: i32) -> String {
    let error = failed(output, code);
    assert!(error.starts_with("error: ") && (error.lines().count() == 1 || code == 2), "{error}");
    error
}
