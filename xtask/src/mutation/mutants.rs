//! The mutants of a document: one for each small change of each keyword that constrains something.

use serde_json::{Value, json};

use crate::{
    document::{Document, join},
    fixture::remove,
    lint::{Node, Part, walk},
};

/// The document with one keyword changed.
pub(super) struct Mutant {
    /// The pointer of the keyword, or of its entry.
    pub(super) pointer: String,
    pub(super) what: String,
    pub(super) root: Value,
}

/// Keywords that constrain nothing.
const DESCRIPTIVE: [&str; 12] = [
    "description",
    "summary",
    "tags",
    "example",
    "operationId",
    "x-clause",
    "deprecated",
    "x-deprecated-since",
    "x-sunset",
    "x-replaced-by",
    "x-deprecated-values",
    "$ref",
];

/// Limits that a schema without them may get, by its type.
const ADDED: [(&str, &str, i64); 4] = [
    ("integer", "minimum", 7),
    ("integer", "maximum", 7),
    ("string", "maxLength", 7),
    ("array", "maxItems", 7),
];

pub(super) fn mutants(document: &Document) -> Vec<Mutant> {
    let mut found = Vec::new();
    for node in walk(document) {
        let is_constraining = matches!(
            node.part,
            Part::Operation
                | Part::Parameter
                | Part::RequestBody
                | Part::Response
                | Part::Header
                | Part::Schema
                | Part::SecurityScheme
                | Part::Rule
                | Part::Condition
                | Part::Ports
                | Part::PathItem
        );
        if is_constraining && node.value.get("$ref").is_none() {
            of_node(document, &node, &mut found);
        }
    }
    found
}

fn of_node(document: &Document, node: &Node<'_>, found: &mut Vec<Mutant>) {
    for (keyword, value) in node.members().filter(|(keyword, _)| !DESCRIPTIVE.contains(keyword)) {
        let at = node.at(keyword);
        of_value(document, &at, value, found);
        let entries = match value {
            Value::Object(members) => members.keys().cloned().collect(),
            Value::Array(items) => (0..items.len()).map(|index| index.to_string()).collect(),
            _ => Vec::new(),
        };
        for entry in entries {
            push(document, &join(&at, &entry), "dropped", |root| remove(root, &join(&at, &entry)), found);
        }
    }
    added(document, node, found);
}

/// Changes of one value: of a scalar itself, of each scalar of a list, of each text of a map.
fn of_value(document: &Document, at: &str, value: &Value, found: &mut Vec<Mutant>) {
    let mut set = |what: String, new: Value| {
        push(document, at, &what, |root| replace(root, at, new), found);
    };
    match value {
        Value::Number(number) => {
            let number = number.as_i64().unwrap_or_default();
            set("+1".to_owned(), json!(number + 1));
            set("-1".to_owned(), json!(number - 1));
        }
        Value::Bool(flag) => set("flipped".to_owned(), json!(!flag)),
        Value::String(text) => {
            let words: &[&str] = match at.rsplit('/').next().unwrap_or_default() {
                "type" => &["string", "integer", "boolean"],
                "x-retry" => &["safe", "idempotency-key", "never"],
                "in" => &["query", "header"],
                _ => &[],
            };
            for word in words.iter().filter(|word| *word != text) {
                set(format!("to {word}"), json!(word));
            }
            if words.is_empty() {
                set("another".to_owned(), json!(format!("{text}x")));
            }
        }
        Value::Array(items) if items.iter().all(|item| !item.is_object()) => {
            let another = if items.iter().any(Value::is_number) { json!(7) } else { json!("another") };
            let longer: Vec<Value> = items.iter().cloned().chain([another]).collect();
            set("one more".to_owned(), json!(longer));
        }
        Value::Object(texts) if at.ends_with("/x-separators") => {
            for code in texts.keys() {
                let at = join(at, code);
                push(document, &at, "another", |root| replace(root, &at, json!("~")), found);
            }
        }
        _ => {}
    }
    push(document, at, "dropped", |root| remove(root, at), found);
}

/// Keywords that the node does not have.
fn added(document: &Document, node: &Node<'_>, found: &mut Vec<Mutant>) {
    let mut add = |keyword: &str, value: Value| {
        if node.value.get(keyword).is_none() {
            let put = |root: &mut Value| {
                let part = root.pointer_mut(&node.pointer).and_then(Value::as_object_mut);
                if let Some(part) = part {
                    part.insert(keyword.to_owned(), value);
                }
            };
            push(document, &node.at(keyword), "added", put, found);
        }
    };
    match node.part {
        Part::Parameter | Part::Header => add("required", json!(true)),
        Part::Schema => {
            add("nullable", json!(true));
            let is_plain = node.value.get("enum").is_none() && node.value.get("format").is_none();
            for (_, keyword, limit) in
                ADDED.iter().filter(|(kind, ..)| is_plain && node.text("type") == Some(*kind))
            {
                add(keyword, json!(limit));
            }
        }
        _ => {}
    }
}

fn push(document: &Document, at: &str, what: &str, change: impl FnOnce(&mut Value), found: &mut Vec<Mutant>) {
    let mut root = document.root().clone();
    change(&mut root);
    // The members of a path or an operation are nodes of their own as well.
    let is_new = !found.iter().any(|one: &Mutant| one.pointer == at && one.what == what);
    if root != *document.root() && is_new {
        found.push(Mutant { pointer: at.to_owned(), what: what.to_owned(), root });
    }
}

fn replace(root: &mut Value, at: &str, new: Value) {
    if let Some(value) = root.pointer_mut(at) {
        *value = new;
    }
}
