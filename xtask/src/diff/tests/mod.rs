mod documents;
mod edits;
mod rendering;

use super::*;
use crate::fixture::{CONTRACT, contract, edited, edited_text, sides};

fn diff(old: &Document, new: &Document) -> Diff {
    compare(old, new).unwrap()
}

/// The rules, operations and places of the changes.
fn lines(old: &Document, new: &Document) -> Vec<String> {
    let line = |change: &Change| {
        let operation = change.operation.as_deref().unwrap_or("-");
        format!("{} {operation} {}", change.rule.id, change.at)
    };
    diff(old, new).changes.iter().map(line).collect()
}
