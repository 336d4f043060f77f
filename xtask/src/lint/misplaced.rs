//! JSON Schema ignores `minimum` on a string, and so does every generator.

use super::{Lint, Part, Rule, untyped};

pub(super) const RULE: Rule =
    Rule { id: "misplaced-keyword", refuses: "a keyword that has no effect on its schema's type", run };

const BELONGS: [(&str, &[&str]); 15] = [
    ("enum", &["string", "integer", "boolean"]),
    ("format", &["string", "integer"]),
    ("items", &["array"]),
    ("maxItems", &["array"]),
    ("maxLength", &["string"]),
    ("maximum", &["integer"]),
    ("minItems", &["array"]),
    ("minLength", &["string"]),
    ("minimum", &["integer"]),
    ("properties", &["object"]),
    ("required", &["object"]),
    ("x-format", &["string"]),
    ("x-max-distinct", &["array"]),
    ("x-max-utf8-bytes", &["string"]),
    ("x-separators", &["string"]),
];

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        // Another rule refuses other types.
        let Some(kind) = node.text("type").filter(|kind| untyped::TYPES.contains(kind)) else { continue };
        for (keyword, types) in BELONGS {
            if node.value.get(keyword).is_some() && !types.contains(&kind) {
                let message = format!("`{keyword}` has no effect on the type {kind}");
                lint.refuse(
                    &node,
                    node.at(keyword),
                    message,
                    format!("it belongs to {}", types.join(" or ")),
                );
            }
        }
    }
}
