//! Emits the client's code.

use crate::{artifact::Artifact, document::Document, problem::Problem};

/// The files that the client is built from.
pub(crate) fn emit(_document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    Ok(Vec::new())
}
