//! Rules about what the document refers to: clauses, `$ref`s and components.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Lint, Node, Part, keywords::suggestion};
use crate::{
    document::{Document, reference},
    model::Citation,
};

/// Keywords besides `x-clause` that name a clause.
const NAMING: [(Part, &str); 3] =
    [(Part::Operation, "x-credentials-agree"), (Part::Parameter, "x-aliases-agree"), (Part::Rule, "clause")];

/// `x-clause` and the other keywords that cite clauses.
pub(super) fn citations(lint: &mut Lint<'_>) {
    let clauses = lint.parts(Part::Clause);
    let known: BTreeSet<&str> = clauses.iter().filter_map(|clause| clause.text("id")).collect();
    let unspecified = lint.parts(Part::Unspecified);
    let open: BTreeSet<&str> = unspecified.iter().filter_map(|entry| entry.text("id")).collect();
    for node in lint.nodes.clone() {
        let at = node.at("x-clause");
        match Citation::read(node.value) {
            None => {
                let help = "write one clause id, a list of ids, or a map from keyword to either";
                lint.report(&node, at, "invalid `x-clause`", help);
            }
            Some(citation) => {
                for id in citation.all().filter(|id| !known.contains(id) && !open.contains(id)) {
                    let help = suggestion(id, known.iter().chain(&open).copied(), HELP);
                    lint.report(&node, at.clone(), unknown(id), help);
                }
                // Unspecified behaviour can only be the source of single limits, which are decisions of this repository.
                let general = citation.any.iter().filter(|id| open.contains(id.as_str()));
                let mixed = citation.by_keyword.values().filter(|ids| ids.len() > 1).flatten();
                for id in general.chain(mixed.filter(|id| open.contains(id.as_str()))) {
                    let message = format!("unspecified behaviour `{id}` cannot be cited for a whole part");
                    let help = "cite it alone, for the keyword that this repository decides";
                    lint.report(&node, at.clone(), message, help);
                }
                for keyword in citation.by_keyword.keys().filter(|keyword| !is_known(&node, keyword)) {
                    let message = format!("unknown keyword `{keyword}` in `x-clause`");
                    let help = "use a keyword of this part or of its schema, or `any`";
                    lint.report(&node, at.clone(), message, help);
                }
            }
        }
        for (_, keyword) in NAMING.iter().filter(|(part, _)| *part == node.part) {
            if let Some(id) = node.text(keyword).filter(|id| !known.contains(id)) {
                let help = suggestion(id, known.iter().copied(), HELP);
                lint.report(&node, node.at(keyword), unknown(id), help);
            }
        }
    }
}

const HELP: &str = "cite an id of `x-clauses`, or add the clause there; cite an id of `x-unspecified` for a limit of this repository";

fn unknown(id: &str) -> String {
    format!("unknown clause `{id}`")
}

/// A part also cites clauses for its schema, and a property for the `required` of its object.
fn is_known(node: &Node<'_>, keyword: &str) -> bool {
    let own = node.part.keywords().iter();
    own.chain(Part::Schema.keywords()).any(|(name, _)| *name == keyword)
}

pub(super) fn clause_order(lint: &mut Lint<'_>) {
    for part in [Part::Clause, Part::Unspecified] {
        let nodes = lint.parts(part);
        for (before, node) in nodes.iter().zip(nodes.iter().skip(1)) {
            let (Some(first), Some(second)) = (before.text("id"), node.text("id")) else { continue };
            if first == second {
                let line = lint.line(&before.at("id"));
                let message = format!("duplicate id `{second}`, used first in line {line}");
                lint.report(node, node.at("id"), message, "give each a unique id");
            } else if first > second {
                let message = format!("`{second}` is listed after `{first}`");
                lint.report(node, node.at("id"), message, "sort the list by id");
            }
        }
        for node in nodes {
            let id = node.text("id").unwrap_or_default();
            let prefixed = id.starts_with("open.") == (part == Part::Unspecified);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
            if !(prefixed && id.contains('.') && id.chars().all(plain)) {
                let help = "write `area.rule-name` in lower case, digits, `-` and `.`; ids of `x-unspecified` start with `open.`";
                lint.report(&node, node.at("id"), format!("invalid id `{id}`"), help);
            }
        }
    }
}

