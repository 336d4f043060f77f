//! Names under `required`.

use serde_json::Value;

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule =
    Rule { id: "required", refuses: "a `required` name without its property, or twice", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let names =
            node.value.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (index, name) in names.iter().enumerate() {
            let Some(text) = name.as_str() else { continue };
            let at = format!("{}/{index}", node.at("required"));
            if names[..index].contains(name) {
                lint.refuse(&node, at, format!("`{text}` is required twice"), "remove one of them");
            } else if node.value.get("properties").and_then(|properties| properties.get(text)).is_none() {
                let message = format!("`{text}` is required but is no property");
                lint.refuse(&node, at, message, "describe it under `properties`, or remove it here");
            }
        }
    }
}
