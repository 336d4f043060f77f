//! Types of values, such as `required: "true"` instead of a boolean.

use serde_json::Value;

use super::{Lint, Rule, grammar::Shape};

pub(super) const RULE: Rule =
    Rule { id: "wrong-value", rejects: "a value of another type than its keyword has", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        if !node.value.is_object() {
            lint.report(
                &node,
                node.pointer.clone(),
                "expected a mapping here",
                "write keywords and their values",
            );
            continue;
        }
        for (keyword, shape) in node.part.keywords() {
            let Some(value) = node.value.get(*keyword) else { continue };
            let Some(expected) = expected(*shape, value) else { continue };
            let message = format!("`{keyword}`: expected {expected}, found `{value}`");
            lint.report(&node, node.at(keyword), message, format!("write {expected}"));
        }
    }
}

/// What the shape expects; `None` when `value` matches it.
fn expected(shape: Shape, value: &Value) -> Option<&'static str> {
    let (fits, expected) = match shape {
        Shape::Text => (value.is_string(), "a string, quoted where YAML needs it"),
        Shape::Flag => (value.is_boolean(), "true or false, without quotes"),
        Shape::Number => (value.is_number(), "a number, without quotes"),
        Shape::Count => (value.is_u64(), "a non-negative integer, without quotes"),
        Shape::Texts => {
            (value.as_array().is_some_and(|list| list.iter().all(Value::is_string)), "a list of strings")
        }
        Shape::TextMap => (
            value.as_object().is_some_and(|map| map.values().all(Value::is_string)),
            "a mapping from string to string",
        ),
        Shape::One(_) | Shape::Map(_) => (value.is_object(), "a mapping"),
        Shape::List(_) => (value.is_array(), "a list"),
        Shape::Any => (true, ""),
    };
    (!fits).then_some(expected)
}
