//! The scripts of the GitHub action, as the runner would run them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use super::program::{AssertOutput as _, Finish as _, Folder, TOKEN, text};
use super::server::{self, TestServer};

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
    shell.env("RUNNER_TEMP", folder);
    shell.output().expect("bash runs")
}

fn outputs(folder: &Folder) -> BTreeMap<String, String> {
    let text = folder.read("outputs");
    let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    text.lines().filter_map(pair).collect()
}

#[test]
fn the_action_reports_what_the_suite_found_and_the_last_step_decides() {
    let target = TestServer::start(|stream| server::groups(stream, &[2, 1]));
    let folder = Folder::new();
    let url = target.url();
    let inputs = inputs(&[
        ("INPUT_BASE_URL", url.as_str()),
        ("INPUT_PROFILE", "full"),
        ("INPUT_IMPLEMENTATION", "a b; $(touch forged) `touch forged`"),
        ("INPUT_ARGUMENTS", "--only\ngroups.order.*\n"),
        ("INPUT_REPORTS", "out put"),
    ]);
    let ran = run("Test the service", folder.path(), &inputs);
    ran.assert(0, &["::error title=groups.order is violated::"]);
    assert!(!folder.path().join("forged").exists(), "an input became part of the script");
    let outputs = outputs(&folder);
    assert_eq!(outputs["exit-code"], "1");
    assert_eq!(outputs["sarif"], "out put/report.sarif");
    for report in ["html", "json", "sarif", "md", "comment.md", "xml"] {
        assert!(folder.path().join(format!("out put/report.{report}")).is_file(), "{report}");
    }
    let summary = folder.read("summary.md");
    assert!(summary.starts_with("# Conformance: findings: "), "{summary}");
    run("Decide", folder.path(), &[("CODE", "1")]).assert(1, &[]);
}

#[test]
fn the_action_needs_to_be_told_what_to_test() {
    let folder = Folder::new();
    let without_token = [("INPUT_BASE_URL", "http://127.0.0.1:9"), ("SALLYPORT_API_KEY", "")];
    for (given, message) in
        [([].as_slice(), "set the input base-url or config"), (&without_token, "the input api-key is empty")]
    {
        let inputs = inputs(&[given, &[("PROGRAM", "/missing")]].concat());
        run("Test the service", folder.path(), &inputs).assert(2, &[message]);
    }
    assert_eq!(outputs(&folder)["exit-code"], "2");
}

#[test]
fn a_program_that_is_missing_is_an_annotation() {
    let folder = Folder::new();
    let missing = [("INPUT_BASE_URL", "http://127.0.0.1:9"), ("PROGRAM", "/missing/conformance")];
    let ran = run("Test the service", folder.path(), &inputs(&missing));
    ran.assert(2, &["::error title=conformance::the input program is not"]);
    assert_eq!(outputs(&folder)["exit-code"], "2");
}

/// The inputs of the step that tests, with these in place of their defaults.
fn inputs<'a>(given: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let defaults = [
        ("PROGRAM", env!("CARGO_BIN_EXE_conformance")),
        ("INPUT_BASE_URL", ""),
        ("INPUT_CONFIG", ""),
        ("INPUT_PROFILE", ""),
        ("INPUT_IMPLEMENTATION", ""),
        ("INPUT_ARGUMENTS", ""),
        ("INPUT_REPORTS", "reports"),
        ("SALLYPORT_API_KEY", TOKEN),
    ];
    let rest = defaults.into_iter().filter(|(name, _)| given.iter().all(|(other, _)| name != other));
    rest.chain(given.iter().copied()).collect()
}

#[test]
fn an_empty_secret_and_a_run_that_does_not_begin_are_annotations() {
    let target = TestServer::start(|stream| server::groups(stream, &[1]));
    let folder = Folder::new();
    let url = target.url();
    let empty = [("INPUT_BASE_URL", url.as_str()), ("SALLYPORT_SECOND_API_KEY", "")];
    let annotation =
        "::error title=conformance::the variable SALLYPORT_SECOND_API_KEY is empty; set the secret";
    run("Test the service", folder.path(), &inputs(&empty)).assert(2, &[annotation]);

    folder.write("c.toml", format!("base-url = \"{url}\"\n"));
    let without = [("INPUT_CONFIG", "c.toml"), ("SALLYPORT_API_KEY", "")];
    let annotations =
        ["::error title=conformance%3A invalid usage", "::conformance: missing token; set SALLYPORT_API_KEY"];
    run("Test the service", folder.path(), &inputs(&without)).assert(0, &annotations);
    assert_eq!(outputs(&folder)["exit-code"], "2");
    assert_eq!(target.connections(), 0);
}

#[test]
fn the_profile_of_the_configuration_counts() {
    let target = TestServer::start(|stream| server::groups(stream, &[1]));
    let folder = Folder::new();
    let config =
        format!("base-url = \"{}\"\nprofile = \"smoke\"\nonly = [\"groups.order.*\"]\n", target.url());
    folder.write("c.toml", config);
    let ran = run("Test the service", folder.path(), &inputs(&[("INPUT_CONFIG", "c.toml")]));
    ran.assert(0, &["profile smoke: at most"]);
}

