//! A default that its own schema refuses.

use super::{Lint, Part, Rule, fits};

pub(super) const RULE: Rule =
    Rule { id: "default", refuses: "a `default` outside its type, bounds or enum", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let Some(default) = node.value.get("default") else { continue };
        if let Some(reason) = fits::misfit(lint.document, node.value, default) {
            let message = format!("the default does not fit its schema: {reason}");
            lint.refuse(&node, node.at("default"), message, "change the default or the schema");
        }
    }
}
