//! `security` and the schemes that it names.

use serde_json::Value;

use super::{Lint, Part, Rule};
use crate::document::join;

pub(super) const RULE: Rule = Rule {
    id: "security",
    rejects: "an operation without a security scheme, or an unknown or unsupported scheme",
    run,
};

fn run(lint: &mut Lint<'_>) {
    for operation in lint.parts(Part::Operation) {
        let at = operation.at("security");
        let list =
            operation.value.get("security").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if list.is_empty() {
            let help = "add `security:` with one scheme per item";
            lint.report(&operation, operation.pointer.clone(), "missing `security`", help);
        }
        for (index, requirement) in list.iter().enumerate() {
            let here = join(&at, &index.to_string());
            let names: Vec<_> = requirement.as_object().into_iter().flatten().map(|(name, _)| name).collect();
            let [name] = names.as_slice() else {
                let help = "write one scheme per item, such as `- apiKeyQuery: []`";
                lint.report(&operation, here, "an item of `security` must name exactly one scheme", help);
                continue;
            };
            if lint.document.get(&join("/components/securitySchemes", name)).is_none() {
                let help = "define it under components/securitySchemes";
                lint.report(&operation, here, format!("unknown security scheme `{name}`"), help);
            }
        }
    }
    for scheme in lint.parts(Part::SecurityScheme) {
        let sendable = match (scheme.text("type"), scheme.text("in"), scheme.text("scheme")) {
            (Some("apiKey"), Some("query" | "header"), None) => scheme.text("name").is_some(),
            (Some("http"), None, Some("bearer")) => scheme.text("name").is_none(),
            _ => false,
        };
        if !sendable {
            let help = "write an apiKey with `in: query` or `in: header` and a name, or `type: http, scheme: bearer`";
            lint.report(&scheme, scheme.pointer.clone(), "unsupported security scheme", help);
        }
    }
}
