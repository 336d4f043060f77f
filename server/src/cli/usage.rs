//! Reads the command line, and rejects one without repeating a secret.

use std::ffi::OsString;

use clap::Parser as _;
use sallyport_server::domain::token::Token;

use super::{Cli, Failure, terminal::print_error_line};

/// Parses the command line. Prints clap's message and exits if it is wrong usage, and for help. A message that may hold a secret becomes
/// a failure instead: clap quotes unexpected arguments.
pub(super) fn parse(line: impl Iterator<Item = OsString>) -> Result<Cli, Failure> {
    let error = match Cli::try_parse_from(line) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    // Help and version are our own text. An error quotes arguments, whose escape sequences clap would print unchanged.
    if !error.use_stderr() {
        error.exit();
    }
    if may_hold_secret(&error.to_string()) {
        let line = "an argument looks like a token or a URL with a password, which other users of the machine could read \
                    there; it is not repeated here; see `--help` for the expected arguments";
        return Err(Failure::Usage(line.to_owned()));
    }
    error.render().to_string().lines().for_each(print_error_line);
    std::process::exit(error.exit_code())
}

/// Whether a message of clap quotes a token, or a database with its password in the place of another argument.
fn may_hold_secret(message: &str) -> bool {
    Token::resembles(message)
        || message.contains("password=")
        || message.split_once("://").is_some_and(|(_, rest)| rest.contains('@'))
}
