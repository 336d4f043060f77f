//! The edge over a real socket: what callers may get wrong, and the envelope that each of them gets.

mod lifecycle;
mod rejections;
mod server;

use crate::support::{paused_store, wire};
