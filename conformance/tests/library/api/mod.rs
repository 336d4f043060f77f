//! The server's half of the library, as `xtask` makes it from `xtask/fixtures/library.yaml`.

#[rustfmt::skip]
#[allow(unused_imports, dead_code, missing_docs, reason = "which of the edge's types the file needs depends on the document")]
pub mod generated;
