//! Texts that contradict the limits, defaults and values beside them.
//!
//! A clause is quoted to users by the suite, the server and the docs, so that its text must say what the keywords say that
//! cite it: every limit, default and value of a request that comes from the clause stands in its text, and the text has no
//! other number.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;
use serde_json::Value;

use super::{Lint, Part};
use crate::{
    document::join,
    model::{Constraint, Contract, LIMITS, Side},
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
fn said(constraint: &Constraint, has_separators: bool) -> Vec<String> {
    let is_number = |text: &String| text.parse::<i64>().is_ok();
    match (constraint.keyword, &constraint.value) {
        ("enum", Value::Array(values)) => {
            let values: Vec<String> = values.iter().map(shown).collect();
            if !values.iter().all(is_number) {
                return values;
            }
            let numbers = || values.iter().filter_map(|value| value.parse::<i64>().ok());
            numbers().min().into_iter().chain(numbers().max()).map(|end| end.to_string()).collect()
        }
        ("default", value @ Value::Number(_)) => vec![shown(value)],
        ("default", Value::String(text)) if !has_separators && !is_number(text) => vec![text.clone()],
        ("x-port", Value::Object(ports)) => ports.values().map(shown).collect(),
        (keyword, value) if LIMITS.contains(&keyword) => vec![shown(value)],
        _ => Vec::new(),
    }
}

fn is_limit(keyword: &str) -> bool {
    LIMITS.contains(&keyword) || matches!(keyword, "x-port" | "default" | "enum")
}

/// Whether a text must repeat it.
fn is_of_request(constraint: &Constraint) -> bool {
    constraint.side == Side::Request && !constraint.credential && is_limit(constraint.keyword)
}

/// A limit, default or value of a request that the text of its clause does not say, or a number in a text that no keyword has.
pub(super) fn run(lint: &mut Lint<'_>) {
    // Other rules report a document that cannot be read as a contract.
    let constraints =
        Contract::read(lint.document).map(|contract| contract.constraints()).unwrap_or_default();
    for clause in lint.parts(Part::Clause) {
        let (Some(id), Some(text)) = (clause.text("id"), clause.text("text")) else { continue };
        let cites = |one: &&Constraint| one.clauses.iter().any(|clause| clause == id);
        for wrong in contradictions(text, &constraints.iter().filter(cites).collect::<Vec<_>>(), &constraints)
        {
            let message = format!("the text of `{id}` {wrong}");
            lint.report(clause.at("text"), message, "change the text, or the keyword that cites the clause");
        }
    }
}

/// What is wrong with the text of a clause, given the constraints that cite it and all of them.
fn contradictions(text: &str, cited: &[&Constraint], all: &[Constraint]) -> Vec<String> {
    let mut wrong = Vec::new();
    let says = words(text);
    for one in cited.iter().filter(|one| is_of_request(one)) {
        let has_separators = cited.iter().any(|other| other.at == one.at && other.keyword == "x-separators");
        for missing in said(one, has_separators).iter().filter(|word| !says.contains(word.as_str())) {
            wrong.push(format!("does not say `{}: {missing}` of {}", one.keyword, one.at));
        }
    }
    // A text may also say the status of a response, and what other keywords say of the same value.
    let is_beside = |one: &&Constraint| {
        cited.iter().any(|cited| (&cited.operation, &cited.at) == (&one.operation, &one.at))
    };
    let allowed: String =
        all.iter().filter(is_beside).map(|one| format!("{} {} ", one.at, one.value)).collect();
    let allowed = words(&allowed);
    // Without a keyword there is nothing that a number could contradict.
    if cited.iter().any(|one| is_limit(one.keyword)) {
        for number in says.iter().filter(|word| word.parse::<i64>().is_ok() && !allowed.contains(*word)) {
            wrong.push(format!("says {number}, but no keyword that cites the clause has this number"));
        }
    }
    wrong
}

/// A limit of a request is a rule of the contract or a decision of this repository, and cites which. It may inherit the clause of
/// the body around it where the text of that says the limit.
pub(super) fn uncited_limits(lint: &mut Lint<'_>) {
    let Ok(contract) = Contract::read(lint.document) else { return };
    let mut reported = BTreeSet::new();
    for one in contract.constraints().iter().filter(|one| is_of_request(one)) {
        let operation = contract.operations.iter().find(|operation| operation.id == one.operation);
        let of_body =
            operation.and_then(|operation| operation.body.as_ref()).map(|body| body.citation.any.as_slice());
        let is_inherited = one.at.starts_with("body ") && of_body == Some(&one.clauses);
        let is_said = |id: &String| {
            let text =
                contract.clauses.iter().find(|clause| clause.id == *id).map_or("", |clause| &clause.text);
            said(one, false).iter().all(|word| words(text).contains(word.as_str()))
        };
        let is_uncited = one.clauses.is_empty() || is_inherited && !one.clauses.iter().any(is_said);
        if is_uncited && reported.insert(one.pointer.clone()) {
            let message = format!("`{}` of {} cites no clause", one.keyword, one.at);
            let help = "add `x-clause` with the clause that states it, or with unspecified behaviour for a limit of this repository";
            lint.report(join(&one.pointer, one.keyword), message, help);
        }
    }
}
