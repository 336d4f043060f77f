//! The document of the tests. It is a released one, which never changes: an edit of the contract must not make them fail.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::{Value, json};

use crate::{
    document::{Document, join, unescaped},
    model::{Constraint, Contract},
    problem::Problem,
};

/// The text of the document.
pub(crate) const CONTRACT: &str = include_str!("../../openapi/released/1.0.0.yaml");

/// The document, parsed.
pub(crate) fn contract() -> Document {
    Document::parse(CONTRACT).unwrap()
}

/// The two texts that a text with changes such as `maximum: «100→50»` stands for: before and after them.
pub(crate) fn sides(changed: &str) -> [String; 2] {
    let change = Regex::new("«([^→]*)→([^»]*)»").unwrap();
    ["$1", "$2"].map(|side| change.replace_all(changed, side).into_owned())
}

/// The document with the first of a text changed, see [`sides`].
pub(crate) fn edited(edit: &str) -> Document {
    Document::parse(&edited_text(CONTRACT, edit)).unwrap()
}

/// A document with the first of a text changed.
pub(crate) fn edited_text(document: &str, edit: &str) -> String {
    let [from, to] = sides(edit);
    assert!(from != to && document.contains(&from), "the document of the tests does not hold {from:?}");
    document.replacen(&from, &to, 1)
}

/// A document with what the generators support and the contract has no use for.
pub(crate) const LIBRARY: &str = include_str!("../fixtures/library.yaml");

/// The pointers of all values inside of `value`, which is at `at`; children first.
pub(crate) fn pointers(value: &Value, at: &str) -> Vec<String> {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (join(at, name), value)).collect(),
        Value::Array(items) => (0..).map(|index: usize| join(at, &index.to_string())).zip(items).collect(),
        _ => Vec::new(),
    };
    children.into_iter().flat_map(|(at, value)| pointers(value, &at).into_iter().chain([at])).collect()
}

/// Removes the value at `at`, if there is one.
pub(crate) fn remove(root: &mut Value, at: &str) {
    let Some((around, step)) = at.rsplit_once('/') else { return };
    let step = unescaped(step);
    match root.pointer_mut(around) {
        Some(Value::Object(members)) => drop(members.shift_remove(&step)),
        Some(Value::Array(items)) => {
            if let Some(index) = step.parse::<usize>().ok().filter(|index| *index < items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

/// Changes each constraint that `is_declared` holds for, one at a time, and requires the generated text to change. Returns the
/// number of constraints whose change reached the text: a generator rejects some, such as a default of another type.
pub(crate) fn assert_constraints_change(
    is_declared: impl Fn(&Constraint) -> bool,
    generate: impl Fn(&Document) -> Result<String, Vec<Problem>>,
) -> usize {
    let document = contract();
    let before = generate(&document).unwrap();
    let (mut seen, mut changed) = (BTreeSet::new(), 0);
    for constraint in Contract::read(&document).unwrap().constraints().iter().filter(|one| is_declared(one)) {
        let shown = format!("{} {} at {}", constraint.keyword, constraint.value, constraint.pointer);
        if !seen.insert(shown.clone()) {
            continue;
        }
        let mut root = document.root().clone();
        change(&mut root, constraint);
        if let Ok(after) = generate(&document.with_root(root)) {
            assert!(before != after, "{shown} is declared as enforced, but the code does not change");
            changed += 1;
        }
    }
    changed
}

/// Changes what a constraint says: increases a limit by one, adds a value to an enum, removes a rule and the like.
fn change(root: &mut Value, constraint: &Constraint) {
    let before = root.clone();
    change_keyword(root, constraint);
    assert!(*root != before, "cannot change `{}` at {}", constraint.keyword, constraint.pointer);
}

fn change_keyword(root: &mut Value, constraint: &Constraint) {
    let Constraint { pointer, keyword, value, .. } = constraint;
    let Some(part) = root.pointer_mut(pointer) else { return };
    if let ("security", Value::Array(schemes)) = (*keyword, &mut *part) {
        schemes.pop();
        return;
    }
    if *keyword == "x-rules" {
        *part = Value::Null;
        let (list, _) = pointer.rsplit_once('/').unwrap();
        let rules = root.pointer_mut(list).and_then(Value::as_array_mut).unwrap();
        rules.retain(|rule| !rule.is_null());
        return;
    }
    let part = part.as_object_mut().unwrap();
    match (*keyword, part.get_mut(*keyword)) {
        (_, Some(Value::Number(number))) => {
            let more = number.as_i64().unwrap() + 1;
            part.insert((*keyword).to_owned(), json!(more));
        }
        ("enum", Some(Value::Array(values))) => match values.first() {
            Some(Value::Number(_)) => *values = vec![json!(7)],
            Some(Value::Bool(_)) => *values = vec![json!(false)],
            _ => values.push(json!("another")),
        },
        ("required", Some(Value::Array(names))) => names.retain(|name| name != value),
        ("x-port", Some(port)) => port["maximum"] = json!(9),
        ("type", Some(ty)) => *ty = json!(if *ty == "boolean" { "string" } else { "boolean" }),
        (_, Some(_)) => drop(part.remove(*keyword)),
        ("content", None) => drop(part.remove("content")),
        (_, None) => {}
    }
}
