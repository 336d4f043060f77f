//! From the document to files. Each emitter has one function, `emit`, and neither reads nor writes the disk.

pub(crate) mod client;
pub(crate) mod server;
