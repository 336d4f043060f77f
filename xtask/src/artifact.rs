//! A generated file that is not yet written.

/// A file generated from the document. Only `task` reads and writes files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Artifact {
    /// Path relative to the root of the workspace, with `/`.
    pub(crate) path: &'static str,
    /// The whole text of the file.
    pub(crate) contents: String,
}
