//! Parameters.

use super::{Lint, Part, Rule};
use crate::document::join;

pub(super) const RULE: Rule = Rule { id: "parameter", rejects: "an unsupported or duplicate parameter", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Parameter) {
        if let Some(other) = node.text("in").filter(|place| !["query", "header"].contains(place)) {
            let message = format!("unsupported parameter location `{other}`");
            lint.report(&node, node.at("in"), message, "write `in: query` or `in: header`");
        }
        let name = node.text("name").unwrap_or_default();
        let reserved = ["accept", "content-type", "authorization"].contains(&name.to_lowercase().as_str());
        if reserved && node.text("in") == Some("header") {
            let message = format!("OpenAPI ignores the header parameter `{name}`");
            lint.report(&node, node.at("name"), message, "use `content` or `security` instead");
        }
        let schema = node.value.get("schema").map(|schema| lint.document.resolve(schema));
        let kind = schema.and_then(|schema| schema.get("type")).and_then(|kind| kind.as_str());
        if let Some(kind) = kind.filter(|kind| ["array", "object"].contains(kind)) {
            let message = format!("unsupported parameter type {kind}");
            lint.report(&node, node.at("schema"), message, "send it as text, or in the body");
        }
    }
    for operation in lint.parts(Part::Operation) {
        let mut seen = Vec::new();
        let list = operation.value.get("parameters").and_then(|list| list.as_array());
        for (index, item) in list.into_iter().flatten().enumerate() {
            let parameter = lint.document.resolve(item);
            let key = (parameter.get("in"), parameter.get("name"));
            if seen.contains(&key) {
                let at = join(&operation.at("parameters"), &index.to_string());
                let message = format!("duplicate parameter {}", parameter["name"]);
                lint.report(&operation, at, message, "remove one of them");
            }
            seen.push(key);
        }
    }
    for path in lint.parts(Part::PathItem).into_iter().filter(|path| path.pointer.contains(['{', '}'])) {
        let help = "write a fixed path, and move the parameter to the query";
        lint.report(&path, path.pointer.clone(), "unsupported path parameter", help);
    }
}
