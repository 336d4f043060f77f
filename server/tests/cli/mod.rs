//! The program's commands, as people and programs see them.

mod commands;
mod data;
mod database;
mod log_lines;
pub(crate) mod program;
mod run;
mod secrets;
mod terminal;

use crate::support::{server_process, shared_buffer, wire};
