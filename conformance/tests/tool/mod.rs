//! The program as people use it: against servers that misbehave, with secrets that must not show, and all that it writes.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

mod canary;
mod reports;
mod scripts;

use crate::support::{clean, formats, program, rules};
