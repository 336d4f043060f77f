//! The checks that concern all operations.

mod account;
mod service;

use super::rule::Program;

pub(super) static PROGRAMS: &[&[Program]] = &[account::PROGRAMS, service::PROGRAMS];
