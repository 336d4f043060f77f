//! A generated file, not yet written.

/// A file that follows from the document. `task` alone reads and writes the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Artifact {
    /// Path relative to the root of the workspace, with `/`.
    pub(crate) path: &'static str,
    /// The whole text of the file.
    pub(crate) contents: String,
}
