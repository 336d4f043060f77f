//! Order and uniqueness of the ids of clauses and unspecified behaviours.

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule = Rule {
    id: "clause-order",
    rejects: "clauses or unspecified behaviours that are not sorted by a unique id",
    run,
};

fn run(lint: &mut Lint<'_>) {
    for part in [Part::Clause, Part::Unspecified] {
        let nodes = lint.parts(part);
        for (before, node) in nodes.iter().zip(nodes.iter().skip(1)) {
            let (Some(first), Some(second)) = (before.text("id"), node.text("id")) else { continue };
            if first == second {
                lint.report(node, node.at("id"), format!("duplicate id `{second}`"), "give each a unique id");
            } else if first > second {
                let message = format!("`{second}` is listed after `{first}`");
                lint.report(node, node.at("id"), message, "sort the list by id");
            }
        }
        for node in nodes {
            let id = node.text("id").unwrap_or_default();
            let prefixed = id.starts_with("open.") == (part == Part::Unspecified);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
            if !(prefixed && id.contains('.') && id.chars().all(plain)) {
                let help = "write `area.rule-name` in lower case, digits, `-` and `.`; ids of `x-unspecified` start with `open.`";
                lint.report(&node, node.at("id"), format!("invalid id `{id}`"), help);
            }
        }
    }
}
