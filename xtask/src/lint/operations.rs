//! Rules about operations: parameters, responses, and extensions that name one of these.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Lint, Node};
use crate::{
    document::join,
    model::{Contract, Kind, Schema},
};

/// The types that are sent as plain text.
const SCALARS: [&str; 3] = ["string", "integer", "boolean"];

/// An unsupported parameter, or one that is required and replaceable.
pub(super) fn parameters(lint: &mut Lint<'_>) {
    let is_parameter = |node: &&Node<'_>| node.has("schema") && node.has("in");
    let parameters: Vec<_> = lint.nodes.iter().filter(is_parameter).cloned().collect();
    for node in &parameters {
        let schema = lint.schema(node.value).cloned().unwrap_or_default();
        let kind = |schema: &Value| schema.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let item = schema.get("items").map(|items| kind(lint.document.resolve(items)));
        let is_sendable = match (kind(&schema).as_str(), node.text("in")) {
            ("array", Some("query")) => item.is_none_or(|item| SCALARS.contains(&item.as_str())),
            ("array" | "object", _) => false,
            _ => true,
        };
        if !is_sendable {
            let help = "send it as text, as an array of texts in the query, or in the body";
            lint.report(node.at("schema"), format!("unsupported parameter type {}", kind(&schema)), help);
        }
        let falls_back = |other: &Node<'_>| {
            other.has("x-falls-back-to") && other.text("x-falls-back-to") == node.text("name")
        };
        let is_fallback = node.text("in") == Some("header") && parameters.iter().any(falls_back);
        for (is_replaceable, why) in [
            (is_fallback, "it replaces a parameter that is absent"),
            (schema.get("default").is_some(), "it has a default"),
        ] {
            if is_replaceable && node.is_true("required") {
                let message = format!("`required: true` contradicts the rest: {why}");
                lint.report(node.at("required"), message, "leave one of the two out");
            }
        }
    }
}

/// progenitor supports one success type and one error type per operation, and panics on more.
pub(super) fn responses(lint: &mut Lint<'_>) {
    for operation in lint.operations() {
        let at = operation.at("responses");
        let responses = operation.entries("responses");
        let responses = responses.map(|(status, response)| (status, lint.document.resolve(response)));
        let (successes, errors): (Vec<_>, Vec<_>) =
            responses.partition(|(status, _)| status.starts_with('2'));
        if successes.is_empty() {
            lint.report(&at, "missing success response", "add the response `200`");
        }
        for (second, _) in successes.iter().skip(1) {
            let help = "progenitor panics on two success types: keep one, or split the operation";
            lint.report(join(&at, second), "second success response", help);
        }
        for (status, response) in successes.iter().chain(&errors) {
            let here = join(&at, status);
            let media =
                |name: &str| response.get("content").is_some_and(|content| content.get(name).is_some());
            if *status == "204" && response.get("content").is_some() {
                let help = "remove `content`, or use status 200";
                lint.report(join(&here, "content"), "a response with status 204 has no body", help);
            } else if *status != "204" && response.get("content").is_none() {
                let help = "add `application/json` with a schema; progenitor panics on a bodyless response beside a typed one";
                lint.report(&here, "missing `application/json` in the response", help);
            }
            if *status != "200" && media("text/plain") {
                let message = "text/plain under another status than 200";
                lint.report(&here, message, "send text with status 200 only");
            }
        }
        let schema = |response: &Value| response.pointer("/content/application~1json/schema").cloned();
        let mut schemas = errors.iter().filter_map(|(status, error)| Some((status, schema(error)?)));
        let Some((_, first)) = schemas.next() else { continue };
        for (status, _) in schemas.filter(|(_, other)| *other != first) {
            let message = "the schema of this error differs from that of the first";
            let help =
                "progenitor panics on two error types: give every error of the operation the same schema";
            lint.report(join(&at, status), message, help);
        }
    }
}

/// The server has a type for each object of a request, which holds only valid values and is read by its name. The suite allows
/// further properties in objects of a response.
pub(super) fn objects(lint: &mut Lint<'_>) {
    // Other rules report a document that cannot be read as a contract.
    let Ok(contract) = Contract::read(lint.document) else { return };
    let is_object = |schema: &&Schema| schema.kind == Kind::Object;
    let mut answered: BTreeMap<&str, &str> = BTreeMap::new();
    for operation in &contract.operations {
        let contents = operation.responses().flat_map(|response| &response.content);
        for object in contents.flat_map(|media| media.schema.all()).filter(is_object) {
            answered.entry(&object.pointer).or_insert(&operation.id);
            let closed = join(&object.pointer, "additionalProperties");
            if lint.document.get(&closed).is_some() {
                let message = "`additionalProperties` is not supported in a response";
                let help = "remove it: a response may have further properties";
                lint.report(closed, message, help);
            }
        }
    }
    for body in contract.operations.iter().filter_map(|operation| operation.body.as_ref()) {
        for Schema { pointer, name, .. } in body.schema.all().into_iter().filter(is_object) {
            match (name, answered.get(pointer.as_str())) {
                (None, _) => {
                    let help = "move it to components/schemas and reference it";
                    lint.report(pointer, "an object of a request has no name", help);
                }
                (Some(name), Some(other)) => {
                    let message = format!("`{name}` is in a request, and in a response of `{other}`");
                    lint.report(pointer, message, "write one schema for requests and one for responses");
                }
                (Some(_), None) => {}
            }
        }
    }
}

