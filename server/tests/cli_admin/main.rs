//! The administrator's commands, as people and programs see them.
#![expect(clippy::unwrap_used, reason = "a test may panic; clippy does not know that helpers are part of it")]

mod commands;
mod database;
mod secrets;
mod terminal;
