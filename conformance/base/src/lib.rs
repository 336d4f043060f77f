//! What the conformance suite and its fault lab stand on: the contract, a target with what is known of it, and raw HTTP to it. Nothing
//! here judges a response, and nothing knows a check or a fault.

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
