//! `nullable` where no generator keeps it.

use serde_json::Value;

use super::{Lint, Node, Part, Rule};

pub(super) const RULE: Rule = Rule {
    id: "nullable",
    rejects: "`nullable: true` on anything but a property that is neither an enum nor an object",
    run,
};

fn run(lint: &mut Lint<'_>) {
    for schema in lint.parts(Part::Schema) {
        if schema.value.get("nullable") != Some(&Value::Bool(true)) {
            continue;
        }
        let why = if schema.value.get("enum").is_some() {
            Some("an enum that may be null has no type that says so")
        } else if schema.text("type") == Some("object") {
            Some("an object is there or it is not")
        } else if !is_property(lint, &schema) {
            Some("only the property of an object can be null")
        } else {
            None
        };
        if let Some(why) = why {
            let message = format!("`nullable` is not kept here: {why}");
            lint.report(
                &schema,
                schema.at("nullable"),
                message,
                "leave it out, or make the property optional",
            );
        }
    }
}

/// Whether the schema stands as a property, or is a component that only properties refer to.
fn is_property(lint: &Lint<'_>, schema: &Node<'_>) -> bool {
    let stands =
        |pointer: &str| pointer.rsplit_once('/').is_some_and(|(around, _)| around.ends_with("/properties"));
    if !schema.pointer.starts_with("/components/schemas/") || schema.pointer.matches('/').count() > 3 {
        return stands(&schema.pointer);
    }
    let target = format!("#{}", schema.pointer);
    let refers = |node: &&Node<'_>| node.value.get("$ref").and_then(Value::as_str) == Some(target.as_str());
    lint.nodes.iter().filter(refers).all(|node| stands(&node.pointer))
}
