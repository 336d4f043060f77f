//! `$ref`.

use serde_json::Value;

use super::{Lint, Rule, users};
use crate::document::reference;

pub(super) const RULE: Rule = Rule {
    id: "reference",
    rejects: "a `$ref` to an unknown part or one of another kind, or with keywords beside it",
    run,
};

fn run(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        let Some(target) = node.value.get("$ref") else { continue };
        let at = node.at("$ref");
        if node.value.as_object().is_some_and(|members| members.len() > 1) {
            let help = "move them to the referenced part, or replace the `$ref` by its content";
            lint.report(&node, at.clone(), "keywords beside a `$ref` are ignored", help);
        }
        let found =
            reference(node.value).filter(|target| users::component(target).as_deref() == Some(target));
        match found.and_then(|target| lint.nodes.iter().find(|other| other.pointer == target)) {
            None => {
                let message = format!("unknown reference {target}");
                let help = "reference a part under components, such as \"#/components/schemas/Name\"";
                lint.report(&node, at, message, help);
            }
            Some(other) if other.part != node.part => {
                let message =
                    format!("expected a reference to a {:?}, found {target}, a {:?}", node.part, other.part);
                lint.report(&node, at, message, "reference a part of the same kind");
            }
            Some(other) if other.value.get("$ref").is_some_and(Value::is_string) => {
                let help = "reference the definition itself";
                lint.report(&node, at, format!("{target} is itself a reference"), help);
            }
            Some(_) => {}
        }
    }
}
