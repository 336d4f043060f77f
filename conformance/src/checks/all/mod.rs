//! The checks that concern all operations.

mod account;
mod service;

use crate::check::Check;
use crate::contract::Clause;

/// A check of all operations.
const fn check(id: &'static str, clauses: &'static [Clause]) -> Check {
    Check { id, clauses, ..Check::TEMPLATE }
}

pub(super) static CHECKS: &[&[Check]] = &[account::CHECKS, service::CHECKS];
