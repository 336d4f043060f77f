//! The version of OpenAPI.

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule =
    Rule { id: "openapi-version", rejects: "a document of another version than OpenAPI 3.0", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Document) {
        let Some(version) = node.text("openapi") else { continue };
        if version.strip_prefix("3.0.").is_some_and(|patch| patch.parse::<u8>().is_ok()) {
            continue;
        }
        let help = "write `openapi: 3.0.3`; in place of keywords of 3.1, write `nullable: true` instead of a type `null`, \
                    `enum` with one value instead of `const`, and `example` instead of `examples`";
        let message = format!("unsupported version of OpenAPI `{version}`: the generators read OpenAPI 3.0");
        lint.report(&node, node.at("openapi"), message, help);
    }
}
