//! The edge over a real socket: what callers may get wrong, and the envelope that each of them gets.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the helpers of tests, which clippy.toml does not see"
)]

mod lifecycle;
mod rejections;
mod responses;
mod server;

use crate::support::{paused_store, wire};
