//! Deprecated operations: since when, until when, and what replaces them.

use jiff::civil::Date;

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule = Rule {
    id: "deprecation",
    rejects: "a deprecated operation without its dates, or dates that contradict each other",
    run,
};

fn run(lint: &mut Lint<'_>) {
    let ids: Vec<String> = lint
        .parts(Part::Operation)
        .iter()
        .filter_map(|operation| operation.text("operationId").map(str::to_owned))
        .collect();
    for operation in lint.parts(Part::Operation) {
        let is_deprecated = operation.value.get("deprecated") == Some(&serde_json::Value::Bool(true));
        let mut dates = Vec::new();
        for keyword in ["x-deprecated-since", "x-sunset"] {
            let help = format!("write `{keyword}: YYYY-MM-DD`");
            match operation.text(keyword) {
                None if is_deprecated && operation.value.get(keyword).is_none() => {
                    let message = format!("missing `{keyword}` of a deprecated operation");
                    lint.report(&operation, operation.pointer.clone(), message, help);
                }
                None => {}
                Some(text) => match text.parse::<Date>() {
                    Ok(date) => dates.push(date),
                    Err(_) => {
                        let message = format!("`{keyword}`: expected a date, found `{text}`");
                        lint.report(&operation, operation.at(keyword), message, help);
                    }
                },
            }
        }
        if let [since, sunset] = dates.as_slice()
            && since >= sunset
        {
            let message = format!("the sunset {sunset} is not after the deprecation {since}");
            lint.report(&operation, operation.at("x-sunset"), message, "write a later date");
        }
        for keyword in ["x-deprecated-since", "x-sunset", "x-replaced-by"] {
            if operation.value.get(keyword).is_some() && !is_deprecated {
                let message = format!("`{keyword}` without `deprecated: true`");
                lint.report(
                    &operation,
                    operation.at(keyword),
                    message,
                    "add `deprecated: true`, or remove it",
                );
            }
        }
        let own = operation.text("operationId");
        if let Some(other) = operation.text("x-replaced-by")
            && (Some(other) == own || !ids.iter().any(|id| id == other))
        {
            let message = format!("unknown operation `{other}` in `x-replaced-by`");
            lint.report(
                &operation,
                operation.at("x-replaced-by"),
                message,
                "name the id of another operation",
            );
        }
    }
}
