//! The lab as a library. What it does over real sockets, and the program `proxy`, is in `tool/scripts/lab.txt`.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod every_fault;
mod for_users;
mod transport;
