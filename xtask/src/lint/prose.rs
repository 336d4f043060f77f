//! Texts that contradict the limits, defaults and values beside them.
//!
//! A clause is quoted to users by the suite, the server and the docs, so that its text must say what the keywords say that
//! cite it: every limit, default and value of a request that comes from the clause stands in its text, and the text has no
//! other number and no other value in a list. In descriptions, phrases such as `at most 32` and `from 1 to 100` are compared.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Lint, Node, Part, words::Words};
use crate::{
    document::values,
    model::{Constraint, Contract, LIMITS, Operation, Side},
};

pub(super) fn run(lint: &mut Lint<'_>) {
    // Other rules report a document that cannot be read as a contract.
    if let Ok(contract) = Contract::read(lint.document) {
        let constraints = contract.constraints();
        for clause in lint.parts(Part::Clause) {
            let cited: Vec<&Constraint> = constraints
                .iter()
                .filter(|one| one.clauses.iter().any(|id| Some(id.as_str()) == clause.text("id")))
                .collect();
            clause_text(lint, (&contract, &constraints), &clause, &cited);
        }
    }
    for node in lint.nodes.clone() {
        fences(lint, &node);
        if matches!(node.part, Part::Parameter | Part::Schema) {
            description(lint, &node);
        }
        if node.part == Part::Media {
            example(lint, &node);
        }
    }
}

/// A limit of a request is a rule of the contract or a decision of this repository, and cites which. It may inherit the clause of
/// the body around it where the text of that says the limit.
pub(super) fn uncited_limits(lint: &mut Lint<'_>) {
    // Other rules report a document that cannot be read as a contract.
    let Ok(contract) = Contract::read(lint.document) else { return };
    let clauses = lint.parts(Part::Clause);
    let mut reported = BTreeSet::new();
    for constraint in contract.constraints() {
        let is_rule = is_limit(constraint.keyword) || matches!(constraint.keyword, "default" | "enum");
        if constraint.side == Side::Response || constraint.credential || !is_rule {
            continue;
        }
        let operation = contract.operations.iter().find(|one| one.id == constraint.operation);
        let of_body = operation.and_then(|one| one.body.as_ref()).map(|body| body.citation.any.as_slice());
        let is_unsaid = |id: &String| {
            let clause = clauses.iter().find(|clause| clause.text("id") == Some(id));
            let text = clause.and_then(|clause| clause.text("text")).unwrap_or_default();
            !missing(&constraint, &[], &Words::read(text)).is_empty()
        };
        let is_inherited = constraint.at.starts_with("body ") && of_body == Some(&constraint.clauses);
        // Without any clause this holds as well.
        let is_uncited =
            constraint.clauses.iter().all(is_unsaid) && (is_inherited || constraint.clauses.is_empty());
        if !is_uncited || !reported.insert(constraint.pointer.clone()) {
            continue;
        }
        let message = format!("`{}` of {} cites no clause", constraint.keyword, constraint.at);
        let help = "add `x-clause` with the clause that states it, or with unspecified behaviour for a limit of this repository";
        let Some(node) = lint.nodes.iter().find(|node| node.pointer == constraint.pointer).cloned() else {
            continue;
        };
        lint.report(&node, node.at(constraint.keyword), message, help);
    }
}

