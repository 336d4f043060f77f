//! Responses: progenitor supports one success type and one error type per operation, and panics on more.

use serde_json::Value;

use super::{Lint, Node, Part, Rule};
use crate::{document::join, model::Method};

pub(super) const RULE: Rule = Rule {
    id: "response",
    rejects: "an operation without exactly one success response and one error schema, or a body where HTTP has none",
    run,
};

const JSON: &str = "application/json";

/// The statuses of a success; the last one has no body.
const SUCCESSES: [&str; 4] = ["200", "201", "202", EMPTY];
const EMPTY: &str = "204";

fn run(lint: &mut Lint<'_>) {
    for operation in lint.parts(Part::Operation) {
        let at = operation.at("responses");
        let mut successes = Vec::new();
        let mut errors: Vec<(String, &Value)> = Vec::new();
        for (status, response) in
            operation.value.get("responses").and_then(Value::as_object).into_iter().flatten()
        {
            let here = join(&at, status);
            if status == "default" || status.starts_with(['4', '5']) && is_status(status) {
                errors.push((here, lint.document.resolve(response)));
            } else if SUCCESSES.contains(&status.as_str()) {
                successes.push((here, lint.document.resolve(response)));
            } else {
                let message = format!("unsupported status `{status}`");
                let help = format!("write {}, a status of 4xx or 5xx, or `default`", SUCCESSES.join(", "));
                lint.report(&operation, here, message, help);
            }
        }
        match successes.as_slice() {
            [] => lint.report(&operation, at, "missing success response", "add the response `200`"),
            [(here, success)] if here.ends_with(EMPTY) => has_no_content(lint, &operation, here, success),
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
        if operation.value.get("requestBody").is_some() && !takes_body {
            let message = format!("a request body of {} has no meaning in HTTP", method.to_uppercase());
            let help = "send it in the query, or with post, put or patch";
            lint.report(&operation, operation.at("requestBody"), message, help);
        }
    }
    for body in lint.parts(Part::RequestBody) {
        let types: Vec<_> =
            body.value.get("content").and_then(Value::as_object).into_iter().flatten().collect();
        if !matches!(types.as_slice(), [(name, _)] if *name == JSON) {
            let help = "keep only `application/json`";
            lint.report(
                &body,
                body.pointer.clone(),
                "expected a request body with `application/json` only",
                help,
            );
        }
    }
}

fn has_no_content(lint: &mut Lint<'_>, operation: &Node<'_>, at: &str, response: &Value) {
    if response.get("content").is_some() {
        let help = "remove `content`, or use status 200";
        lint.report(operation, join(at, "content"), "a response with status 204 has no body", help);
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
