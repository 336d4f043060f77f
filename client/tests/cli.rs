//! What the program prints without a service.
#![allow(clippy::unwrap_used, reason = "a program that cannot be run fails its test")]

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_sallyport")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

#[test]
fn completions_and_man_pages_need_no_service() {
    let script = String::from_utf8(run(&["completions", "bash"]).stdout).unwrap();
    assert!(script.contains("_sallyport"));
    let folder = tempfile::tempdir().unwrap();
    run(&["man", folder.path().to_str().unwrap()]);
    assert!(folder.path().join("sallyport-search.1").is_file());
}
