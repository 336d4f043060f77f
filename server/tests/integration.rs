//! The server over real sockets and on real databases, and its program. All in one program, so that tests which wait do so side by
//! side, and the server is linked once.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may panic; clippy does not know that helpers are part of it"
)]

mod cli;
mod edge_admission;
mod edge_http;
#[path = "nginx/nginx.rs"]
mod nginx;
mod parsers;
mod sandbox;
mod sessions;
mod store;
mod support;

use support::identity;
