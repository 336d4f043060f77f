//! Runs every console block of every README as a reader would, so that none can rot. A block that takes the network, hours or a
//! program that a test does not have stands behind a comment with the reason: `<!-- not run: REASON -->`.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::command as command_of;

const READMES: [&str; 5] =
    ["README.md", "client/README.md", "conformance/README.md", "openapi/README.md", "server/README.md"];

fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    Path::new(&here).parent().expect("a repository").to_owned()
}

/// The READMEs of the repository and of each folder, from its root, with their blocks.
fn all() -> Vec<(String, Vec<Block>)> {
    let folders = std::fs::read_dir(root()).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> = folders.chain([root()]).map(|folder| folder.join("README.md")).collect();
    pages.retain(|page| page.is_file());
    pages.sort();
    let name = |page: &PathBuf| page.strip_prefix(root()).expect("below").display().to_string();
    // Their commands are run, and those of a stranger's page are not.
    assert_eq!(pages.iter().map(name).collect::<Vec<_>>(), READMES);
    let read = |page: PathBuf| {
        let name = name(&page);
        let blocks = blocks(&name, &std::fs::read_to_string(page).expect("a README"));
        (name, blocks)
    };
    pages.into_iter().map(read).collect()
}

#[test]
fn every_console_block_runs_or_says_why_not() {
    let (mut ran, mut failed) = (0, Vec::new());
    // Two pages begin with the whole run, which leaves nothing behind.
    let mut whole_runs = 0;
    for (readme, blocks) in all() {
        // The blocks of one README are read from top to bottom, so one may use the files of another.
        let session = Session::new(&root());
        for block in blocks {
            let place = format!("{readme}:{}", block.line);
            if let Some(reason) = &block.not_run {
                println!("not run: {place}: {reason}");
                continue;
            }
            for command in &block.commands {
                whole_runs += usize::from(command == "cargo conformance");
                if command == "cargo conformance" && whole_runs > 1 {
                    println!("not run: {place}: {command}: it has run already");
                    continue;
                }
                match session.run(command) {
                    Ok(None) => ran += 1,
                    Ok(Some(reason)) => println!("not run: {place}: {command}: {reason}"),
                    Err(error) => failed.push(format!("{place}: {command}\n{error}")),
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} commands failed:\n{}", failed.len(), failed.join("\n"));
    assert!(ran > 20, "only {ran} commands ran");
}

/// What the document limits, by the name of the parameter or property: a text that repeats the number would contradict the document
/// after its next change. Numbers of one digit are too common in texts.
fn limits(value: &Value, name: &str, found: &mut Vec<(String, i64)>) {
    if let Value::Array(items) = value {
        items.iter().for_each(|item| limits(item, name, found));
    }
    let Value::Object(members) = value else { return };
    let name = members.get("name").and_then(Value::as_str).unwrap_or(name);
    for (key, value) in members {
        match (key.as_str(), value.as_i64()) {
            ("maximum" | "maxItems" | "maxLength" | "x-max-distinct" | "x-max-utf8-bytes", Some(limit))
                if limit > 9 =>
            {
                found.push((name.to_owned(), limit));
            }
            ("properties", _) => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    limits(value, name, found);
                }
            }
            ("info" | "example" | "description", _) => {}
            _ => limits(value, name, found),
        }
    }
}

#[test]
fn no_text_repeats_a_limit_of_the_document() {
    let mut known = Vec::new();
    limits(&serde_json::from_str(sallyport_contract::JSON).expect("JSON"), "", &mut known);
    assert!(known.iter().any(|(name, _)| name == "num"), "{known:?}");
    let mut texts: Vec<(String, String)> = Vec::new();
    for check in sallyport_conformance::checks::registry() {
        texts.push((check.id.to_owned(), format!("{}\n{}", check.title, check.why)));
    }
    for folder in ["", "client", "conformance", "openapi", "server"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            // A changelog keeps what was true once.
            let is_page = path.extension().is_some_and(|extension| extension == "md")
                && !path.ends_with("CHANGELOG.md");
            let text = if is_page { std::fs::read_to_string(&path).expect("a page") } else { continue };
            if !text.starts_with("<!-- @generated") {
                texts.push((path.display().to_string(), text));
            }
        }
    }
    let mut repeated = Vec::new();
    for (place, text) in &texts {
        for line in text.lines() {
            let numbers: Vec<i64> = line
                .replace(',', "")
                .split(|letter: char| !letter.is_ascii_digit())
                .filter_map(|number| number.parse().ok())
                .collect();
            let is_said = |(name, limit): &&(String, i64)| {
                line.contains(&format!("`{name}`")) && numbers.contains(limit)
            };
            repeated.extend(known.iter().find(is_said).map(|limit| format!("{place}: {limit:?} in {line}")));
        }
    }
    assert_eq!(repeated.join("\n"), "", "leave out the number, or take it from the contract");
}

/// The sample output of the suite for clients, which is not run here.
#[test]
fn the_number_of_client_cases_is_that_of_the_suite() {
    let contract = sallyport_conformance::Contract::embedded().expect("a contract");
    let count = sallyport_conformance::client::cases(contract, &["192.0.2.1".to_owned()]).len();
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README");
    let shown = format!("cases {count}: {count} passed");
    assert!(readme.contains(&shown) && readme.contains(&format!("in {count} cases")), "expected `{shown}`");
}

#[test]
fn whatever_is_not_run_is_listed_here() {
    let mut reasons = Vec::new();
    for (readme, blocks) in all() {
        let not_run = blocks.into_iter().filter_map(|block| block.not_run);
        reasons.extend(not_run.map(|reason| format!("{readme}: {reason}")));
    }
    insta::assert_snapshot!(reasons.join("\n"));
}