fn shell(folder: &Path, script: &str) -> String {
    let output = Command::new("sh").args(["-ec", script]).current_dir(folder).finish().assert(0, &[]);
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// An archive and a wheel as `cargo xtask dist` makes them, but for the program.
#[test]
fn an_archive_or_a_wheel_is_used_when_its_checksum_is_right() {
    let folder = Folder::new();
    shell(
        folder.path(),
        "mkdir a-1; printf '#!/bin/sh\necho from the archive\n' > a-1/conformance; chmod +x a-1/conformance; tar czf a.tgz a-1
         mkdir -p a-1.data/scripts; printf '#!/bin/sh\necho from the wheel\n' > a-1.data/scripts/conformance
         python3 -m zipfile --create a.whl a-1.data",
    );
    let archive = std::fs::read(folder.path().join("a.tgz")).expect("an archive");
    let target = TestServer::start(move |stream| server::response(stream, "200 OK", &[], &archive));
    let url = format!("{}/sallyport-conformance.tar.gz", target.url());
    let sha256 = shell(folder.path(), "sha256sum a.tgz | cut -d' ' -f1");
    let other = "0".repeat(64);
    for (sha256, said) in [
        (other.as_str(), "its SHA-256 is not archive-sha256"),
        ("", "expected the 64 hexadecimal digits"),
        ("${sha256}", "expected the 64 hexadecimal digits"),
    ] {
        let ran = run("Download the suite", folder.path(), &[("ARCHIVE", &url), ("SHA256", sha256)]);
        ran.assert(2, &["::error title=conformance::", said]);
        assert!(!folder.path().join("sallyport-conformance-archive/conformance").exists());
    }
    let gone = format!("http://{}/a.tar.gz", server::closed_port());
    let ran = text(&run("Download the suite", folder.path(), &[("ARCHIVE", &gone), ("SHA256", &other)]));
    assert!(ran.contains("::error title=conformance::archive: the download failed"), "{ran}");
    run("Download the suite", folder.path(), &[("ARCHIVE", &url), ("SHA256", &sha256)]).assert(0, &[]);
    let program = &outputs(&folder)["program"];
    assert_eq!(shell(folder.path(), &format!("'{program}'")), "from the archive");

    let wheel = std::fs::read(folder.path().join("a.whl")).expect("a wheel");
    let target = TestServer::start(move |stream| server::response(stream, "200 OK", &[], &wheel));
    let url = format!("{}/sallyport_conformance.whl", target.url());
    let sha256 = shell(folder.path(), "sha256sum a.whl | cut -d' ' -f1");
    run("Download the suite", folder.path(), &[("ARCHIVE", &url), ("SHA256", &sha256)]).assert(0, &[]);
    assert_eq!(shell(folder.path(), &format!("'{program}'")), "from the wheel");
}

#[test]
fn the_comment_is_the_shortened_report_and_says_where_the_whole_one_is() {
    let folder = Folder::new();
    // Takes the place of GitHub: lists the comment in `known`, if there is one, and keeps what is written.
    shell(
        folder.path(),
        r#"cat > gh <<'END'
#!/bin/sh
case "$*" in
  "api user "*) exit 1 ;;
  *--paginate*) echo "$*" > listed; cat known 2> /dev/null || true ;;
  *"--method PATCH"*) echo "$*" | sed 's/ --field.*//' > written; cp "${*##*@}" posted.md ;;
  *) echo "$*" | sed 's/ --body-file.*//' > written; cp "${*##*--body-file }" posted.md ;;
esac
END
chmod +x gh"#,
    );
    folder.write("report.comment.md", "# Conformance\n");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").expect("a path"));
    let marker = "<!-- sallyport-conformance ci preview -->";
    let variables = [
        ("PATH", path.as_str()),
        ("REPORT", "report.comment.md"),
        ("MARKER", marker),
        ("NUMBER", "7"),
        ("GITHUB_SERVER_URL", "https://github.example"),
        ("GITHUB_REPOSITORY", "a/b"),
        ("GITHUB_RUN_ID", "9"),
    ];
    run("Comment on the pull request", folder.path(), &variables).assert(0, &[]);
    assert_eq!(folder.read("written"), "pr comment 7 --repo a/b\n");
    let posted = folder.read("posted.md");
    assert!(posted.starts_with(&format!("{marker}\n# Conformance\n")), "{posted}");
    assert!(posted.contains("[this run](https://github.example/a/b/actions/runs/9)"), "{posted}");
    // A later run replaces its own comment, by id, and not the last one of the same author.
    folder.write("known", "41\n");
    run("Comment on the pull request", folder.path(), &variables).assert(0, &[]);
    assert_eq!(folder.read("written"), "api --silent --method PATCH repos/a/b/issues/comments/41\n");
    assert!(folder.read("listed").contains("startswith(env.MARKER)"), "{}", folder.read("listed"));
}
