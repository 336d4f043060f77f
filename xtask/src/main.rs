//! `cargo xtask`: makes code and reference pages from the document, and proves that what is there follows from it.

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

/// Makes code and reference pages from openapi/openapi.yaml.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

const EXIT_CODES: &str = "Exit codes: 0 done or nothing to do, 1 problems or drift, 2 wrong usage.";

#[derive(Subcommand)]
enum Task {
    /// Write every generated file that is not what the document gives.
    ///
    /// Files that are right already stay untouched. Code is written first; the ledger and the list of checks follow
    /// once the code builds, because they name what the built programs say of themselves.
    #[command(after_help = "Example: edit openapi/openapi.yaml, then\n  cargo xtask generate")]
    Generate,
    /// Verify that every generated file follows from the document; write nothing.
    ///
    /// Lints the document, shows a diff for each file that differs, and compares the document with what the server
    /// says of itself.
    #[command(after_help = "Example, as CI runs it:\n  cargo xtask check && cargo test --workspace")]
    Check,
    /// Write the contract as one HTML page, with the server's error catalogue, for any browser and without network.
    ///
    /// The page is the one that the server shows under /docs of its admin address.
    #[command(after_help = "Example, for an integrator:\n  cargo xtask docs contract.html")]
    Docs {
        /// File to write; one that is there is replaced [default: target/contract.html of the workspace].
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
        reason = "the one place of this program that prints"
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
