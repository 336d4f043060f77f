//! Responses: progenitor supports one success type and one error type per operation, and panics on more.

use serde_json::Value;

use super::{Lint, Node, Part, Rule};
use crate::document::join;

pub(super) const RULE: Rule = Rule {
    id: "response",
    rejects: "an operation without exactly one success response and one error schema",
    run,
};

const JSON: &str = "application/json";

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
            } else if status.starts_with('2') && is_status(status) {
                successes.push((here, lint.document.resolve(response)));
            } else {
                let message = format!("unsupported status `{status}`");
                lint.report(&operation, here, message, "write a status of 2xx, 4xx or 5xx, or `default`");
            }
        }
        match successes.as_slice() {
            [] => lint.report(&operation, at, "missing success response", "add the response `200`"),
            [(here, success)] => needs_json(lint, &operation, here, success),
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
