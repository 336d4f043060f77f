//! The store, on real databases. What both backends promise is tested on both.

pub(crate) mod backend;
mod cluster;
mod extract;
mod faults;
mod load;
mod open_postgres;
mod plans;
mod processes;
mod requests;
mod search;

use crate::support::{server_process, wire};
