//! What a change of the document breaks, for callers and for services that conformed.
//!
//! A row of the [tables](crate::table) of both documents that differs is a change, which is judged by what it does to the requests that
//! are accepted and to the responses that are sent: narrower requests break, and so do wider responses. Texts and examples are rows as
//! well, so that no edit passes unnoticed. This module neither reads nor writes the disk.

pub(crate) mod accepted;
mod change;
mod compare;
pub(crate) mod render;
pub(crate) mod rules;
#[cfg(test)]
mod tests;
pub(crate) mod version;
mod witness;

use serde_json::Value;

pub(crate) use change::Change;
use compare::Comparison;
pub(crate) use rules::Verdict;

use crate::{document::Document, model::Contract, problem::Problem};

/// The changes from one document to another, in the order of the newer one.
#[derive(Clone, Debug)]
pub(crate) struct Diff {
    pub(crate) changes: Vec<Change>,
    /// `info.version` of both documents.
    pub(crate) versions: (String, String),
}

/// Compares `old` with `new`.
///
/// Fails with the problems of the older and of the newer document when one of them cannot be read as a contract; the lint is not
/// asked, because an older document need not follow its present rules.
pub(crate) fn compare(old: &Document, new: &Document) -> Result<Diff, [Vec<Problem>; 2]> {
    let unreadable = [old, new].map(|document| read(document).err());
    if unreadable.iter().any(Option::is_some) {
        return Err(unreadable.map(Option::unwrap_or_default));
    }
    let mut comparison = Comparison { old, new, changes: Vec::new() };
    comparison.run();
    // The changes of an operation stand together.
    let mut changes = comparison.changes;
    let order: Vec<Option<String>> = changes.iter().map(|change| change.operation.clone()).collect();
    changes.sort_by_key(|change| order.iter().position(|operation| *operation == change.operation));
    let version = |document: &Document| document.text("/info", "version").unwrap_or_default().to_owned();
    Ok(Diff { changes, versions: (version(old), version(new)) })
}

/// Reads a contract. A file that is something else, such as an empty one or a web page, has no operations: compared with it,
/// every document would be compatible.
fn read(document: &Document) -> Result<(), Vec<Problem>> {
    let is_openapi = document.text("", "openapi").is_some_and(|version| version.starts_with("3.0."));
    if !is_openapi || !document.get("/paths").is_some_and(Value::is_object) {
        let message = "expected an OpenAPI 3.0 document with `openapi` and `paths`";
        return Err(vec![document.problem("", message, "name a document, or a revision that has one")]);
    }
    Contract::read(document).map(drop)
}

impl Diff {
    /// The most serious verdict of the changes that nobody has accepted; `None` without such a change.
    pub(crate) fn worst(&self) -> Option<Verdict> {
        self.changes.iter().filter(|change| change.accepted.is_none()).map(|change| change.rule.verdict).max()
    }
}
