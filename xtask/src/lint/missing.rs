//! Required keywords.

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule = Rule {
    id: "missing-keyword",
    rejects: "a part without a required keyword, or an unobservable clause without its reason",
    run,
};

fn run(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        if !node.value.is_object() || node.value.get("$ref").is_some() {
            continue;
        }
        let unobservable = node.value.get("observable") == Some(&serde_json::Value::Bool(false));
        let reason = unobservable.then_some(&"reason");
        for keyword in
            needed(node.part).iter().chain(reason).filter(|keyword| node.value.get(**keyword).is_none())
        {
            let message = format!("missing `{keyword}`");
            lint.report(&node, node.pointer.clone(), message, format!("add `{keyword}: …`"));
        }
    }
}

/// The keywords that OpenAPI or our extensions require. Other rules check operations and schemas.
fn needed(part: Part) -> &'static [&'static str] {
    match part {
        Part::Document => &["openapi", "info", "paths", "x-clauses"],
        Part::Info => &["title", "version"],
        Part::License | Part::Tag => &["name"],
        Part::Server => &["url"],
        Part::ServerVariable => &["default"],
        Part::Parameter => &["name", "in", "schema"],
        Part::RequestBody => &["content"],
        Part::Response => &["description"],
        Part::Header | Part::Media => &["schema"],
        Part::SecurityScheme => &["type"],
        Part::Clause => &["id", "section", "text", "observable"],
        Part::Unspecified => &["id", "text"],
        Part::Rule => &["rule", "clause"],
        Part::Condition => &["parameter", "equals"],
        Part::Ports => &["minimum", "maximum"],
        Part::Contact
        | Part::PathItem
        | Part::Operation
        | Part::Schema
        | Part::Components
        | Part::DeprecatedValue => &[],
    }
}
