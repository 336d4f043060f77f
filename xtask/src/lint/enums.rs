//! `enum`.

use serde_json::Value;

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule =
    Rule { id: "enum", rejects: "an `enum` that is empty, has duplicates or a value of another type", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let Some(list) = node.value.get("enum") else { continue };
        let at = node.at("enum");
        let Some(values) = list.as_array().filter(|values| !values.is_empty()) else {
            lint.report(&node, at, "`enum` must be a list of at least one value", "add its values");
            continue;
        };
        for (index, value) in values.iter().enumerate() {
            let at = format!("{at}/{index}");
            if values[..index].contains(value) {
                lint.report(&node, at, format!("duplicate value `{value}` in `enum`"), "remove one of them");
            } else if !of_type(node.text("type"), value) {
                let message = format!(
                    "`enum`: expected a value of type {}, found `{value}`",
                    node.text("type").unwrap_or("?")
                );
                lint.report(
                    &node,
                    at,
                    message,
                    "quote strings that look like numbers; use `nullable` for null",
                );
            }
        }
    }
}

/// Whether the value has a type that the generators support in an enum; another rule rejects an absent type.
fn of_type(kind: Option<&str>, value: &Value) -> bool {
    match kind {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some(_) => false,
        None => true,
    }
}
