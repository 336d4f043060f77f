//! What the tests of several folders use.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

pub(crate) mod clean;
pub(crate) mod formats;
pub(crate) mod program;
pub(crate) mod rules;
pub(crate) mod server;
pub(crate) mod steady;
