//! What the document says beyond paths and types: limits with their clauses, the codes of success, where the token is sent, and the
//! values of enums.

#[rustfmt::skip]
mod generated;

pub use generated::*;
