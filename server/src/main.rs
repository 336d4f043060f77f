//! The program `server`: serves the API from a database, and looks after that database.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
