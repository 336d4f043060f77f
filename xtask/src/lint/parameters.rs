//! Parameters.

use super::{Lint, Part, Rule};
use crate::document::join;

pub(super) const RULE: Rule = Rule {
    id: "parameter",
    refuses: "a parameter that the generators cannot read, or one that stands twice",
    run,
};

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Parameter) {
        if let Some(other) = node.text("in").filter(|place| !["query", "header"].contains(place)) {
            let message = format!("a parameter in `{other}` is not generated");
            lint.refuse(&node, node.at("in"), message, "write `in: query` or `in: header`");
        }
        let name = node.text("name").unwrap_or_default();
        let reserved = ["accept", "content-type", "authorization"].contains(&name.to_lowercase().as_str());
        if reserved && node.text("in") == Some("header") {
            let message = format!("OpenAPI ignores a header parameter named {name}");
            lint.refuse(&node, node.at("name"), message, "use `content` or `security` for it");
        }
        let schema = node.value.get("schema").map(|schema| lint.document.resolve(schema));
        let kind = schema.and_then(|schema| schema.get("type")).and_then(|kind| kind.as_str());
        if let Some(kind) = kind.filter(|kind| ["array", "object"].contains(kind)) {
            let message = format!("a parameter of type {kind} is not generated");
            lint.refuse(&node, node.at("schema"), message, "send it as text, or in the body");
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
                let message = format!("the parameter {} stands twice", parameter["name"]);
                lint.refuse(&operation, at, message, "remove one of them");
            }
            seen.push(key);
        }
    }
    for path in lint.parts(Part::PathItem).into_iter().filter(|path| path.pointer.contains(['{', '}'])) {
        let help = "write the path out, and send what varies in the query";
        lint.refuse(&path, path.pointer.clone(), "path parameters are not generated", help);
    }
}
