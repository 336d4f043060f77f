//! The document of the tests. It is a copy that only tests read: an edit of the contract must not make them fail.

use proc_macro2::{TokenStream, TokenTree};
use serde_json::Value;

use crate::document::{Document, join};

/// The text of the document.
pub(crate) const CONTRACT: &str = include_str!("../fixtures/contract.yaml");

/// The document, parsed.
pub(crate) fn contract() -> Document {
    Document::parse(CONTRACT).unwrap()
}

/// The document with the first `from` replaced by `to`, in which `&` stands for `from`.
pub(crate) fn edited(from: &str, to: &str) -> Document {
    assert!(CONTRACT.contains(from), "the document of the tests does not hold {from:?}");
    Document::parse(&CONTRACT.replacen(from, &to.replace('&', from), 1)).unwrap()
}

/// A second document, of an API that reads and writes.
pub(crate) const LIBRARY: &str = include_str!("../fixtures/library.yaml");

/// The pointers of all values inside of `value`, which is at `at`; children first.
pub(crate) fn pointers(value: &Value, at: &str) -> Vec<String> {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (join(at, name), value)).collect(),
        Value::Array(items) => (0..).map(|index: usize| join(at, &index.to_string())).zip(items).collect(),
        _ => Vec::new(),
    };
    children
        .into_iter()
        .flat_map(|(at, value)| {
            let inner = pointers(value, &at);
            inner.into_iter().chain([at])
        })
        .collect()
}

/// Removes the value at `at`, if there is one.
pub(crate) fn remove(root: &mut Value, at: &str) {
    let Some((around, step)) = at.rsplit_once('/') else { return };
    let step = step.replace("~1", "/").replace("~0", "~");
    match root.pointer_mut(around) {
        Some(Value::Object(members)) => drop(members.shift_remove(&step)),
        Some(Value::Array(items)) => {
            if let Some(index) = step.parse::<usize>().ok().filter(|index| *index < items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

/// The code without what only documents: comments and the schemas that Dropshot shows.
pub(crate) fn bare(tokens: TokenStream) -> String {
    let mut bare = String::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let next = tokens.peek().map(ToString::to_string).unwrap_or_default();
        match &token {
            TokenTree::Punct(hash) if hash.as_char() == '#' && next.starts_with("[doc") => {
                drop(tokens.next())
            }
            // The bang and the arguments.
            TokenTree::Ident(name) if name == "described" && next == "!" => {
                drop((tokens.next(), tokens.next()))
            }
            TokenTree::Group(group) => bare.push_str(&self::bare(group.stream())),
            token => bare.push_str(&format!("{token} ")),
        }
    }
    bare
}
