//! Rules about operations: ids, retries, security and responses.

use serde_json::Value;

use super::{Lint, Node, Part, keywords::suggestion};
use crate::{
    document::join,
    model::{Method, Retry},
};

/// Names in generated code are made from `operationId`.
pub(super) fn ids(lint: &mut Lint<'_>) {
    let nodes = lint.parts(Part::Operation);
    for (index, node) in nodes.iter().enumerate() {
        let Some(id) = node.text("operationId") else {
            let help = "add `operationId: …` in camelCase; generated code is named after it";
            lint.report(node, node.pointer.clone(), "missing `operationId`", help);
            continue;
        };
        if let Some(first) = nodes[..index].iter().find(|other| other.text("operationId") == Some(id)) {
            let line = lint.line(&first.at("operationId"));
            let message = format!("duplicate operationId `{id}`, used first in line {line}");
            lint.report(node, node.at("operationId"), message, "give each operation a unique id");
        }
        let plain =
            id.starts_with(|c: char| c.is_ascii_lowercase()) && id.chars().all(|c| c.is_ascii_alphanumeric());
        if !plain {
            let help = "start with a lower-case letter and use ASCII letters and digits only";
            lint.report(node, node.at("operationId"), format!("invalid operationId `{id}`"), help);
        }
    }
}

pub(super) fn retries(lint: &mut Lint<'_>) {
    for operation in lint.parts(Part::Operation) {
        let help = "write `x-retry: safe` if repeating it changes nothing, `idempotency-key` if a parameter with \
                    `x-falls-back-to` makes the repetition the same call, `never` otherwise";
        let Some(class) = operation.text("x-retry") else {
            if !operation.has("x-retry") {
                lint.report(&operation, operation.pointer.clone(), "missing `x-retry`", help);
            }
            continue;
        };
        if !Retry::CLASSES.contains(&class) {
            let message =
                format!("`x-retry`: expected one of {}, found `{class}`", Retry::CLASSES.join(", "));
            lint.report(&operation, operation.at("x-retry"), message, help);
        }
        let parameters = lint.parameters(&operation);
        let has_key = parameters.iter().any(|(_, parameter)| parameter.get("x-falls-back-to").is_some());
        if class == "idempotency-key" && !has_key {
            let message = "`x-retry: idempotency-key` without a parameter that carries the key";
            lint.report(&operation, operation.at("x-retry"), message, help);
        }
    }
}

pub(super) fn security(lint: &mut Lint<'_>) {
    for operation in lint.parts(Part::Operation) {
        let at = operation.at("security");
        let list = operation.items("security");
        if list.is_empty() {
            let help = "add `security:` with one scheme per item";
            lint.report(&operation, operation.pointer.clone(), "missing `security`", help);
        }
        for (index, requirement) in list.iter().enumerate() {
            let here = join(&at, &index.to_string());
            let names: Vec<_> = requirement.as_object().into_iter().flatten().map(|(name, _)| name).collect();
            let [name] = names.as_slice() else {
                let help = "write one scheme per item, such as `- apiKeyQuery: []`";
                lint.report(&operation, here, "an item of `security` must name exactly one scheme", help);
                continue;
            };
            if lint.document.get(&join("/components/securitySchemes", name)).is_none() {
                let schemes = lint.document.members("/components/securitySchemes");
                let help = suggestion(
                    name,
                    schemes.iter().map(|(scheme, ..)| *scheme),
                    "define it under components/securitySchemes",
                );
                lint.report(&operation, here, format!("unknown security scheme `{name}`"), help);
            }
        }
    }
    for scheme in lint.parts(Part::SecurityScheme) {
        let sendable = match (scheme.text("type"), scheme.text("in"), scheme.text("scheme")) {
            (Some("apiKey"), Some("query" | "header"), None) => scheme.text("name").is_some(),
            (Some("http"), None, Some("bearer")) => scheme.text("name").is_none(),
            _ => false,
        };
        if !sendable {
            let help = "write an apiKey with `in: query` or `in: header` and a name, or `type: http, scheme: bearer`";
            lint.report(&scheme, scheme.pointer.clone(), "unsupported security scheme", help);
        }
    }
}

