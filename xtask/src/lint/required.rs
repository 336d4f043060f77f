//! `required`.

use serde_json::Value;

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule =
    Rule { id: "required", rejects: "an unknown property or a duplicate in `required`", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let names =
            node.value.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (index, name) in names.iter().enumerate() {
            let Some(text) = name.as_str() else { continue };
            let at = format!("{}/{index}", node.at("required"));
            if names[..index].contains(name) {
                lint.report(&node, at, format!("duplicate `{text}` in `required`"), "remove one of them");
            } else if node.value.get("properties").and_then(|properties| properties.get(text)).is_none() {
                let message = format!("unknown property `{text}` in `required`");
                lint.report(&node, at, message, "define it under `properties`, or remove it here");
            }
        }
    }
}