fn clause_text(
    lint: &mut Lint<'_>,
    (contract, constraints): (&Contract, &[Constraint]),
    clause: &Node<'_>,
    cited: &[&Constraint],
) {
    let (Some(id), Some(text)) = (clause.text("id"), clause.text("text")) else { return };
    let words = Words::read(text);
    let mut allowed = BTreeSet::new();
    let operations: Vec<&Operation> = contract
        .operations
        .iter()
        .filter(|operation| {
            operation.citation.all().any(|one| one == id)
                || cited.iter().any(|one| one.operation == operation.id)
        })
        .collect();
    for operation in &operations {
        statuses_and_codes(operation, &mut allowed);
    }
    // A text may also say what other keywords say of the same value.
    let is_beside = |one: &Constraint| {
        cited
            .iter()
            .any(|cited| (&cited.operation, cited.side, &cited.at) == (&one.operation, one.side, &one.at))
    };
    for constraint in constraints.iter().filter(|one| is_beside(one)) {
        numbers(&constraint.value, &mut allowed);
    }
    for constraint in cited {
        for missing in missing(constraint, cited, &words) {
            let message = format!(
                "the text of `{id}` does not say `{}: {missing}` of {}",
                constraint.keyword, constraint.at
            );
            let help = "change the text, or the keyword that cites the clause";
            lint.report(clause, clause.at("text"), message, help);
        }
    }
    // Without a keyword there is nothing that a number could contradict.
    let has_limits =
        cited.iter().any(|one| is_limit(one.keyword) || matches!(one.keyword, "default" | "enum"));
    for number in words.numbers().filter(|number| has_limits && !allowed.contains(number)) {
        let message =
            format!("the text of `{id}` says {number}, but no keyword that cites the clause has this number");
        let help = "change the text, or the keyword that cites the clause";
        lint.report(clause, clause.at("text"), message, help);
    }
    for list in words.lists() {
        for value in stray_values(&list, cited) {
            let message = format!(
                "the text of `{id}` lists `{value}`, which is not a value of the `enum` that cites it"
            );
            lint.report(clause, clause.at("text"), message, "change the text, or the `enum`");
        }
    }
}

/// HTTP statuses and business codes, which texts name wherever they like.
fn statuses_and_codes(operation: &Operation, found: &mut BTreeSet<i64>) {
    for response in operation.responses() {
        found.extend(response.status.parse::<i64>());
    }
    for property in operation.success.json().into_iter().flat_map(|schema| schema.properties()) {
        for value in property.schema.variants.iter().flatten() {
            numbers(value, found);
        }
    }
}

/// Whether a text repeats the numbers of a keyword.
fn is_limit(keyword: &str) -> bool {
    LIMITS.contains(&keyword) || keyword == "x-port"
}

/// What a constraint of requests says and the text does not.
fn missing(constraint: &Constraint, cited: &[&Constraint], words: &Words) -> Vec<String> {
    if constraint.side != Side::Request || constraint.credential {
        return Vec::new();
    }
    let says = |number: i64| words.numbers().any(|one| one == number);
    let mut found = Vec::new();
    match (constraint.keyword, &constraint.value) {
        (_, value) if is_limit(constraint.keyword) => {
            let mut limits = BTreeSet::new();
            numbers(value, &mut limits);
            found.extend(limits.into_iter().filter(|limit| !says(*limit)).map(|limit| limit.to_string()));
        }
        ("default", value) => {
            // A text says what the value stands for, not the value.
            let stands_for_another =
                cited.iter().any(|one| one.at == constraint.at && one.keyword == "x-separators")
                    || value.as_str().is_some_and(|text| text.parse::<i64>().is_ok());
            let is_said = match value {
                Value::Number(number) => number.as_i64().is_some_and(says),
                Value::String(text) => words.has(text),
                _ => true,
            };
            if !is_said && !stands_for_another {
                found.push(value.to_string());
            }
        }
        ("enum", Value::Array(values)) => {
            let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            let counted: Vec<i64> = texts.iter().filter_map(|text| text.parse().ok()).collect();
            if counted.len() == texts.len() {
                let ends = [counted.iter().min(), counted.iter().max()];
                let ends: BTreeSet<i64> = ends.into_iter().flatten().copied().collect();
                found.extend(ends.into_iter().filter(|end| !says(*end)).map(|end| end.to_string()));
            } else {
                found.extend(texts.into_iter().filter(|text| !words.has(text)).map(str::to_owned));
            }
        }
        _ => {}
    }
    found
}

