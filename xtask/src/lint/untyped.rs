//! Schemas that generators drop or panic on because something is missing.

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule = Rule {
    id: "untyped",
    refuses: "a schema without a type that the generators know, or an array without items",
    run,
};

/// The types that the generators know.
pub(super) const TYPES: [&str; 5] = ["string", "integer", "boolean", "array", "object"];

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let help = "write one of string, integer, boolean, array and object; `nullable: true` adds null";
        match node.value.get("type").map(|kind| kind.as_str().filter(|kind| TYPES.contains(kind))) {
            None => lint.refuse(&node, node.pointer.clone(), "the schema has no `type`", help),
            Some(None) => {
                let message = format!("the type {} is not generated", node.value["type"]);
                lint.refuse(&node, node.at("type"), message, help);
            }
            Some(Some("array")) if node.value.get("items").is_none() => {
                lint.refuse(&node, node.pointer.clone(), "the array has no `items`", "describe its items");
            }
            Some(_) => {}
        }
    }
}
