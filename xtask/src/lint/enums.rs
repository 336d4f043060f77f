//! Lists of allowed values.

use serde_json::Value;

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule = Rule {
    id: "enum",
    refuses: "an `enum` that is empty, repeats a value or holds one of another type",
    run,
};

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let Some(list) = node.value.get("enum") else { continue };
        let at = node.at("enum");
        let Some(values) = list.as_array().filter(|values| !values.is_empty()) else {
            lint.refuse(&node, at, "`enum` lists no value", "write a list of at least one value");
            continue;
        };
        for (index, value) in values.iter().enumerate() {
            let at = format!("{at}/{index}");
            if values[..index].contains(value) {
                lint.refuse(&node, at, format!("`enum` holds {value} twice"), "remove one of them");
            } else if !of_type(node.text("type"), value) {
                let message = format!(
                    "`enum` holds {value}, which is not of type {}",
                    node.text("type").unwrap_or("?")
                );
                lint.refuse(
                    &node,
                    at,
                    message,
                    "quote strings that look like numbers; use `nullable` for null",
                );
            }
        }
    }
}

/// Types that the generators can list values of; an absent type is another rule's business.
fn of_type(kind: Option<&str>, value: &Value) -> bool {
    match kind {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some(_) => false,
        None => true,
    }
}
