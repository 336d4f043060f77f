//! Clauses are cited by id, so an id stands for one thing and is easily found.

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule =
    Rule { id: "clause-order", refuses: "clauses or silences that are not sorted by a unique id", run };

fn run(lint: &mut Lint<'_>) {
    for part in [Part::Clause, Part::Silence] {
        let nodes = lint.parts(part);
        for (before, node) in nodes.iter().zip(nodes.iter().skip(1)) {
            let (Some(first), Some(second)) = (before.text("id"), node.text("id")) else { continue };
            if first == second {
                lint.refuse(
                    node,
                    node.at("id"),
                    format!("the id `{second}` stands twice"),
                    "give each its own id",
                );
            } else if first > second {
                let message = format!("`{second}` stands after `{first}`");
                lint.refuse(node, node.at("id"), message, "sort the list by id");
            }
        }
        for node in nodes {
            let id = node.text("id").unwrap_or_default();
            let prefixed = id.starts_with("open.") == (part == Part::Silence);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
            if !(prefixed && id.contains('.') && id.chars().all(plain)) {
                let help =
                    "write `area.rule-name`: lower case, digits, `-` and `.`; silences start with `open.`";
                lint.refuse(&node, node.at("id"), format!("`{id}` is not an id of this list"), help);
            }
        }
    }
}
