//! Keywords that are ignored because of the type, such as `minimum` on a string.

use super::{Lint, Part, Rule, untyped};

pub(super) const RULE: Rule =
    Rule { id: "misplaced-keyword", rejects: "a keyword that has no effect on its schema's type", run };

const BELONGS: [(&str, &[&str]); 16] = [
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
    ("x-deprecated-values", &["string"]),
    ("x-format", &["string"]),
    ("x-max-distinct", &["array"]),
    ("x-max-utf8-bytes", &["string"]),
    ("x-separators", &["string"]),
];

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        // Another rule rejects other types.
        let Some(kind) = node.text("type").filter(|kind| untyped::TYPES.contains(kind)) else { continue };
        for (keyword, types) in BELONGS {
            if node.value.get(keyword).is_some() && !types.contains(&kind) {
                let message = format!("`{keyword}` has no effect on the type {kind}");
                lint.report(
                    &node,
                    node.at(keyword),
                    message,
                    format!("remove it, or change the type to {}", types.join(" or ")),
                );
            }
        }
    }
}
