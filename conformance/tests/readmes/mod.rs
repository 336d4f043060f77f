//! Runs every console block of every README as a reader would, so that none can rot. A block that takes the network, hours or a
//! program that a test does not have stands behind a comment with the reason: `<!-- not run: REASON -->`.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

mod block;
mod session;

use std::path::{Path, PathBuf};

use block::{Block, blocks};
use serde_json::Value;
use session::Session;

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
