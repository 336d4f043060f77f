//! What the conformance suite and its fault lab stand on: the contract, a target with what is known of it, and raw HTTP to it. Nothing
//! here judges a response, and nothing knows a check or a fault.
//!
//! It has no stable API: what the suite and the lab offer to others they export themselves. Errors of `document` name file, line and what
//! to do.

pub mod contract;
pub mod document;
pub mod files;
mod lock;
pub mod names;
pub mod plain;
pub mod quantity;
pub mod target;
pub mod wire;

pub use lock::lock;