struct Block {
    line: usize,
    /// Commands without prompt and remark.
    commands: Vec<String>,
    not_run: Option<String>,
}

const NOT_RUN: &str = "<!-- not run: ";

/// Blocks of `console`, where commands stand behind `$ ` and the rest is output, and of `sh`, where every line is a command.
fn blocks(readme: &str, text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let (mut open, mut not_run): (Option<(Block, bool)>, Option<String>) = (None, None);
    for (number, line) in text.lines().enumerate() {
        if let Some(reason) = line.strip_prefix(NOT_RUN).and_then(|rest| rest.strip_suffix(" -->")) {
            not_run = Some(reason.to_owned());
            continue;
        }
        match (&mut open, line) {
            (None, "```console" | "```sh") => {
                let block = Block { line: number + 1, commands: Vec::new(), not_run: not_run.take() };
                open = Some((block, line == "```console"));
            }
            (Some(_), "```") => found.extend(open.take().map(|(block, _)| block)),
            (Some((block, is_console)), line) => {
                let command = if *is_console { line.strip_prefix("$ ") } else { Some(line) };
                let command = command.map(without_remark).filter(|command| !command.is_empty());
                block.commands.extend(command.map(str::to_owned));
            }
            (None, line) if !line.trim().is_empty() => {
                assert!(not_run.is_none(), "{readme}:{number}: no block follows the reason");
            }
            (None, _) => {}
        }
    }
    found
}

/// A remark begins with a number sign behind two spaces or more.
fn without_remark(line: &str) -> &str {
    line.split_once("  #").map_or(line, |(command, _)| command).trim()
}

/// How long a command may take, in seconds.
const LIMIT: &str = "120";

/// Waits until a server in the background says where it listens, and ends it.
const SERVING: &str = "until grep -qE 'http://|listening' served.txt; do\n\
                       kill -0 $! 2>/dev/null || { cat served.txt; exit 1; }\nsleep 0.05\ndone\nkill $!";

/// A shell as a reader has it: in a folder of its own, with programs by the names that the pages use.
struct Session {
    folder: TempDir,
    variables: std::cell::RefCell<Vec<(String, String)>>,
}

impl Session {
    fn new(root: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let programs = folder.path().join("programs");
        std::fs::create_dir(&programs).expect("a folder");
        std::fs::create_dir(folder.path().join("here")).expect("a folder");
        let conformance = PathBuf::from(env!("CARGO_BIN_EXE_conformance"));
        symlink(&conformance, programs.join("conformance")).expect("a link");
        let server = conformance.with_file_name(format!("server{}", std::env::consts::EXE_SUFFIX));
        if server.is_file() {
            symlink(&server, programs.join("server")).expect("a link");
        }
        // What `cargo conformance` and `cargo run` would build stands there already. All cases run once, by `cargo conformance`.
        let cargo = "#!/bin/sh\n\
             case \"$*\" in *--embedded\\ --report*) set -- \"$@\" --profile smoke;; esac\n\
             case \"$1 $2 $3 $4 $5\" in\n\
             conformance*) shift; exec conformance \"$@\";;\n\
             'run -p sallyport-server -- '*) shift 4; exec server \"$@\";;\n\
             *) echo \"this test does not know cargo $*\" >&2; exit 100;;\nesac\n";
        let file = programs.join("cargo");
        std::fs::write(&file, cargo).expect("written");
        std::fs::set_permissions(&file, Permissions::from_mode(0o755)).expect("executable");
        // The records that the page of the server shows.
        let page = std::fs::read_to_string(root.join("server/README.md")).expect("a README");
        let records =
            page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).expect("records");
        std::fs::write(folder.path().join("here/data.jsonl"), records).expect("written");
        Self { folder, variables: Vec::new().into() }
    }

    /// Runs a command as a shell would, and ends a server once it serves. Gives back why a command was not run.
    fn run(&self, command: &str) -> Result<Option<&'static str>, String> {
        let mut command = command.to_owned();
        if let Some(assignment) = command.strip_prefix("export ") {
            for pair in assignment.split(' ') {
                let (name, value) = pair.split_once('=').ok_or("export without a value")?;
                self.variables.borrow_mut().push((name.to_owned(), value.to_owned()));
            }
            return Ok(None);
        }
        let serves = command.contains("server run") || command.contains("-- run --");
        // A port that nobody has.
        command = command.replace("127.0.0.1:8080", "127.0.0.1:0");
        if command.contains("server ") && !self.folder.path().join("programs/server").exists() {
            if std::env::var_os("CI").is_some() {
                return Err("the server is not built; run `cargo test --workspace`".to_owned());
            }
            return Ok(Some("the server is not built; `cargo test --workspace` builds it"));
        }
        if serves {
            command = format!("{command} >served.txt 2>&1 &\n{SERVING}");
        }
        let mut shell = command_of("timeout");
        let path = std::env::var("PATH").unwrap_or_default();
        shell
            .args([LIMIT, "bash", "-euc", &command])
            .current_dir(self.folder.path().join("here"))
            .env("PATH", format!("{}:{path}", self.folder.path().join("programs").display()))
            .envs(self.variables.borrow().iter().cloned())
            // Nor has anybody the port of a sandbox that names none.
            .env("SALLYPORT_LISTEN", "127.0.0.1:0");
        let output = shell.output().map_err(|error| error.to_string())?;
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        if output.status.success() { Ok(None) } else { Err(format!("{}\n{}", output.status, text.concat())) }
    }
}