/// Extensions that name a parameter, a property or a value.
pub(super) fn extensions(lint: &mut Lint<'_>) {
    for operation in lint.operations() {
        let parameters: Vec<&Value> = lint.parameters(&operation).into_iter().map(|(_, one)| one).collect();
        rules(lint, &operation, &parameters);
        let has_key = parameters.iter().any(|parameter| parameter.get("x-falls-back-to").is_some());
        if operation.text("x-retry") == Some("idempotency-key") && !has_key {
            let message = "`x-retry: idempotency-key` without a parameter that carries the key";
            lint.report(operation.at("x-retry"), message, "add `x-falls-back-to` to it, or write `never`");
        }
        for parameter in &parameters {
            parameter_extensions(lint, &operation, parameter, &parameters);
        }
    }
    for schema in lint.nodes.clone() {
        let items = schema.value.get("items").map(|items| lint.document.resolve(items));
        if schema.has("x-max-distinct") && items.is_none_or(|items| items.get("x-format").is_none()) {
            let message = "`x-max-distinct` needs items with an `x-format`";
            lint.report(schema.at("x-max-distinct"), message, "add `x-format` to the items");
        }
        if schema.has("x-separators") {
            separators(lint, &schema);
        }
    }
}

fn parameter<'a>(parameters: &[&'a Value], location: &str, name: &str) -> Option<&'a Value> {
    parameters.iter().find(|one| one["in"] == location && one["name"] == name).copied()
}

/// What the `x-rules` of an operation name.
fn rules(lint: &mut Lint<'_>, operation: &Node<'_>, parameters: &[&Value]) {
    let body = operation.value.get("requestBody").map(|body| lint.document.resolve(body));
    let schema = body.and_then(|body| body.pointer("/content/application~1json/schema"));
    let properties = schema.and_then(|schema| lint.document.resolve(schema).get("properties")).cloned();
    for (index, rule) in operation.items("x-rules").iter().enumerate() {
        let at = join(&operation.at("x-rules"), &index.to_string());
        let text = |pointer: &str| rule.pointer(pointer).and_then(Value::as_str);
        for name in ["/parameter", "/when/parameter"].into_iter().filter_map(text) {
            if parameter(parameters, "query", name).is_none() {
                let message = format!("unknown query parameter `{name}` in the rule");
                lint.report(&at, message, "name a query parameter of this operation");
            }
        }
        let condition = text("/when/parameter").and_then(|name| parameter(parameters, "query", name));
        let values = condition.and_then(|one| lint.schema(one)).and_then(|schema| schema["enum"].as_array());
        if let (Some(values), Some(equals)) = (values, rule.pointer("/when/equals"))
            && !values.contains(equals)
        {
            let message =
                format!("the condition compares with {equals}, which is not a value of its parameter");
            lint.report(join(&at, "when"), message, "name a value of the parameter's enum");
        }
        for name in ["/property", "/bound"].into_iter().filter_map(text) {
            let property = properties.as_ref().and_then(|properties| properties.get(name));
            let format = property.map(|property| &lint.document.resolve(property)["format"]);
            if format.is_none_or(|format| format != "date-time") {
                let message = format!("unknown date-time property `{name}` in the rule");
                lint.report(&at, message, "name a property with `format: date-time`");
            }
        }
    }
}

fn parameter_extensions(lint: &mut Lint<'_>, operation: &Node<'_>, own: &Value, parameters: &[&Value]) {
    let name = own["name"].as_str().unwrap_or_default();
    let at = operation.at("parameters");
    for (keyword, location) in [("x-alias-of", "query"), ("x-falls-back-to", "header")] {
        let Some(other) = own.get(keyword).and_then(Value::as_str) else { continue };
        if other == name || parameter(parameters, location, other).is_none() {
            let message = format!("unknown {location} parameter `{other}` in `{keyword}` of `{name}`");
            lint.report(&at, message, format!("name another {location} parameter of this operation"));
        }
    }
    let schemes = operation.items("security").iter().filter_map(Value::as_object).flatten();
    let mut schemes =
        schemes.filter_map(|(scheme, _)| lint.document.get(&join("/components/securitySchemes", scheme)));
    let carries_token = schemes.any(|scheme| scheme.get("in") == own.get("in") && scheme["name"] == name);
    if carries_token != (own.get("x-credential") == Some(&Value::Bool(true))) {
        let message = format!("`x-credential` of `{name}` does not match `security`");
        let help = "set `x-credential: true` exactly on the parameters in which `security` sends the token";
        lint.report(at, message, help);
    }
}

/// Each value of the enum has a text, or a `required-when` rule for the parameter that has it.
fn separators(lint: &mut Lint<'_>, schema: &Node<'_>) {
    let texts: Vec<&str> = schema.entries("x-separators").map(|(value, _)| value).collect();
    let values: Vec<&str> = schema.items("enum").iter().filter_map(Value::as_str).collect();
    let conditions: Vec<&str> = lint.nodes.iter().filter_map(|node| node.text("equals")).collect();
    for value in texts.iter().filter(|value| !values.contains(value)) {
        let message = format!("unknown value {value:?} in `x-separators`");
        lint.report(schema.at("x-separators"), message, "remove it, or add the value to the enum");
    }
    for value in values.iter().filter(|value| !texts.contains(value) && !conditions.contains(value)) {
        let message =
            format!("missing text of {value:?} in `x-separators`, without a `required-when` rule for it");
        lint.report(schema.at("x-separators"), message, "add its text, or a rule");
    }
}