/// The entries of a list that are no values, where others of it are.
fn stray_values<'a>(list: &[&'a str], cited: &[&Constraint]) -> Vec<&'a str> {
    let values: BTreeSet<&str> = cited
        .iter()
        .filter(|one| one.keyword == "enum" && one.side == Side::Request)
        .filter_map(|one| one.value.as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if list.iter().any(|word| values.contains(word)) {
        list.iter().filter(|word| !values.contains(*word)).copied().collect()
    } else {
        Vec::new()
    }
}

/// Every integer in a value, also in its texts.
fn numbers(value: &Value, found: &mut BTreeSet<i64>) {
    match value {
        Value::Number(number) => found.extend(number.as_i64()),
        Value::String(text) => found.extend(Words::read(text).numbers()),
        Value::Array(items) => items.iter().for_each(|item| numbers(item, found)),
        Value::Object(members) => {
            found.extend(members.keys().filter_map(|key| key.parse::<i64>().ok()));
            members.values().for_each(|member| numbers(member, found));
        }
        _ => {}
    }
}

/// The numbers that the keywords of a schema say, and those of its items.
fn limits(lint: &Lint<'_>, schema: &Value, found: &mut BTreeSet<i64>) {
    let schema = lint.document.resolve(schema);
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match keyword.as_str() {
            "enum" | "default" => numbers(value, found),
            "items" | "schema" => limits(lint, value, found),
            _ if is_limit(keyword) => numbers(value, found),
            _ => {}
        }
    }
}

fn description(lint: &mut Lint<'_>, node: &Node<'_>) {
    let Some(text) = node.text("description") else { return };
    let mut allowed = BTreeSet::new();
    limits(lint, node.value, &mut allowed);
    // A text beside no limit cannot contradict one.
    for number in
        Words::read(text).bounds().into_iter().filter(|one| !allowed.is_empty() && !allowed.contains(one))
    {
        let message = format!("the description says {number} as a limit, which its schema does not");
        lint.report(node, node.at("description"), message, "change the description, or the schema");
    }
}

/// Code in a description, which would become a test of the generated documentation.
fn fences(lint: &mut Lint<'_>, node: &Node<'_>) {
    for keyword in ["description", "summary"] {
        let Some(text) = node.text(keyword) else { continue };
        let mut is_open = false;
        for line in text.lines() {
            let Some(language) = ["```", "~~~"].iter().find_map(|mark| line.trim_start().strip_prefix(mark))
            else {
                continue;
            };
            is_open = !is_open;
            let language = language.trim().to_ascii_lowercase();
            if is_open && (language.is_empty() || language.starts_with("rust")) {
                let message =
                    "a code block without another language would be compiled as a test of the generated code";
                lint.report(node, node.at(keyword), message, "name its language, such as ```text or ```json");
            }
        }
        if text.lines().any(|line| line.starts_with("    ") || line.starts_with('\t')) {
            let message = "an indented block would be compiled as a test of the generated code";
            lint.report(node, node.at(keyword), message, "write it between ```text and ```");
        }
    }
}

/// Messages in examples that name a parameter or a property of a request, and its limits.
fn example(lint: &mut Lint<'_>, node: &Node<'_>) {
    let Some(example) = node.value.get("example") else { return };
    for text in values(example).into_iter().filter_map(Value::as_str) {
        let words = Words::read(text);
        let Some(first) = words.first() else { continue };
        let named = lint.nodes.iter().find(|one| {
            one.part == Part::Parameter && one.text("name") == Some(first)
                || one.part == Part::Schema && one.pointer.ends_with(&format!("/properties/{first}"))
        });
        let Some(named) = named.cloned() else { continue };
        let mut allowed = BTreeSet::new();
        limits(lint, named.value, &mut allowed);
        for number in words.bounds().into_iter().filter(|one| !allowed.contains(one)) {
            let message =
                format!("the example says {number} as a limit of `{first}`, which its schema does not");
            lint.report(node, node.at("example"), message, "change the example, or the schema");
        }
    }
}
