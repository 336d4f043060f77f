//! The program as people use it: against servers that misbehave, with secrets that must not show, and all that it writes.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

mod action;
mod bad_servers;
mod canary;
mod ci;
mod commands;
mod evidence;
mod exit_codes;
mod exposition;
mod foreign;
#[path = "../support/formats.rs"]
mod formats;
mod observe;
#[path = "../support/program.rs"]
mod program;
mod reports;
#[path = "../support/server.rs"]
mod server;
#[path = "../support/steady.rs"]
mod steady;
mod watch;
mod writing;
