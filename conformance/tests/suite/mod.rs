//! The suite as a whole, over real sockets: against servers that misbehave, against the reference server, as a program.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

pub(crate) mod canned;
#[path = "../../../server/tests/store/cluster.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the server's own tests use the rest; a test may panic")]
mod cluster;
mod memory;
mod profiles;
mod reference;
mod rotation;
mod runs;

use crate::support::{program, rules};
