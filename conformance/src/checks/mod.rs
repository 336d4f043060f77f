//! The checks, and what they share. `README.md` says how to add one.

mod all;
mod boundary;
mod discovery;
mod extract;
mod generic;
mod groups;
pub(crate) mod quota;
mod registry;
pub(crate) mod relation;
mod requests;
mod schema;
mod search;
mod state;
mod token;

pub use registry::{UNCOVERED, registry, registry_of};
pub use requests::{Requests, UNKNOWN_ADDRESS};

pub(crate) use discovery::{DISCOVERY, discover};
pub(crate) use generic::valid_request;
pub(crate) use requests::first_requests;
pub(crate) use state::State;

use crate::check::Check;

/// Every check, by operation, sorted by id.
static ALL: &[&[&Check]] = &[all::CHECKS, extract::CHECKS, groups::CHECKS, search::CHECKS];
