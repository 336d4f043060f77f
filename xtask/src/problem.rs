//! What is wrong with the document, where, and what to do about it.

use std::fmt;

/// A line and column of the document, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// One reason why nothing can be generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// JSON pointer of the offending value; empty for the document as a whole.
    pub(crate) pointer: String,
    /// Where the value stands in the file, when the file could be read that far.
    pub(crate) place: Option<Place>,
    /// `operationId` of the operation that the value belongs to.
    pub(crate) operation: Option<String>,
    /// What was expected and what came.
    pub(crate) message: String,
    /// What to do.
    pub(crate) help: String,
}

impl Problem {
    /// Sorts problems by their place in the file, those without a place first.
    pub(crate) fn sort(problems: &mut [Problem]) {
        problems.sort_by(|a, b| (a.place, &a.pointer, &a.message).cmp(&(b.place, &b.pointer, &b.message)));
    }
}

/// The path that every message names, relative to the root of the workspace.
pub(crate) const DOCUMENT: &str = "openapi/openapi.yaml";

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{DOCUMENT}")?;
        if let Some(Place { line, column }) = self.place {
            write!(out, ":{line}:{column}")?;
        }
        write!(out, ": {}", self.message)?;
        if let Some(operation) = &self.operation {
            write!(out, "\n  operation: {operation}")?;
        }
        if !self.pointer.is_empty() {
            write!(out, "\n  pointer:   {}", self.pointer)?;
        }
        write!(out, "\n  help:      {}", self.help)
    }
}
