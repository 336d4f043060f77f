//! The program's commands, as people and programs see them.
#![expect(clippy::unwrap_used, reason = "a test may panic; clippy does not know that helpers are part of it")]

mod commands;
mod data;
mod database;
mod program;
mod run;
mod sandbox;
mod secrets;
#[path = "../support/server_process.rs"]
mod server_process;
mod terminal;
#[expect(dead_code, reason = "the tests of the edge need more")]
#[path = "../edge_http/wire.rs"]
mod wire;
