//! `cargo xtask`: generates code and reference pages from the document, and checks that they are up to date.

mod artifact;
mod compare;
mod document;
mod emit;
mod ledger;
mod lint;
mod lower;
mod model;
mod problem;
mod project;
mod task;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

/// Generate code and reference pages from openapi/openapi.yaml.
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
    /// Files that are up to date are not touched. Code is written first; the ledger, the list of checks and the
    /// texts follow when the code builds, because they are made from the output of the built programs.
    #[command(after_help = "Example: edit openapi/openapi.yaml, then\n  cargo xtask generate")]
    Generate,
    /// Verify that every generated file is up to date; write nothing.
    ///
    /// Lints the document, prints a diff for each file that differs, and compares the document with the one that the server
    /// emits.
    #[command(after_help = "Example, as CI runs it:\n  cargo xtask check && cargo test --workspace")]
    Check,
    /// Write the contract and the server's error catalogue as one HTML page that needs no network.
    ///
    /// It is the page under /docs of the server's admin address.
    #[command(after_help = "Example, for an integrator:\n  cargo xtask docs contract.html")]
    Docs {
        /// Write to this file, which is replaced when it exists [default: target/contract.html of the workspace].
        file: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let root = task::root();
    let outcome = match arguments.task {
        Task::Generate => task::generate::run(&root),
        Task::Check => task::check::run(&root),
        Task::Docs { file } => task::docs::run(&root, file),
    };
    #[expect(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "the only place of this program that prints"
    )]
    match outcome {
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
