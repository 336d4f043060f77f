//! Runs every console block of every README as a reader would, so that none can rot. A block that takes the network, hours or a
//! program that a test does not have stands behind a comment with the reason: `<!-- not run: REASON -->`.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

mod block;
mod session;

use std::path::{Path, PathBuf};

use block::{Block, blocks};
use session::Session;

/// The READMEs, from the root of the repository.
const READMES: [&str; 5] =
    ["README.md", "client/README.md", "conformance/README.md", "openapi/README.md", "server/README.md"];

fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    Path::new(&here).parent().expect("a repository").to_owned()
}

fn all() -> Vec<Block> {
    let read = |name: &&str| {
        let text = std::fs::read_to_string(root().join(name)).expect("a README");
        blocks(name, &text)
    };
    READMES.iter().flat_map(read).collect()
}

#[test]
fn every_readme_is_known() {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root()).expect("a folder") {
        let path = entry.expect("an entry").path();
        for file in [path.clone(), path.join("README.md")] {
            if file.is_file() && file.file_name().is_some_and(|name| name == "README.md") {
                found.push(file.strip_prefix(root()).expect("below").display().to_string());
            }
        }
    }
    found.sort();
    found.dedup();
    assert_eq!(found, READMES);
}

#[test]
fn every_console_block_runs_or_says_why_not() {
    let (mut ran, mut failed) = (0, Vec::new());
    for readme in READMES {
        // The blocks of one README are read from top to bottom, so one may use the files of another.
        let session = Session::new(&root());
        for block in all().into_iter().filter(|block| block.readme == readme) {
            let place = format!("{}:{}", block.readme, block.line);
            if let Some(reason) = &block.not_run {
                println!("not run: {place}: {reason}");
                continue;
            }
            for command in &block.commands {
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

#[test]
fn whatever_is_not_run_is_listed_here() {
    let reasons: Vec<String> =
        all().into_iter().filter_map(|block| Some(format!("{}: {}", block.readme, block.not_run?))).collect();
    insta::assert_snapshot!(reasons.join("\n"));
}
