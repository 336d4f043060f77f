//! The program's commands, as people and programs see them.
#![expect(clippy::unwrap_used, reason = "a test may panic; clippy does not know that helpers are part of it")]

mod commands;
mod data;
mod database;
mod log_lines;
mod program;
mod run;
mod sandbox;
mod secrets;
mod terminal;

use crate::support::{server_process, shared_buffer, wire};
