//! The contract, for programs that read it when they run: the server prints it, and the suite judges by it.

pub mod json_schema;

/// `openapi.yaml` as JSON, and what JSON cannot say of that file.
///
/// ```text
/// sha256    of openapi.yaml
/// lines     { ID: line of the clause or unspecified behaviour in openapi.yaml }
/// document  the document
/// ```
pub const JSON: &str = include_str!("generated/contract.json");
