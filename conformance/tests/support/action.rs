//! The steps of the GitHub action, as the runner would run them.

use std::path::Path;
use std::process::Command;

use super::program::{TOKEN, command};

/// The script of a step: the lines below its `run: |`.
fn script(step: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/actions/conformance/action.yml");
    let action = std::fs::read_to_string(file).expect("the action");
    let of_step = action.split("    - name: ").find(|part| part.starts_with(step)).expect("the step");
    let (_, run) = of_step.split_once("run: ").expect("a script");
    match run.strip_prefix("|\n") {
        None => run.lines().next().expect("a line").to_owned(),
        Some(lines) => {
            lines.lines().map(|line| line.trim_start_matches("        ").to_owned() + "\n").collect()
        }
    }
}

/// A step with the shell and the options of the runner, and with the defaults of its inputs, in a folder.
pub(crate) fn step(name: &str, folder: &Path) -> Command {
    let mut shell = command("bash");
    shell.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script(name)]);
    for input in ["BASE_URL", "CONFIG", "PROFILE", "IMPLEMENTATION", "ARGUMENTS"] {
        shell.env(format!("INPUT_{input}"), "");
    }
    shell.envs([
        ("PROGRAM", env!("CARGO_BIN_EXE_conformance")),
        ("INPUT_REPORTS", "reports"),
        ("SALLYPORT_API_KEY", TOKEN),
    ]);
    let path = std::env::var("PATH").expect("a path");
    shell.env("PATH", format!("{}:{path}", folder.display())).env("RUNNER_TEMP", folder);
    shell.env("GITHUB_OUTPUT", folder.join("outputs")).env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
    shell
}