const JSON: &str = "application/json";

/// The statuses of a success; the last one has no body.
const SUCCESSES: [&str; 4] = ["200", "201", "202", EMPTY];
const EMPTY: &str = "204";

/// progenitor supports one success type and one error type per operation, and panics on more.
pub(super) fn responses(lint: &mut Lint<'_>) {
    for operation in lint.parts(Part::Operation) {
        let at = operation.at("responses");
        let mut successes = Vec::new();
        let mut errors: Vec<(String, &Value)> = Vec::new();
        for (status, response) in operation.entries("responses") {
            let here = join(&at, status);
            if status == "default" || status.starts_with(['4', '5']) && is_status(status) {
                errors.push((here, lint.document.resolve(response)));
            } else if SUCCESSES.contains(&status) {
                successes.push((here, lint.document.resolve(response)));
            } else {
                let message = format!("unsupported status `{status}`");
                let help = format!("write {}, a status of 4xx or 5xx, or `default`", SUCCESSES.join(", "));
                lint.report(&operation, here, message, help);
            }
        }
        match successes.as_slice() {
            [] => lint.report(&operation, at, "missing success response", "add the response `200`"),
            [(here, success)] if here.ends_with(EMPTY) => {
                if success.get("content").is_some() {
                    let help = "remove `content`, or use status 200";
                    let message = "a response with status 204 has no body";
                    lint.report(&operation, join(here, "content"), message, help);
                }
            }
            [(here, success)] => {
                needs_json(lint, &operation, here, success);
                let is_text = success.get("content").and_then(|content| content.get("text/plain")).is_some();
                if is_text && !here.ends_with("200") {
                    let help = "send text with status 200 only";
                    lint.report(&operation, here.clone(), "text/plain under another status than 200", help);
                }
            }
            [_, (second, _), ..] => {
                let help = "progenitor panics on two success types: keep one, or split the operation";
                lint.report(&operation, second.clone(), "second success response", help);
            }
        }
        for (here, error) in &errors {
            needs_json(lint, &operation, here, error);
        }
        let mut schemas = errors.iter().filter_map(|(here, error)| Some((here, json(error)?.get("schema")?)));
        let Some((_, first)) = schemas.next() else { continue };
        let others: Vec<_> =
            schemas.filter(|(_, schema)| *schema != first).map(|(here, _)| here.clone()).collect();
        for here in others {
            let help =
                "progenitor panics on two error types: give every error of the operation the same schema";
            lint.report(&operation, here, "the schema of this error differs from that of the first", help);
        }
    }
    for operation in lint.parts(Part::Operation) {
        let method = operation.pointer.rsplit('/').next().unwrap_or_default();
        let takes_body = Method::ALL.iter().any(|one| one.key() == method && one.takes_body());
        if operation.has("requestBody") && !takes_body {
            let message = format!("a request body of {} has no meaning in HTTP", method.to_uppercase());
            let help = "send it in the query, or with post, put or patch";
            lint.report(&operation, operation.at("requestBody"), message, help);
        }
    }
    for body in lint.parts(Part::RequestBody) {
        if !matches!(body.entries("content").collect::<Vec<_>>().as_slice(), [(JSON, _)]) {
            let help = "keep only `application/json`";
            let message = "expected a request body with `application/json` only";
            lint.report(&body, body.pointer.clone(), message, help);
        }
    }
}

fn needs_json(lint: &mut Lint<'_>, operation: &Node<'_>, at: &str, response: &Value) {
    if json(response).is_none() {
        let help = "add `application/json` with a schema; progenitor panics on a bodyless response beside a typed one";
        lint.report(operation, at, "missing `application/json` in the response", help);
    }
    for name in response.get("content").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name)
    {
        if !matches!(name.as_str(), JSON | "text/plain") {
            let message = format!("unsupported media type {name}");
            lint.report(operation, at, message, "use application/json, or text/plain beside it");
        }
    }
}

fn json(response: &Value) -> Option<&Value> {
    response.get("content")?.get(JSON)
}

fn is_status(status: &str) -> bool {
    status.len() == 3 && status.chars().all(|c| c.is_ascii_digit())
}
