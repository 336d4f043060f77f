//! Texts that contradict the limits, defaults and values beside them.
//!
//! A clause is quoted to users by the suite, the server and the docs, so that its text must say what the keywords say that
//! cite it: every limit, default and value of a request that comes from the clause stands in its text, and the text has no
//! other number.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;
use serde_json::Value;

use super::Lint;
use crate::{
    document::join,
    model::Limit,
    table::{self, Direction, Operation, Part, Row},
};

/// A word, or a number that is no part of the name of a standard, of an address or of a date.
#[expect(clippy::unwrap_used, reason = "a constant expression, which every test of the lint compiles")]
static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"(?:RFC )?[^\s=`,;:()\[\]{}"'!?]+"#).unwrap());

/// The words of a text, or of a value.
fn words(text: &str) -> BTreeSet<&str> {
    WORD.find_iter(text).map(|word| word.as_str().trim_end_matches('.')).collect()
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What the text of a clause must repeat of a keyword: the numbers of a limit, a default that stands for itself, the values of
/// an enum or the ends of a range of numbers.
fn said(row: &Row, has_separators: bool) -> Vec<String> {
    let is_number = |text: &String| text.parse::<i64>().is_ok();
    match (row.keyword.as_str(), &row.said.value) {
        ("enum", Value::Array(values)) => {
            let values: Vec<String> = values.iter().map(shown).collect();
            if !values.iter().all(is_number) {
                return values;
            }
            let numbers = || values.iter().filter_map(|value| value.parse::<i64>().ok());
            numbers().min().into_iter().chain(numbers().max()).map(|end| end.to_string()).collect()
        }
        ("default", Value::String(text)) if has_separators || is_number(text) => Vec::new(),
        ("default", Value::Bool(_)) | ("enum", _) => Vec::new(),
        (_, value) => vec![shown(value)],
    }
}

/// Whether the text of a clause that the row cites must say its value.
fn is_limit(row: &Row) -> bool {
    let keyword = row.keyword.as_str();
    Limit::named(keyword).is_some() || keyword.starts_with("x-port ") || matches!(keyword, "default" | "enum")
}

/// The limits, defaults and values of a place of a request; none of the token.
fn limits(place: &Part) -> impl Iterator<Item = &Row> {
    let is_sent = place.direction == Direction::Request && !place.has("x-credential");
    place.rows.iter().filter(move |row| is_sent && is_limit(row))
}

/// Judges a document that can be read; of another one, other rules report the problems.
pub(super) fn run(lint: &mut Lint<'_>) {
    let operations = table::operations(lint.document);
    lint.rule = "text";
    for (at, clause) in lint.document.items("/x-clauses") {
        let (Some(id), Some(text)) = (clause["id"].as_str(), clause["text"].as_str()) else { continue };
        for wrong in contradictions(id, text, &operations) {
            let message = format!("the text of `{id}` {wrong}");
            lint.report(join(&at, "text"), message, "change the text, or the keyword that cites the clause");
        }
    }
    lint.rule = "uncited-limit";
    uncited_limits(lint, &operations);
}

/// What is wrong with the text of a clause.
fn contradictions(id: &str, text: &str, operations: &[Operation]) -> Vec<String> {
    let (mut wrong, says) = (Vec::new(), words(text));
    let cites = |row: &&Row| row.clauses.iter().any(|clause| clause == id);
    let mut allowed = String::new();
    let mut is_of_limit = false;
    for place in operations.iter().flat_map(|operation| &operation.parts) {
        let mut cited = place.rows.iter().filter(|row| cites(row) && !row.is_text()).peekable();
        if cited.peek().is_none() {
            continue;
        }
        is_of_limit |= cited.any(is_limit);
        // A text may also say the status of a response, and what other keywords say of the same value.
        let beside = place.rows.iter().filter(|row| !row.is_text());
        allowed.extend(beside.map(|row| format!("{} {} ", place.at, row.said.value)));
        let has_separators =
            place.rows.iter().any(|row| row.keyword.starts_with("x-separators ") && cites(&row));
        for row in limits(place).filter(cites) {
            for missing in said(row, has_separators).iter().filter(|word| !says.contains(word.as_str())) {
                wrong.push(format!("does not say `{}: {missing}` of {}", row.keyword, place.at));
            }
        }
    }
    let allowed = words(&allowed);
    // Without a keyword there is nothing that a number could contradict.
    for number in says.iter().filter(|word| is_of_limit && word.parse::<i64>().is_ok()) {
        if !allowed.contains(*number) {
            wrong.push(format!("says {number}, but no keyword that cites the clause has this number"));
        }
    }
    wrong
}

/// A limit of a request is a rule of the contract or a decision of this repository, and cites which. It may inherit the clause of
/// the body around it where the text of that says the limit.
fn uncited_limits(lint: &mut Lint<'_>, operations: &[Operation]) {
    let clauses = lint.document.items("/x-clauses");
    let text = |id: &String| {
        clauses.iter().find(|(_, one)| one["id"] == **id).and_then(|(_, one)| one["text"].as_str())
    };
    let mut reported = BTreeSet::new();
    for operation in operations {
        let body =
            operation.parts.iter().find(|place| place.at == "body").and_then(|body| body.get("content", ""));
        for place in &operation.parts {
            for row in limits(place) {
                let is_inherited =
                    place.at.starts_with("body ") && body.is_some_and(|body| body.clauses == row.clauses);
                let is_said = |id: &String| {
                    let says = words(text(id).unwrap_or_default());
                    said(row, false).iter().all(|word| says.contains(word.as_str()))
                };
                let is_uncited = row.clauses.is_empty() || is_inherited && !row.clauses.iter().any(is_said);
                let schema = row.said.pointer.rsplit_once('/').map(|(schema, _)| schema.to_owned());
                if is_uncited && reported.insert(schema) {
                    let message = format!("`{}` of {} cites no clause", row.keyword, place.at);
                    let help = "add `x-clause` with the clause that states it, or with unspecified behaviour for a limit of this repository";
                    lint.report(&row.said.pointer, message, help);
                }
            }
        }
    }
}
