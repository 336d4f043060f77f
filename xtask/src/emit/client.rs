//! Emits the client's code.

use crate::{artifact::Artifact, document::Document, model::Constraint, problem::Problem};

/// The files that the client is built from.
pub(crate) fn emit(_document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    Ok(Vec::new())
}

/// The generated item that enforces a constraint, if there is one.
pub(crate) fn enforces(_constraint: &Constraint) -> Option<String> {
    None
}
