//! The checks that concern all operations.

mod account;
mod service;

use crate::check::Check;

pub(super) static CHECKS: &[&[Check]] = &[account::CHECKS, service::CHECKS];
