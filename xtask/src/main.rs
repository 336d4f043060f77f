//! `cargo xtask`: generates code from the document, and checks that it is up to date.

mod artifact;
#[cfg(test)]
mod compilation;
mod diff;
mod document;
mod emit;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod fuzz;
mod lint;
mod lower;
mod model;
mod problem;
mod table;
mod task;
mod template;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Generate code from openapi/openapi.yaml.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

const EXIT_CODES: &str = "Exit codes: 0 success, 1 problems or outdated files, 2 invalid usage.";

#[derive(Subcommand)]
enum Task {
    /// Write every generated file that is out of date.
    ///
    /// Files that are up to date are not touched.
    #[command(after_help = "Example: edit openapi/openapi.yaml, then\n  cargo xtask generate")]
    Generate,
    /// Verify that every generated file is up to date; write nothing.
    ///
    /// Lints the document, and prints a diff for each file that differs.
    #[command(after_help = "Example, as CI runs it:\n  cargo xtask check && cargo test --workspace")]
    Check,
    /// Say what a change of the document breaks, for callers and for services that conformed.
    ///
    /// Every change has a verdict (breaking, needs a decision, compatible, documentation), the lines of both documents, the
    /// clauses that it touches, what to do, and a fingerprint by which openapi/accepted-changes.yaml can accept it.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(task::diff::Arguments),
    /// Build the programs for a release: archives and Python wheels with checksums, completions and man pages.
    ///
    /// A list of what is built into them (SBOM) is made by `cargo cyclonedx`.
    #[command(after_help = DIST_EXAMPLES)]
    Dist(task::dist::Arguments),
}

const DIFF_EXAMPLES: &str = "\
Examples:
  cargo xtask diff
  cargo xtask diff main
  cargo xtask diff openapi/released/1.0.0.yaml
  cargo xtask diff v1.0.0 --changelog";

const DIST_EXAMPLES: &str = "\
Examples:
  cargo xtask dist
  cargo xtask dist --target x86_64-unknown-linux-musl --out /tmp/release
  cargo xtask dist --profile dev --program conformance";

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the only place of this program that prints")]
fn main() -> ExitCode {
    match execute(Arguments::parse().task) {
        Ok(report) => {
            print!("{report}");
            ExitCode::SUCCESS
        }
        Err(report) => {
            eprint!("{report}");
            ExitCode::FAILURE
        }
    }
}

/// What a task prints.
fn execute(task: Task) -> Result<String, String> {
    let here = std::env::current_dir().map_err(|error| format!("error: no current folder: {error}\n"))?;
    let root = task::root(&here)?;
    match task {
        Task::Generate => task::generate::generate(&root),
        Task::Check => task::generate::check(&root),
        Task::Diff(arguments) => task::diff::run(&root, &arguments),
        Task::Dist(arguments) => task::dist::run(&root, &arguments),
    }
}
