//! Defaults must match their schemas.

use super::{Lint, Part, Rule, fits};

pub(super) const RULE: Rule =
    Rule { id: "default", rejects: "a `default` outside its type, bounds or enum", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let Some(default) = node.value.get("default") else { continue };
        if let Some(reason) = fits::misfit(lint.document, node.value, default) {
            let message = format!("the default does not match its schema: {reason}");
            lint.report(&node, node.at("default"), message, "change the default or the schema");
        }
    }
}
