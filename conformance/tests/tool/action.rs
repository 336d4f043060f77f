//! The scripts of the GitHub action, as the runner would run them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use crate::misbehaving::{self as server, MisbehavingServer};
use crate::program::{TOKEN, code, text};

/// The script of a step: the lines below its `run: |`.
fn script(step: &str) -> String {
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    let file = Path::new(&here).join("../.github/actions/conformance/action.yml");
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

/// Runs it with the shell and the options of the runner, in a folder.
fn run(step: &str, folder: &Path, variables: &[(&str, &str)]) -> Output {
    let mut shell = Command::new("bash");
    shell.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script(step)]).current_dir(folder);
    shell.env_remove("SALLYPORT_BASE_URL").envs(variables.iter().copied());
    shell.env("GITHUB_OUTPUT", folder.join("outputs")).env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
    shell.output().expect("bash runs")
}

fn outputs(folder: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.join("outputs")).expect("outputs");
    let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    text.lines().filter_map(pair).collect()
}

#[test]
fn the_action_reports_what_the_suite_found_and_the_last_step_decides() {
    let target = MisbehavingServer::start(|stream| server::groups(stream, &[2, 1]));
    let folder = tempfile::tempdir().expect("a folder");
    let url = target.url();
    let inputs = [
        ("PROGRAM", env!("CARGO_BIN_EXE_conformance")),
        ("INPUT_BASE_URL", url.as_str()),
        ("INPUT_CONFIG", ""),
        ("INPUT_PROFILE", "full"),
        ("INPUT_IMPLEMENTATION", "a b; $(touch forged) `touch forged`"),
        ("INPUT_ARGUMENTS", "--only\ngroups.order.*\n"),
        ("INPUT_REPORTS", "out put"),
        ("SALLYPORT_API_KEY", TOKEN),
    ];
    let ran = run("Test the service", folder.path(), &inputs);
    assert_eq!(code(&ran), 0, "{}", text(&ran));
    assert!(text(&ran).contains("::error title=groups.order is violated::"), "{}", text(&ran));
    assert!(!folder.path().join("forged").exists(), "an input became part of the script");
    let outputs = outputs(folder.path());
    assert_eq!(outputs["exit-code"], "1");
    assert_eq!(outputs["sarif"], "out put/report.sarif");
    for report in ["html", "json", "sarif", "md", "xml"] {
        assert!(folder.path().join(format!("out put/report.{report}")).is_file(), "{report}");
    }
    let summary = std::fs::read_to_string(folder.path().join("summary.md")).expect("a summary");
    assert!(summary.starts_with("# Conformance: does not conform"), "{summary}");
    assert_eq!(code(&run("Decide", folder.path(), &[("CODE", "1")])), 1);
}

#[test]
fn the_action_needs_to_be_told_what_to_test() {
    let folder = tempfile::tempdir().expect("a folder");
    let names =
        ["BASE_URL", "CONFIG", "PROFILE", "IMPLEMENTATION", "ARGUMENTS"].map(|name| format!("INPUT_{name}"));
    let mut inputs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    inputs.extend([("INPUT_REPORTS", "reports"), ("PROGRAM", "/missing"), ("SALLYPORT_API_KEY", TOKEN)]);
    let ran = run("Test the service", folder.path(), &inputs);
    assert_eq!(code(&ran), 2);
    assert!(text(&ran).contains("set the input base-url or config"), "{}", text(&ran));

    let names = |(name, value)| match name {
        "INPUT_BASE_URL" => (name, "http://127.0.0.1:9"),
        "SALLYPORT_API_KEY" => (name, ""),
        _ => (name, value),
    };
    let inputs: Vec<(&str, &str)> = inputs.into_iter().map(names).collect();
    let ran = run("Test the service", folder.path(), &inputs);
    assert_eq!(code(&ran), 2);
    assert!(text(&ran).contains("the input api-key is empty"), "{}", text(&ran));
}
