//! Rules about requests: parameters, and the objects of a body.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Lint, Node, Part};
use crate::{
    document::{join, unescaped},
    model::{Contract, Kind, Schema},
};

const PLACES: [&str; 3] = ["path", "query", "header"];

/// The types that are sent as plain text.
const SCALARS: [&str; 3] = ["string", "integer", "boolean"];

pub(super) fn parameters(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Parameter) {
        if let Some(other) = node.text("in").filter(|place| !PLACES.contains(place)) {
            let message = format!("unsupported parameter location `{other}`");
            lint.report(&node, node.at("in"), message, "write `in: path`, `in: query` or `in: header`");
        }
        let name = node.text("name").unwrap_or_default();
        let reserved = ["accept", "content-type", "authorization"].contains(&name.to_lowercase().as_str());
        if reserved && node.text("in") == Some("header") {
            let message = format!("OpenAPI ignores the header parameter `{name}`");
            lint.report(&node, node.at("name"), message, "use `content` or `security` instead");
        }
        if node.text("in") == Some("path") && !node.is_true("required") {
            let message = format!("the path parameter `{name}` is not required");
            lint.report(&node, node.pointer.clone(), message, "write `required: true`");
        }
        kind(lint, &node);
        required(lint, &node);
    }
    for operation in lint.parts(Part::Operation) {
        let mut seen = Vec::new();
        for (index, (_, parameter)) in lint.parameters(&operation).into_iter().enumerate() {
            let key = (parameter.get("in"), parameter.get("name"));
            if seen.contains(&key) {
                let at = join(&operation.at("parameters"), &index.to_string());
                let message = format!("duplicate parameter {}", parameter["name"]);
                lint.report(&operation, at, message, "remove one of them");
            }
            seen.push(key);
        }
        template(lint, &operation);
    }
}

/// Rejects `required` on a parameter that can be absent: an alias, a fallback header, or one with a default.
fn required(lint: &mut Lint<'_>, node: &Node<'_>) {
    if !node.is_true("required") {
        return;
    }
    let schema = node.value.get("schema").map(|schema| lint.document.resolve(schema));
    let is_fallback = node.text("in") == Some("header")
        && lint
            .nodes
            .iter()
            .any(|other| other.part == Part::Parameter && other.text("x-falls-back-to") == node.text("name"));
    let why = if node.has("x-alias-of") {
        "it is another name of a parameter"
    } else if is_fallback {
        "it replaces a parameter that is absent"
    } else if schema.is_some_and(|schema| schema.get("default").is_some()) {
        "it has a default"
    } else {
        return;
    };
    let name = node.text("name").unwrap_or_default();
    let message = format!("`required: true` of `{name}` contradicts the rest: {why}");
    lint.report(node, node.at("required"), message, "leave one of the two out");
}

/// A value is sent as plain text; a query may also have one pair for each item of an array.
fn kind(lint: &mut Lint<'_>, node: &Node<'_>) {
    let Some(schema) = node.value.get("schema").map(|schema| lint.document.resolve(schema)) else { return };
    let Some(kind) = schema.get("type").and_then(Value::as_str) else { return };
    let message = match (kind, node.text("in")) {
        ("array", Some("query")) => {
            let items = schema.get("items").map(|items| lint.document.resolve(items));
            let item = items.and_then(|items| items.get("type")).and_then(Value::as_str).unwrap_or_default();
            if SCALARS.contains(&item) {
                return;
            }
            format!("unsupported items of type {item} in a query")
        }
        ("array" | "object", _) => format!("unsupported parameter type {kind}"),
        _ => return,
    };
    let help = "send it as text, as an array of texts in the query, or in the body";
    lint.report(node, node.at("schema"), message, help);
}

/// The parameters of a path and those that it declares are the same.
fn template(lint: &mut Lint<'_>, operation: &Node<'_>) {
    let path = path_of(operation);
    let parameters = lint.parameters(operation);
    let in_path = parameters.iter().filter(|(_, parameter)| parameter["in"] == "path");
    let declared: Vec<&str> = in_path.filter_map(|(_, parameter)| parameter["name"].as_str()).collect();
    let named: Vec<&str> = names(&path).collect();
    for name in named.iter().filter(|name| !declared.contains(name)) {
        let message = format!("the path has `{{{name}}}`, and the operation no path parameter of that name");
        let help = format!("add `{{ name: {name}, in: path, required: true, schema: … }}` to its parameters");
        lint.report(operation, operation.pointer.clone(), message, help);
    }
    for name in declared.iter().filter(|name| !named.contains(name)) {
        let message = format!("the path `{path}` has no parameter `{name}`");
        let help = format!("write `{{{name}}}` as a segment of the path, or remove the parameter");
        lint.report(operation, operation.at("parameters"), message, help);
    }
}

fn path_of(operation: &Node<'_>) -> String {
    unescaped(operation.pointer.trim_start_matches("/paths/").split('/').next().unwrap_or_default())
}

/// The names in braces.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

/// The server has a type for each object of a request, which holds only valid values and is read by its name.
pub(super) fn objects(lint: &mut Lint<'_>) {
    // Other rules report a document that cannot be read as a contract.
    let Ok(contract) = Contract::read(lint.document) else { return };
    let mut answered: BTreeMap<&str, &str> = BTreeMap::new();
    for operation in &contract.operations {
        for response in operation.responses() {
            for object in response.content.iter().flat_map(|media| media.schema.all()).filter(is_object) {
                answered.entry(&object.pointer).or_insert(&operation.id);
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
        for Schema { pointer, name, .. } in body.schema.all().into_iter().filter(is_object) {
            match (name, answered.get(pointer.as_str())) {
                (None, _) => {
                    let help = "move it to components/schemas and reference it";
                    lint.report(&node, pointer.clone(), "an object of a request has no name", help);
                }
                (Some(name), Some(other)) => {
                    let message = format!("`{name}` is in a request, and in a response of `{other}`");
                    let help = "write one schema for requests and one for responses";
                    lint.report(&node, pointer.clone(), message, help);
                }
                (Some(_), None) => {}
            }
        }
    }
}

fn is_object(schema: &&Schema) -> bool {
    matches!(schema.kind, Kind::Object { .. })
}
