//! The edge over a real socket: what callers may get wrong, and the envelope that each of them gets.

mod answers;
mod bad_bodies;
mod bad_parameters;
mod lifecycle;
mod secrets;
mod server;
mod wire;
