//! The suite as a whole, over real sockets: against servers that misbehave, against the reference server, as a program.

mod canned;
mod program;
mod reference;
mod runs;
mod secrets;
mod wire;
