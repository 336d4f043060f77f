//! Examples must be valid, because readers copy them.

use super::{Lint, Part, Rule, fits};

pub(super) const RULE: Rule =
    Rule { id: "example", rejects: "an `example` that its schema does not allow", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        let schema = match node.part {
            Part::Schema => Some(node.value),
            Part::Parameter | Part::Header | Part::Media => node.value.get("schema"),
            _ => None,
        };
        let (Some(schema), Some(example)) = (schema, node.value.get("example")) else { continue };
        if let Some(reason) = fits::misfit(lint.document, schema, example) {
            let message = format!("the example does not match its schema: {reason}");
            lint.report(&node, node.at("example"), message, "change the example or the schema");
        }
    }
}
