//! What the document refers to, and which operations use a component.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Lint, Node, Part};
use crate::{
    document::{Document, reference},
    model::Contract,
    problem::Problem,
};

/// What cannot be read as a contract, such as a `$ref` to nothing, where the schema of the subset allows it.
pub(super) fn contract(lint: &mut Lint<'_>) {
    if !lint.has_problem_of_schema()
        && let Err(problems) = Contract::read(lint.document)
    {
        for Problem { pointer, message, help, .. } in problems {
            lint.report(pointer, message, help);
        }
    }
}

/// Replaces the missing id of an operation, which the schema of the subset requires.
const UNNAMED: &str = "(without operationId)";

/// The id of the operation around `pointer`, or the ids of those that use the component around it, separated by commas; `None`
/// elsewhere and for an unused component.
pub(super) fn users(document: &Document, nodes: &[Node<'_>], pointer: &str) -> Option<String> {
    if let Some(id) = operation(nodes, pointer) {
        return Some(id.to_owned());
    }
    let mut wanted = vec![component(pointer)?];
    let mut done = BTreeSet::new();
    let mut operations = BTreeSet::new();
    while let Some(target) = wanted.pop() {
        if document.get(&target).is_none() || !done.insert(target.clone()) {
            continue;
        }
        for node in nodes.iter().filter(|node| reference(node.value) == Some(&target)) {
            match operation(nodes, &node.pointer) {
                Some(operation) => drop(operations.insert(operation)),
                None => wanted.extend(component(&node.pointer)),
            }
        }
    }
    (!operations.is_empty()).then(|| operations.into_iter().collect::<Vec<_>>().join(", "))
}

/// The `operationId` of the operation around `pointer`.
fn operation<'a>(nodes: &[Node<'a>], pointer: &str) -> Option<&'a str> {
    let rest = pointer.strip_prefix("/paths/")?;
    let mut operations = nodes.iter().filter(|node| node.part == Part::Operation);
    let is_around = |node: &&Node<'_>| {
        let inner = rest.strip_prefix(node.pointer.trim_start_matches("/paths/"));
        inner.is_some_and(|inner| inner.is_empty() || inner.starts_with('/'))
    };
    let id = operations.find(is_around)?.value.get("operationId").and_then(Value::as_str);
    Some(id.unwrap_or(UNNAMED))
}

/// `/components/schemas/X` out of `/components/schemas/X/properties/…`.
fn component(pointer: &str) -> Option<String> {
    let mut steps = pointer.strip_prefix("/components/")?.split('/');
    Some(format!("/components/{}/{}", steps.next()?, steps.next()?))
}
