/// A generated file that is not yet written; only `task` reads and writes files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Artifact {
    /// Path relative to the root of the workspace, with `/`.
    pub(crate) path: &'static str,
    pub(crate) contents: String,
}
