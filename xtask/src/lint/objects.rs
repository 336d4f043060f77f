//! Objects of requests: the server has a type for each, which holds only valid values and is read by its name.

use std::collections::BTreeMap;

use super::{Lint, Part, Rule};
use crate::model::{Contract, Kind, Schema};

pub(super) const RULE: Rule = Rule {
    id: "request-object",
    rejects: "an object inside a request that has no name, or an object of a request that a response holds as well",
    run,
};

fn run(lint: &mut Lint<'_>) {
    // A document that is no contract has other problems.
    let Ok(contract) = Contract::read(lint.document) else { return };
    let mut answered: BTreeMap<&str, &str> = BTreeMap::new();
    for operation in &contract.operations {
        for response in std::iter::once(&operation.success).chain(&operation.errors) {
            for media in &response.content {
                each_object(&media.schema, &mut |object| {
                    answered.entry(&object.pointer).or_insert(&operation.id);
                });
            }
        }
    }
    for operation in &contract.operations {
        let Some(body) = &operation.body else { continue };
        let Some(node) =
            lint.parts(Part::Operation).into_iter().find(|node| node.pointer == operation.pointer)
        else {
            continue;
        };
        let mut found = Vec::new();
        each_object(&body.schema, &mut |object| found.push((object.pointer.clone(), object.name.clone())));
        for (pointer, name) in found {
            match (name, answered.get(pointer.as_str())) {
                (None, _) => {
                    let help = "move it to components/schemas and reference it";
                    lint.report(&node, pointer, "an object of a request has no name", help);
                }
                (Some(name), Some(other)) => {
                    let message = format!("`{name}` is in a request, and in a response of `{other}`");
                    let help = "write one schema for requests and one for responses";
                    lint.report(&node, pointer, message, help);
                }
                (Some(_), None) => {}
            }
        }
    }
}

fn each_object<'s>(schema: &'s Schema, visit: &mut impl FnMut(&'s Schema)) {
    match &schema.kind {
        Kind::Object { properties } => {
            visit(schema);
            properties.iter().for_each(|property| each_object(&property.schema, visit));
        }
        Kind::Array { items, .. } => each_object(items, visit),
        Kind::String { .. } | Kind::Integer { .. } | Kind::Boolean => {}
    }
}
