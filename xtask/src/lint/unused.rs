//! Unused components, which only some emitters would generate.

use super::{Lint, Rule, users};

pub(super) const RULE: Rule =
    Rule { id: "unused-component", rejects: "a component that no operation uses", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        if users::component(&node.pointer).as_deref() != Some(&node.pointer) {
            continue;
        }
        let used = match node.pointer.strip_prefix("/components/securitySchemes/") {
            Some(scheme) => is_named(lint, scheme),
            None => users::operations(lint.document, &lint.nodes, &node.pointer).is_some(),
        };
        if !used {
            let help = "remove it, or reference it from an operation";
            lint.report(&node, node.pointer.clone(), "unused component", help);
        }
    }
}

fn is_named(lint: &Lint<'_>, scheme: &str) -> bool {
    lint.nodes
        .iter()
        .filter_map(|node| node.value.get("security")?.as_array())
        .flatten()
        .any(|requirement| requirement.as_object().is_some_and(|names| names.contains_key(scheme)))
}
