//! Prints lines. Text from an import, a database or a command line may hold control characters for the terminal, so every line to
//! standard output or standard error is escaped here.

use std::io::{self, Write as _};

use sallyport_server::printable::printable;

use super::Failure;

/// Writes a line to standard output.
pub(super) fn print_line(line: &str) -> Result<(), Failure> {
    writeln!(io::stdout(), "{}", printable(line)).or_else(ignore_closed_pipe)
}

/// Writes a line to standard error, which keeps messages out of a pipe with a result. If that fails, nobody can be told, and the command
/// goes on: it may have a token to print that is shown only once.
pub(super) fn print_error_line(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

/// A reader that stops early, such as `head`, is not a failure.
pub(super) fn ignore_closed_pipe(error: io::Error) -> Result<(), Failure> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error.into()) }
}
