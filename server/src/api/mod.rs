//! The API as the document has it.

// The generator lays the file out in its own way, so that it does not depend on the version of rustfmt.
#[rustfmt::skip]
#[allow(unused_imports, reason = "which of the edge's types the file needs depends on the document")]
pub mod generated;
