//! What the program's commands do.

pub(crate) mod arguments;
#[cfg(feature = "embedded")]
pub(crate) mod client;
pub(crate) mod describe;
pub(crate) mod init;
pub(crate) mod judge;
pub(crate) mod lab;
pub(crate) mod observe;
pub(crate) mod output;
pub(crate) mod replay;
mod reports;
pub(crate) mod run;
pub(crate) mod saved;
mod setup;
mod signals;
pub(crate) mod snapshot;
pub(crate) mod watch;

use std::io::Write as _;

use sallyport_conformance::report::plain;

/// Prints a warning. What goes wrong with that has no other place to be said.
fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "conformance: warning: {}", plain(text));
}

/// An error in usage or configuration, in one line.
pub(crate) type UsageError = Box<dyn std::error::Error>;
