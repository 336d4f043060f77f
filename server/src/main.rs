//! The program `server`: serves the API from a database, and administers that database.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
