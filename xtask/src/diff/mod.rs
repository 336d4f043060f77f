//! What a change of the document breaks, for callers and for services that conformed.
//!
//! Two documents are compared as contracts: operations are matched, and every constraint at every place is compared with
//! what it says of requests or of responses. Whatever then still differs in the files is reported as well, so that no edit
//! passes unnoticed. This module neither reads nor writes the disk.

pub(crate) mod accepted;
mod change;
mod clauses;
mod document_pair;
mod elements;
mod extensions;
pub(crate) mod oasdiff;
mod operations;
mod parts;
pub(crate) mod render;
mod rest;
pub(crate) mod rules;
mod schemas;
#[cfg(test)]
mod tests;
pub(crate) mod version;
pub(crate) mod witness;

use jiff::civil::Date;

pub(crate) use change::{Change, SourceValue};
use document_pair::DocumentPair;
pub(crate) use rules::Verdict;

use crate::{document::Document, model::Contract, problem::Problem};

/// The changes from one document to another, in the order of the newer one.
#[derive(Clone, Debug)]
pub(crate) struct Diff {
    pub(crate) changes: Vec<Change>,
    /// `info.version` of both documents.
    pub(crate) versions: (String, String),
}

/// Compares `old` with `new`. `today` decides whether the sunset of a removed part has passed.
///
/// Fails with the problems of the older and of the newer document when one of them cannot be read as a contract; the lint is not
/// asked, because an older document need not follow its present rules.
pub(crate) fn compare(old: &Document, new: &Document, today: Date) -> Result<Diff, [Vec<Problem>; 2]> {
    let contracts = match (read(old), read(new)) {
        (Ok(old), Ok(new)) => (old, new),
        (old, new) => return Err([old, new].map(|read| read.err().unwrap_or_default())),
    };
    let mut documents = DocumentPair { old, new, today, changes: Vec::new() };
    operations::compare(&mut documents, &contracts.0, &contracts.1);
    clauses::compare(&mut documents, &contracts.0, &contracts.1);
    rest::compare(&mut documents);
    let version = |document: &Document| {
        document.get("/info/version").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
    };
    Ok(Diff { changes: documents.changes, versions: (version(old), version(new)) })
}

/// Reads a contract. A file that is something else, such as an empty one or a web page, has no operations: compared with it,
/// every document would be compatible.
fn read(document: &Document) -> Result<Contract, Vec<Problem>> {
    let is_openapi = document.text("", "openapi").is_some_and(|version| version.starts_with("3.0."));
    if !is_openapi || !document.get("/paths").is_some_and(serde_json::Value::is_object) {
        let message = "expected an OpenAPI 3.0 document with `openapi` and `paths`";
        return Err(vec![document.problem("", message, "name a document, or a revision that has one")]);
    }
    Contract::read(document)
}

impl Diff {
    /// The most serious verdict of the changes that nobody has accepted; `None` without such a change.
    pub(crate) fn worst(&self) -> Option<Verdict> {
        self.changes.iter().filter(|change| change.accepted.is_none()).map(|change| change.rule.verdict).max()
    }
}
