//! `operationId`, from which names in generated code are made.

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule = Rule { id: "operation-id", rejects: "an operation without a unique id", run };

fn run(lint: &mut Lint<'_>) {
    let nodes = lint.parts(Part::Operation);
    for (index, node) in nodes.iter().enumerate() {
        let Some(id) = node.text("operationId") else {
            let help = "add `operationId: …` in camelCase; generated code is named after it";
            lint.report(node, node.pointer.clone(), "missing `operationId`", help);
            continue;
        };
        if nodes[..index].iter().any(|other| other.text("operationId") == Some(id)) {
            let message = format!("duplicate operationId `{id}`");
            lint.report(node, node.at("operationId"), message, "give each operation a unique id");
        }
        let plain =
            id.starts_with(|c: char| c.is_ascii_lowercase()) && id.chars().all(|c| c.is_ascii_alphanumeric());
        if !plain {
            let help = "start with a lower-case letter and use ASCII letters and digits only";
            lint.report(node, node.at("operationId"), format!("invalid operationId `{id}`"), help);
        }
    }
}
