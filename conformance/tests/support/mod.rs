//! What the tests of several folders use.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

mod action;
pub(crate) mod clean;
pub(crate) mod formats;
pub(crate) mod network;
pub(crate) mod program;
mod request;
pub(crate) mod rules;
pub(crate) mod session;
pub(crate) mod steady;
