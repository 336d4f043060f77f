//! Examples are what people copy.

use super::{Lint, Part, Rule, fits};

pub(super) const RULE: Rule = Rule { id: "example", refuses: "an `example` that its schema refuses", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        let schema = match node.part {
            Part::Schema => Some(node.value),
            Part::Parameter | Part::Header | Part::Media => node.value.get("schema"),
            _ => None,
        };
        let (Some(schema), Some(example)) = (schema, node.value.get("example")) else { continue };
        if let Some(reason) = fits::misfit(lint.document, schema, example) {
            let message = format!("the example does not fit its schema: {reason}");
            lint.refuse(&node, node.at("example"), message, "change the example or the schema");
        }
    }
}
