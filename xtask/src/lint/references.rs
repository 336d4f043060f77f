//! Rules about what the document refers to: `$ref`s, security schemes and components.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Lint, Node, Part, subset::suggestion};
use crate::document::{Document, join, reference};

/// `$ref`, and the schemes that `security` names.
pub(super) fn references(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        let Some(target) = node.value.get("$ref") else { continue };
        let at = node.at("$ref");
        let found = reference(node.value).filter(|target| component(target).as_deref() == Some(target));
        match found.and_then(|target| lint.nodes.iter().find(|other| other.pointer == target)) {
            None => {
                let parts = lint.nodes.iter().filter(|other| other.part == node.part);
                let parts = parts.filter(|one| component(&one.pointer).as_deref() == Some(&one.pointer));
                let parts: Vec<String> = parts.map(|one| format!("#{}", one.pointer)).collect();
                let help = "reference a part under components, such as \"#/components/schemas/Name\"";
                let named = target.as_str().unwrap_or_default();
                let help = suggestion(named, parts.iter().map(String::as_str), help);
                lint.report(at, format!("unknown reference {target}"), help);
            }
            Some(other) if other.part != node.part => {
                let message =
                    format!("expected a reference to a {:?}, found {target}, a {:?}", node.part, other.part);
                lint.report(at, message, "reference a part of the same kind");
            }
            Some(other) if other.has("$ref") => {
                let message = format!("{target} is itself a reference");
                lint.report(at, message, "reference the definition itself");
            }
            Some(_) => {}
        }
    }
    let schemes = lint.document.members("/components/securitySchemes");
    let schemes: Vec<&str> = schemes.iter().map(|(scheme, ..)| *scheme).collect();
    for (at, name) in required_schemes(lint) {
        if !schemes.contains(&name) {
            let help =
                suggestion(name, schemes.iter().copied(), "define it under components/securitySchemes");
            lint.report(at, format!("unknown security scheme `{name}`"), help);
        }
    }
}

/// The names of security schemes in operations, with the pointers of their items.
fn required_schemes<'a>(lint: &Lint<'a>) -> Vec<(String, &'a str)> {
    let mut found = Vec::new();
    for operation in lint.parts(Part::Operation) {
        for (index, requirement) in operation.items("security").iter().enumerate() {
            let at = join(&operation.at("security"), &index.to_string());
            let names = requirement.as_object().into_iter().flatten();
            found.extend(names.map(|(name, _)| (at.clone(), name.as_str())));
        }
    }
    found
}

/// Only some emitters would generate unused components.
pub(super) fn unused_components(lint: &mut Lint<'_>) {
    let schemes = required_schemes(lint);
    for node in lint.nodes.clone() {
        if component(&node.pointer).as_deref() != Some(&node.pointer) {
            continue;
        }
        let is_used = match node.pointer.strip_prefix("/components/securitySchemes/") {
            Some(scheme) => schemes.iter().any(|(_, name)| *name == scheme),
            None => users(lint.document, &lint.nodes, &node.pointer).is_some(),
        };
        if !is_used {
            lint.report(node.pointer, "unused component", "remove it, or reference it from an operation");
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
