//! Rules about single schemas: limits that contradict each other, and null.

use serde_json::Value;

use super::{Lint, Node};
use crate::problem::suggestion;

const PAIRS: [(&str, &str); 4] = [
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("x-max-distinct", "maxItems"),
];

/// Bounds that no value can satisfy.
pub(super) fn bounds(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        for (low, high) in PAIRS {
            let number = |keyword| node.value.get(keyword).and_then(Value::as_f64);
            let (Some(lower), Some(upper)) = (number(low), number(high)) else { continue };
            if lower > upper {
                let message = format!("`{low}: {lower}` is above `{high}: {upper}`");
                lint.report(node.at(low), message, format!("lower `{low}` or raise `{high}`"));
            }
        }
    }
}

/// An unknown property in `required`.
pub(super) fn required(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        let properties: Vec<&str> = node.entries("properties").map(|(name, _)| name).collect();
        for (index, name) in node.items("required").iter().enumerate() {
            let Some(name) = name.as_str().filter(|name| !properties.contains(name)) else { continue };
            let help = "define it under `properties`, or remove it here";
            let help = suggestion(name, properties.iter().copied(), help);
            let at = format!("{}/{index}", node.at("required"));
            lint.report(at, format!("unknown property `{name}` in `required`"), help);
        }
    }
}

/// `nullable` on a schema that is neither a property nor a component that only properties refer to.
pub(super) fn nullables(lint: &mut Lint<'_>) {
    let is_property =
        |pointer: &str| pointer.rsplit_once('/').is_some_and(|(around, _)| around.ends_with("/properties"));
    for schema in
        lint.nodes.clone().into_iter().filter(|schema| schema.is_true("nullable") && !schema.has("$ref"))
    {
        let target = format!("#{}", schema.pointer);
        let refers = |node: &&Node<'_>| node.text("$ref") == Some(target.as_str());
        let is_component =
            schema.pointer.starts_with("/components/schemas/") && schema.pointer.matches('/').count() == 3;
        let mut users = lint.nodes.iter().filter(refers);
        if is_property(&schema.pointer) || is_component && users.all(|node| is_property(&node.pointer)) {
            continue;
        }
        let message = "`nullable` is not supported here: only a property can be nullable";
        lint.report(schema.at("nullable"), message, "leave it out, or make the property optional");
    }
}