pub(super) fn uncited_clauses(lint: &mut Lint<'_>) {
    let mut cited = BTreeSet::new();
    for node in &lint.nodes {
        let citation = Citation::read(node.value).unwrap_or_default();
        cited.extend(citation.all().map(str::to_owned));
        let naming = NAMING.iter().filter(|(part, _)| *part == node.part);
        cited.extend(naming.filter_map(|(_, keyword)| node.text(keyword)).map(str::to_owned));
    }
    for clause in lint.parts(Part::Clause) {
        let Some(id) = clause.text("id") else { continue };
        let observable = clause.value.get("observable") != Some(&Value::Bool(false));
        if observable && !cited.contains(id) {
            let help = "add it to the `x-clause` of the operation or part that it is about";
            lint.report(&clause, clause.pointer.clone(), format!("clause `{id}` is not cited"), help);
        }
    }
}

/// `$ref`.
pub(super) fn references(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        let Some(target) = node.value.get("$ref") else { continue };
        let at = node.at("$ref");
        if node.value.as_object().is_some_and(|members| members.len() > 1) {
            let help = "move them to the referenced part, or replace the `$ref` by its content";
            lint.report(&node, at.clone(), "keywords beside a `$ref` are ignored", help);
        }
        let found = reference(node.value).filter(|target| component(target).as_deref() == Some(target));
        match found.and_then(|target| lint.nodes.iter().find(|other| other.pointer == target)) {
            None => {
                let message = format!("unknown reference {target}");
                let parts = lint.nodes.iter().filter(|other| other.part == node.part);
                let parts: Vec<String> = parts
                    .filter(|other| component(&other.pointer).as_deref() == Some(&other.pointer))
                    .map(|other| format!("#{}", other.pointer))
                    .collect();
                let named = target.as_str().unwrap_or_default();
                let help = "reference a part under components, such as \"#/components/schemas/Name\"";
                let help = suggestion(named, parts.iter().map(String::as_str), help);
                lint.report(&node, at, message, help);
            }
            Some(other) if other.part != node.part => {
                let message =
                    format!("expected a reference to a {:?}, found {target}, a {:?}", node.part, other.part);
                lint.report(&node, at, message, "reference a part of the same kind");
            }
            Some(other) if other.value.get("$ref").is_some_and(Value::is_string) => {
                let help = "reference the definition itself";
                lint.report(&node, at, format!("{target} is itself a reference"), help);
            }
            Some(_) => {}
        }
    }
}

/// Only some emitters would generate unused components.
pub(super) fn unused_components(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        if component(&node.pointer).as_deref() != Some(&node.pointer) {
            continue;
        }
        let used = match node.pointer.strip_prefix("/components/securitySchemes/") {
            Some(scheme) => is_named(lint, scheme),
            None => users(lint.document, &lint.nodes, &node.pointer).is_some(),
        };
        if !used {
            let help = "remove it, or reference it from an operation";
            lint.report(&node, node.pointer.clone(), "unused component", help);
        }
    }
}

fn is_named(lint: &Lint<'_>, scheme: &str) -> bool {
    lint.nodes
        .iter()
        .filter_map(|node| node.value.get("security")?.as_array())
        .flatten()
        .any(|requirement| requirement.as_object().is_some_and(|names| names.contains_key(scheme)))
}

/// The ids of the operations that use the component around `pointer`, separated by commas; `None` outside components and
/// for an unused component.
pub(super) fn users(document: &Document, nodes: &[Node<'_>], pointer: &str) -> Option<String> {
    let mut wanted = vec![component(pointer)?];
    let mut done = BTreeSet::new();
    let mut operations = BTreeSet::new();
    while let Some(target) = wanted.pop() {
        if document.get(&target).is_none() || !done.insert(target.clone()) {
            continue;
        }
        for node in nodes.iter().filter(|node| reference(node.value) == Some(&target)) {
            match node.operation {
                Some(operation) => {
                    operations.insert(operation);
                }
                None => wanted.extend(component(&node.pointer)),
            }
        }
    }
    (!operations.is_empty()).then(|| operations.into_iter().collect::<Vec<_>>().join(", "))
}

/// `/components/schemas/X` out of `/components/schemas/X/properties/…`.
fn component(pointer: &str) -> Option<String> {
    let mut steps = pointer.strip_prefix("/components/")?.split('/');
    Some(format!("/components/{}/{}", steps.next()?, steps.next()?))
}
