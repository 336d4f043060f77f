//! Finds constraints in the file without the model, to prove that the model drops none.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Entry;
use crate::{
    document::{Document, join},
    lint::{self, Node, Part},
    model::Constraint,
    problem::Problem,
};

/// A problem for each constraining keyword without an entry in the ledger.
pub(super) fn unaccounted(document: &Document, entries: &[Entry]) -> Vec<Problem> {
    let accounted: BTreeSet<String> =
        entries.iter().filter_map(|entry| place(document, &entry.constraint)).collect();
    lint::walk(document)
        .iter()
        .flat_map(constraining)
        .filter(|at| !accounted.contains(at))
        .map(|at| {
            let help =
                "remove it, or use it in an operation; if it is used, fix xtask/src/model, which drops it";
            document.problem(at, "the constraint applies to no operation", help)
        })
        .collect()
}

/// The pointer of the keyword of a constraint; `None` when it has none, such as the type of a body.
pub(super) fn place(document: &Document, constraint: &Constraint) -> Option<String> {
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
            // What ends some day is valid until then.
            "deprecated" | "x-deprecated-since" | "x-sunset" | "x-replaced-by" | "x-deprecated-values" => {}
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
