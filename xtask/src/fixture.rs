//! The document of the tests. It is a released one, which never changes: an edit of the contract must not make them fail.

use regex::Regex;
use serde_json::Value;

use crate::document::{Document, unescaped};

/// The text of the document.
pub(crate) const CONTRACT: &str = include_str!("../../openapi/released/1.0.0.yaml");

/// The document, parsed.
pub(crate) fn contract() -> Document {
    Document::parse(CONTRACT).unwrap()
}

/// The two texts that a text with changes such as `maximum: «100→50»` stands for: before and after them.
pub(crate) fn sides(changed: &str) -> [String; 2] {
    let change = Regex::new("«([^→]*)→([^»]*)»").unwrap();
    ["$1", "$2"].map(|side| change.replace_all(changed, side).into_owned())
}

/// The document with the first of a text changed, see [`sides`].
pub(crate) fn edited(edit: &str) -> Document {
    Document::parse(&edited_text(CONTRACT, edit)).unwrap()
}

/// A document with the first of a text changed.
pub(crate) fn edited_text(document: &str, edit: &str) -> String {
    let [from, to] = sides(edit);
    assert!(from != to && document.contains(&from), "the document of the tests does not hold {from:?}");
    document.replacen(&from, &to, 1)
}

/// A document with what the generators support and the contract has no use for.
pub(crate) const LIBRARY: &str = include_str!("../fixtures/library.yaml");

/// Removes the value at `at`, if there is one.
pub(crate) fn remove(root: &mut Value, at: &str) {
    let Some((around, step)) = at.rsplit_once('/') else { return };
    let step = unescaped(step);
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
