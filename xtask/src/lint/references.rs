//! `$ref`.

use serde_json::Value;

use super::{Lint, Rule, users};
use crate::document::reference;

pub(super) const RULE: Rule = Rule {
    id: "reference",
    refuses: "a `$ref` that leads nowhere, to another kind of part, or has company",
    run,
};

fn run(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        let Some(target) = node.value.get("$ref") else { continue };
        let at = node.at("$ref");
        if node.value.as_object().is_some_and(|members| members.len() > 1) {
            let help = "write them where it leads, or write the whole out here";
            lint.refuse(&node, at.clone(), "everything beside a `$ref` is ignored", help);
        }
        let found =
            reference(node.value).filter(|target| users::component(target).as_deref() == Some(target));
        match found.and_then(|target| lint.nodes.iter().find(|other| other.pointer == target)) {
            None => {
                let message = format!("the reference {target} leads nowhere");
                let help = "name a part under components, such as \"#/components/schemas/Name\"";
                lint.refuse(&node, at, message, help);
            }
            Some(other) if other.part != node.part => {
                let message = format!("a {:?} is needed here, but {target} is a {:?}", node.part, other.part);
                lint.refuse(&node, at, message, "refer to a part of the same kind");
            }
            Some(other) if other.value.get("$ref").is_some_and(Value::is_string) => {
                let help = "refer to the definition itself";
                lint.refuse(&node, at, format!("{target} is itself a reference"), help);
            }
            Some(_) => {}
        }
    }
}
