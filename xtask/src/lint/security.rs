//! `security` names schemes.

use serde_json::Value;

use super::{Lint, Part, Rule};
use crate::document::join;

pub(super) const RULE: Rule = Rule {
    id: "security",
    refuses: "an operation whose token has no transport, or a scheme that does not exist or cannot be sent",
    run,
};

fn run(lint: &mut Lint<'_>) {
    for operation in lint.parts(Part::Operation) {
        let at = operation.at("security");
        let list =
            operation.value.get("security").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if list.is_empty() {
            let help = "add `security:` with the names of its schemes, each in an item of its own";
            lint.refuse(
                &operation,
                operation.pointer.clone(),
                "the operation names no security scheme",
                help,
            );
        }
        for (index, requirement) in list.iter().enumerate() {
            let here = join(&at, &index.to_string());
            let names: Vec<_> = requirement.as_object().into_iter().flatten().map(|(name, _)| name).collect();
            let [name] = names.as_slice() else {
                let help = "write one scheme an item: `- apiKeyQuery: []`";
                lint.refuse(&operation, here, "a security item must name exactly one scheme", help);
                continue;
            };
            if lint.document.get(&join("/components/securitySchemes", name)).is_none() {
                let help = "describe it under components/securitySchemes";
                lint.refuse(&operation, here, format!("the security scheme `{name}` does not exist"), help);
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
            lint.refuse(&scheme, scheme.pointer.clone(), "no generator can send this security scheme", help);
        }
    }
}
