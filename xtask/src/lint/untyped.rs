//! Schemas without a supported type.

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule =
    Rule { id: "untyped", rejects: "a schema without a supported type, or an array without items", run };

/// The types that the generators support.
pub(super) const TYPES: [&str; 5] = ["string", "integer", "boolean", "array", "object"];

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let help = "write one of: string, integer, boolean, array, object; `nullable: true` allows null";
        match node.value.get("type").map(|kind| kind.as_str().filter(|kind| TYPES.contains(kind))) {
            None => lint.report(&node, node.pointer.clone(), "missing `type`", help),
            Some(None) => {
                let message = format!("unsupported type {}", node.value["type"]);
                lint.report(&node, node.at("type"), message, help);
            }
            Some(Some("array")) if node.value.get("items").is_none() => {
                lint.report(&node, node.pointer.clone(), "missing `items` of an array", "add `items: …`");
            }
            Some(_) => {}
        }
    }
}
