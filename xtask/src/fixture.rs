//! The document of the tests. It is a copy that only tests read: an edit of the contract must not make them fail.

use crate::document::Document;

/// The text of the document.
pub(crate) const CONTRACT: &str = include_str!("../fixtures/contract.yaml");

/// The document, parsed.
pub(crate) fn contract() -> Document {
    Document::parse(CONTRACT).unwrap()
}

/// The document with the first `from` replaced.
pub(crate) fn edited(from: &str, to: &str) -> Document {
    assert!(CONTRACT.contains(from), "the document of the tests does not hold {from:?}");
    Document::parse(&CONTRACT.replacen(from, to, 1)).unwrap()
}

/// A second document, of an API that reads and writes.
pub(crate) const LIBRARY: &str = include_str!("../fixtures/library.yaml");
