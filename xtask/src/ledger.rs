//! Finds constraints of the document that the client does not enforce, and those that the model drops. The server checks requests by
//! the table of `sallyport-contract`, which rejects what it cannot hold.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    document::{Document, join},
    emit::client,
    lint::{self, Node, Part},
    model::{Constraint, Contract, Side},
    problem::Problem,
};

/// Constraints of responses that the client does not enforce, with the reason: their keywords, and the beginning of
/// [`Constraint::at`], in which `2xx` stands for any status of a success.
const WAIVERS: &[(&[&str], &str, &str)] = &[
    (&["minimum"], "2xx ", "one invalid number must not lose a page, and the suite checks it"),
    (&["enum"], "2xx ", "the client returns an unknown value as text, and the suite checks the list"),
    (&["required"], "2xx body ", "a missing text beside the data does not make the data useless"),
    (&["format"], "2xx body request_ip", "an invalid address does not make the gateways useless"),
    (&["required"], "2xx header ", "a missing header does not make the response useless"),
    (&["content", "required", "type"], "429 body", "a rejection may have any form"),
    (&["content", "required", "type"], "default body", "a rejection may have any form"),
];

/// A problem for each constraint that the client neither enforces nor waives, for each that belongs to no operation, and for each waiver
/// that covers nothing.
pub(crate) fn problems(document: &Document, contract: &Contract) -> Vec<Problem> {
    let constraints = contract.constraints();
    let mut problems = unaccounted(document, &constraints);
    for constraint in &constraints {
        if !client::enforces(constraint)
            && !WAIVERS.iter().any(|(keywords, at, _)| covers(keywords, at, constraint))
        {
            problems.push(unenforced(document, constraint));
        }
    }
    for (keywords, at, _) in WAIVERS {
        let is_unused = |keyword: &&&str| {
            !constraints
                .iter()
                .any(|one| !client::enforces(one) && covers(std::slice::from_ref(*keyword), at, one))
        };
        problems.extend(keywords.iter().filter(is_unused).map(|keyword| {
            let message = format!("unused waiver for `{keyword}` at `{at}`");
            document.problem("", message, "remove it from xtask/src/ledger.rs")
        }));
    }
    Problem::sort(&mut problems);
    problems
}

fn covers(keywords: &[&str], at: &str, constraint: &Constraint) -> bool {
    constraint.side == Side::Response
        && keywords.contains(&constraint.keyword)
        && match (at.strip_prefix("2xx"), constraint.at.strip_prefix('2')) {
            (Some(rest), Some(at)) => at.get(2..).is_some_and(|at| at.starts_with(rest)),
            (Some(_), None) => false,
            (None, _) => constraint.at.starts_with(at),
        }
}

fn unenforced(document: &Document, constraint: &Constraint) -> Problem {
    let Constraint { keyword, value, at, pointer, operation, side, .. } = constraint;
    let verb = match side {
        Side::Request => "enforce",
        Side::Response => "handle",
    };
    let mut problem = document.problem(
        place(document, constraint).unwrap_or_else(|| join(pointer, keyword)),
        format!("the client does not {verb} `{keyword}: {value}` at {at}"),
        "express it with a supported keyword, generate it in xtask/src/emit/client, or waive it in xtask/src/ledger.rs",
    );
    problem.operation = Some(operation.clone());
    problem
}

/// A problem for each keyword that restricts a value, found without the model, that is the place of no constraint: it proves that
/// the model drops none.
fn unaccounted(document: &Document, constraints: &[Constraint]) -> Vec<Problem> {
    let accounted: BTreeSet<String> = constraints.iter().filter_map(|one| place(document, one)).collect();
    let help = "remove it, or use it in an operation; if it is used, fix xtask/src/model, which drops it";
    lint::walk(document)
        .iter()
        .flat_map(constraining)
        .filter(|at| !accounted.contains(at))
        .map(|at| document.problem(at, "the constraint applies to no operation", help))
        .collect()
}

/// The pointer of the keyword of a constraint; `None` when it has none, such as the type of a body.
pub(crate) fn place(document: &Document, constraint: &Constraint) -> Option<String> {
    let Constraint { pointer, keyword, value, .. } = constraint;
    let at = join(pointer, keyword);
    let found = match (*keyword, document.get(&at)) {
        // Their pointer is that of the keyword already.
        ("x-rules" | "security", _) => pointer.clone(),
        ("required", Some(Value::Array(names))) => {
            let index = names.iter().position(|name| name == value)?;
            join(&at, &index.to_string())
        }
        ("content", _) => join(&at, value.as_str()?),
        _ => at,
    };
    document.get(&found).map(|_| found)
}

/// The pointers of the keywords of `node` that restrict a value.
fn constraining(node: &Node<'_>) -> Vec<String> {
    if node.value.get("$ref").is_some() {
        return Vec::new();
    }
    let names: &[&str] = match node.part {
        Part::Schema => return schema(node),
        Part::Rule => return vec![node.pointer.clone()],
        Part::Operation => &["security", "x-credentials-agree"],
        Part::Parameter => &["required", "x-credential", "x-alias-of", "x-aliases-agree", "x-falls-back-to"],
        Part::Header | Part::RequestBody => &["required"],
        _ => &[],
    };
    names.iter().filter(|name| is_set(node.value.get(**name))).map(|name| node.at(name)).collect()
}

fn schema(node: &Node<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (keyword, value) in node.members() {
        match keyword {
            "description" | "example" | "x-clause" | "items" | "properties" => {}
            // The lint allows it beside an `x-format` alone, and holds it against that.
            "pattern" => {}
            // As above, for the fields that every request rejects.
            "additionalProperties" => {}
            "required" => {
                let names = value.as_array().map_or(0, Vec::len);
                found.extend((0..names).map(|index| join(&node.at(keyword), &index.to_string())));
            }
            _ if is_set(Some(value)) => found.push(node.at(keyword)),
            _ => {}
        }
    }
    found
}

/// `required: false` and `nullable: false` restrict nothing.
fn is_set(value: Option<&Value>) -> bool {
    value.is_some_and(|value| *value != Value::Bool(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{contract as document, edited};

    fn found(document: &Document) -> Vec<Problem> {
        problems(document, &Contract::read(document).unwrap())
    }

    #[test]
    fn every_constraint_of_the_document_is_enforced_or_waived() {
        assert_eq!(found(&document()), []);
    }

    #[test]
    fn a_constraint_of_no_operation_is_a_problem() {
        let unreachable = "«→    Lost:\n      type: string\n      maxLength: 7\n»    ReturnType:\n";
        let problems = found(&edited(unreachable));
        assert!(problems.iter().any(|problem| problem.pointer == "/components/schemas/Lost/maxLength"));
    }

    #[test]
    fn a_constraint_that_a_side_does_not_know_is_a_problem_with_its_place() {
        let document = document();
        let mut contract = Contract::read(&document).unwrap();
        let mut constraint = contract.constraints().into_iter().find(|one| !one.credential).unwrap();
        constraint.keyword = "multipleOf";
        assert!(!client::enforces(&constraint));
        let problem = unenforced(&document, &constraint);
        assert!(problem.message.contains("the client does not enforce `multipleOf"), "{problem}");
        // Without its operations, nothing of the document is accounted for, and no waiver is used.
        contract.operations.clear();
        assert!(problems(&document, &contract).len() > 80);
    }
}
