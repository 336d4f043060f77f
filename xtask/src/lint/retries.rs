//! Whether an operation may be repeated.

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule = Rule {
    id: "retry",
    rejects: "an operation that does not say whether it may be repeated, or that cannot be repeated as it says",
    run,
};

/// What `x-retry` may say.
pub(crate) const CLASSES: [&str; 3] = ["safe", "idempotency-key", "never"];

fn run(lint: &mut Lint<'_>) {
    for operation in lint.parts(Part::Operation) {
        let help = "write `x-retry: safe` if repeating it changes nothing, `idempotency-key` if a parameter with \
                    `x-falls-back-to` makes the repetition the same call, `never` otherwise";
        let Some(class) = operation.text("x-retry") else {
            if operation.value.get("x-retry").is_none() {
                lint.report(&operation, operation.pointer.clone(), "missing `x-retry`", help);
            }
            continue;
        };
        if !CLASSES.contains(&class) {
            let message = format!("`x-retry`: expected one of {}, found `{class}`", CLASSES.join(", "));
            lint.report(&operation, operation.at("x-retry"), message, help);
        }
        let parameters = operation.value.get("parameters").and_then(serde_json::Value::as_array);
        let has_key = parameters
            .into_iter()
            .flatten()
            .any(|parameter| lint.document.resolve(parameter).get("x-falls-back-to").is_some());
        if class == "idempotency-key" && !has_key {
            let message = "`x-retry: idempotency-key` without a parameter that carries the key";
            lint.report(&operation, operation.at("x-retry"), message, help);
        }
    }
}
