//! The ways out of the program for text that comes from an import, a database or a command line. Every line to standard
//! output or standard error goes through here, and what would steer a terminal is escaped.
#![expect(clippy::print_stderr, reason = "remarks and failures must not get into a pipe with a result")]

use std::io::{self, Write as _};

use sallyport_server::printable::printable;

use super::Failure;

/// Writes a line to standard output.
pub(super) fn say(line: &str) -> Result<(), Failure> {
    writeln!(io::stdout(), "{}", printable(line)).or_else(unless_closed)
}

/// Writes a line to standard error.
pub(super) fn remark(line: &str) {
    eprintln!("{}", printable(line));
}

/// A reader that has seen enough, like `head`, is no failure.
pub(super) fn unless_closed(error: io::Error) -> Result<(), Failure> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error.into()) }
}
