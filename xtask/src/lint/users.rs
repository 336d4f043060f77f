//! Finds the operations that use a component, so that a problem in a component names them.

use std::collections::BTreeSet;

use super::Node;
use crate::{document::Document, document::reference};

/// The ids of the operations that use the component around `pointer`, separated by commas; `None` outside components and
/// for an unused component.
pub(super) fn operations(document: &Document, nodes: &[Node<'_>], pointer: &str) -> Option<String> {
    let mut wanted = vec![component(pointer)?];
    let mut done = BTreeSet::new();
    let mut operations = BTreeSet::new();
    while let Some(target) = wanted.pop() {
        if document.get(&target).is_none() || !done.insert(target.clone()) {
            continue;
        }
        for node in nodes.iter().filter(|node| reference(node.value) == Some(&target)) {
            match node.operation {
                Some(operation) => {
                    operations.insert(operation);
                }
                None => wanted.extend(component(&node.pointer)),
            }
        }
    }
    (!operations.is_empty()).then(|| operations.into_iter().collect::<Vec<_>>().join(", "))
}

/// `/components/schemas/X` out of `/components/schemas/X/properties/…`.
pub(super) fn component(pointer: &str) -> Option<String> {
    let mut steps = pointer.strip_prefix("/components/")?.split('/');
    Some(format!("/components/{}/{}", steps.next()?, steps.next()?))
}
