//! One check, one file, named after its rule. `README.md` says how to add one.

mod all;
mod boundary;
mod extract;
mod groups;
mod schema;
mod search;
mod success;
mod token;

use crate::check::Check;

/// Every check, by operation, sorted by id.
pub(crate) static ALL: &[&[&Check]] = &[all::CHECKS, extract::CHECKS, groups::CHECKS, search::CHECKS];
