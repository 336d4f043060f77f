//! The store, on real databases. What both backends promise is tested on both.

mod backend;
mod cluster;
mod disconnected_callers;
mod extract;
mod faults;
mod in_force;
mod input;
mod load;
mod open_postgres;
mod open_sqlite;
mod plans;
mod processes;
mod registry;
mod requests;
mod search;
mod transcripts;
mod transfer;

use crate::support::{server_process, shared_buffer, wire};
