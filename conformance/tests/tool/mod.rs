//! The program as people use it: against servers that misbehave, with secrets that must not show, and all that it writes.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

mod action;
mod bad_servers;
mod canary;
mod ci;
mod commands;
mod evidence;
mod foreign;
mod observe;
mod reports;
mod scripts;
mod watch;
mod writing;

use crate::support::{formats, program, server};
