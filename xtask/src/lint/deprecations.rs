//! Deprecated operations, parameters, properties and values: since when, until when, and what replaces them.

use jiff::civil::Date;
use serde_json::Value;

use super::{Lint, Node, Part};
use crate::document::unescaped;

/// What says more about `deprecated: true`.
const DATES: [&str; 2] = ["x-deprecated-since", "x-sunset"];
const REPLACED_BY: &str = "x-replaced-by";

pub(super) fn run(lint: &mut Lint<'_>) {
    for (part, kind, key) in
        [(Part::Operation, "operation", "operationId"), (Part::Parameter, "parameter", "name")]
    {
        let nodes = lint.parts(part);
        for node in &nodes {
            let others = nodes.iter().filter_map(|other| other.text(key));
            let others = others.filter(|other| Some(*other) != node.text(key));
            deprecated_part(lint, node, kind, &others.collect::<Vec<_>>());
            if part == Part::Parameter && is_deprecated(node) && node.is_true("required") {
                let message = "a deprecated parameter is required, so callers cannot stop sending it";
                lint.report(node, node.at("deprecated"), message, "make it optional first");
            }
        }
    }
    for schema in lint.parts(Part::Schema) {
        property(lint, &schema);
    }
    for value in lint.parts(Part::DeprecatedValue) {
        deprecated_value(lint, &value);
    }
}

fn is_deprecated(node: &Node<'_>) -> bool {
    node.is_true("deprecated")
}

/// A schema is deprecated as a property of an object alone: elsewhere its callers cannot leave it out.
fn property(lint: &mut Lint<'_>, schema: &Node<'_>) {
    let place = schema.pointer.rsplit_once('/').and_then(|(around, name)| {
        let object = around.strip_suffix("/properties")?;
        Some((lint.document.get(object)?.get("properties")?.as_object()?, name))
    });
    let said = std::iter::once("deprecated").chain(DATES).chain([REPLACED_BY]);
    let Some(keyword) = said.into_iter().find(|keyword| schema.has(keyword)) else { return };
    let Some((properties, own)) = place else {
        let message = format!("`{keyword}` has no effect on a schema that is not a property");
        let help = "write it in the schema of a property or in a parameter; for a value of an enum use `x-deprecated-values`";
        lint.report(schema, schema.at(keyword), message, help);
        return;
    };
    let others = properties.keys().map(String::as_str).filter(|name| *name != own);
    deprecated_part(lint, schema, "property", &others.collect::<Vec<_>>());
}

/// An entry of `x-deprecated-values`: its key is a value of the enum beside it.
fn deprecated_value(lint: &mut Lint<'_>, entry: &Node<'_>) {
    let Some((schema, own)) = entry.pointer.rsplit_once("/x-deprecated-values/") else { return };
    let (schema, own) = (lint.document.get(schema), unescaped(own));
    let values = schema.and_then(|schema| schema.get("enum")).and_then(Value::as_array);
    let values: Vec<&str> = values.into_iter().flatten().filter_map(Value::as_str).collect();
    if !values.contains(&own.as_str()) {
        let message = format!("unknown value `{own}` in `x-deprecated-values`");
        lint.report(entry, entry.pointer.clone(), message, "name a value of the enum beside it");
    }
    let others: Vec<&str> = values.into_iter().filter(|value| *value != own).collect();
    dates(lint, entry, "value", true);
    replacement(lint, entry, "value", &others);
}

/// `deprecated` with its dates and its replacement; `others` are the parts of the same kind.
fn deprecated_part(lint: &mut Lint<'_>, node: &Node<'_>, kind: &str, others: &[&str]) {
    dates(lint, node, kind, is_deprecated(node));
    for keyword in DATES.into_iter().chain([REPLACED_BY]) {
        if node.has(keyword) && !is_deprecated(node) {
            let message = format!("`{keyword}` without `deprecated: true`");
            lint.report(node, node.at(keyword), message, "add `deprecated: true`, or remove it");
        }
    }
    replacement(lint, node, kind, others);
}

fn dates(lint: &mut Lint<'_>, node: &Node<'_>, kind: &str, is_deprecated: bool) {
    let mut found = Vec::new();
    for keyword in DATES {
        let help = format!("write `{keyword}: YYYY-MM-DD`");
        match node.text(keyword) {
            None if is_deprecated && !node.has(keyword) => {
                let message = format!("missing `{keyword}` of a deprecated {kind}");
                lint.report(node, node.pointer.clone(), message, help);
            }
            None => {}
            Some(text) => match text.parse::<Date>() {
                Ok(date) => found.push(date),
                Err(_) => {
                    let message = format!("`{keyword}`: expected a date, found `{text}`");
                    lint.report(node, node.at(keyword), message, help);
                }
            },
        }
    }
    if let [since, sunset] = found.as_slice()
        && since >= sunset
    {
        let message = format!("the sunset {sunset} is not after the deprecation {since}");
        lint.report(node, node.at("x-sunset"), message, "write a later date");
    }
}

fn replacement(lint: &mut Lint<'_>, node: &Node<'_>, kind: &str, others: &[&str]) {
    if let Some(other) = node.text(REPLACED_BY)
        && !others.contains(&other)
    {
        let message = format!("unknown {kind} `{other}` in `{REPLACED_BY}`");
        let help = format!("name another {kind}");
        lint.report(node, node.at(REPLACED_BY), message, help);
    }
}
