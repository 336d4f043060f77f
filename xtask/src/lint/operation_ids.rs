//! Generated names come from `operationId`.

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule =
    Rule { id: "operation-id", refuses: "an operation without an id of its own", run };

fn run(lint: &mut Lint<'_>) {
    let nodes = lint.parts(Part::Operation);
    for (index, node) in nodes.iter().enumerate() {
        let Some(id) = node.text("operationId") else {
            let help = "add `operationId: …` in camelCase; generated names come from it";
            lint.refuse(node, node.pointer.clone(), "the operation has no operationId", help);
            continue;
        };
        if nodes[..index].iter().any(|other| other.text("operationId") == Some(id)) {
            let message = format!("another operation has the operationId `{id}` too");
            lint.refuse(node, node.at("operationId"), message, "give each operation an id of its own");
        }
        let plain =
            id.starts_with(|c: char| c.is_ascii_lowercase()) && id.chars().all(|c| c.is_ascii_alphanumeric());
        if !plain {
            let help = "start with a lower-case letter and use ASCII letters and digits only";
            lint.refuse(node, node.at("operationId"), format!("`{id}` cannot name generated code"), help);
        }
    }
}
