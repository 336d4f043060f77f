//! Operations: which of both documents are the same, and what changed about them as a whole.

use serde_json::{Value, json};

use super::{
    change::Direction,
    document_pair::{DocumentPair, Place},
    elements::{self, Element, OPERATION},
    extensions, parts, rules, schemas,
};
use crate::{
    document::join,
    model::{Constraint, Contract, Method, Operation, Side},
};

pub(super) fn compare(documents: &mut DocumentPair<'_>, old: &Contract, new: &Contract) {
    let constraints = (old.constraints(), new.constraints());
    let mut matched = Vec::new();
    for operation in &new.operations {
        match counterpart(operation, old, new) {
            Some(before) => {
                matched.push(&before.pointer);
                whole(documents, before, operation);
                let (renamed, bound) = renamed(documents, (before, &constraints.0), operation);
                both_sides(documents, (&renamed, &bound), (operation, &constraints.1));
            }
            None => {
                let place = place(operation);
                let added = documents.after(&operation.pointer, said(operation));
                let clauses = operation.citation.all().map(str::to_owned);
                documents.report(&rules::OPERATION_ADDED, place, "", (None, added), clauses);
            }
        }
    }
    for operation in old.operations.iter().filter(|operation| !matched.contains(&&operation.pointer)) {
        let rule = documents.removal(&operation.pointer, &rules::OPERATION_REMOVED);
        let removed = documents.before(&operation.pointer, said(operation));
        let clauses = operation.citation.all().map(str::to_owned);
        documents.report(rule, place(operation), "", (removed, None), clauses);
    }
}

/// The same operation of the older document: the one with the same method and path, or else the one with the same id,
/// unless its method and path are those of another operation of the newer document.
fn counterpart<'a>(operation: &Operation, old: &'a Contract, new: &Contract) -> Option<&'a Operation> {
    let same_way = |one: &Operation, other: &Operation| template(one) == template(other);
    let by_way = old.operations.iter().find(|before| same_way(before, operation));
    by_way.or_else(|| {
        old.operations.iter().find(|before| {
            before.id == operation.id && !new.operations.iter().any(|other| same_way(other, before))
        })
    })
}

fn place(operation: &Operation) -> Place<'_> {
    Place { operation: Some(&operation.id), direction: Direction::Contract, at: OPERATION }
}

fn said(operation: &Operation) -> Value {
    json!(format!("{} {}", operation.method, operation.path))
}

/// What is sent: the method, and the path without the names of its parameters.
fn template(operation: &Operation) -> (Method, String) {
    (operation.method, path_template(&operation.path))
}

/// A path without the names of its parameters, which callers do not send.
pub(super) fn path_template(path: &str) -> String {
    let step = |step: &str| if step.starts_with('{') { "{}".to_owned() } else { step.to_owned() };
    path.split('/').map(step).collect::<Vec<_>>().join("/")
}

/// The older operation and its constraints, with the path parameters named as in the newer one. Reports each other name.
fn renamed(
    documents: &mut DocumentPair<'_>,
    (old, constraints): (&Operation, &[Constraint]),
    new: &Operation,
) -> (Operation, Vec<Constraint>) {
    let (mut operation, mut constraints) = (old.clone(), constraints.to_vec());
    if template(old) != template(new) {
        return (operation, constraints);
    }
    for (was, is) in old.path.split('/').zip(new.path.split('/')).filter(|(was, is)| was != is) {
        let [was, is] = [was, is].map(|step| step.trim_matches(['{', '}']));
        let at = format!("path {is}");
        let pointer = |operation: &Operation, name: &str| {
            let mut parameters = operation.parameters.iter();
            let found = parameters.find(|one| one.location.to_string() == "path" && one.name == name);
            found.map_or_else(|| operation.pointer.clone(), |one| one.pointer.clone())
        };
        let found =
            (documents.before(pointer(old, was), json!(was)), documents.after(pointer(new, is), json!(is)));
        let place = Place { operation: Some(&new.id), direction: Direction::Contract, at: &at };
        documents.report(&rules::PATH_PARAMETER_RENAMED, place, "name", found, []);
        for parameter in operation.parameters.iter_mut().filter(|one| one.name == was) {
            parameter.name = is.to_owned();
        }
        for constraint in constraints.iter_mut().filter(|one| one.operation == old.id) {
            if let Some(rest) = constraint.at.strip_prefix(&format!("path {was}")) {
                constraint.at = format!("{at}{rest}");
            }
        }
    }
    (operation, constraints)
}

/// What changed about the operation as a whole.
fn whole(documents: &mut DocumentPair<'_>, old: &Operation, new: &Operation) {
    let clauses = || new.citation.all().map(str::to_owned);
    if template(old) != template(new) {
        let found = (documents.before(&old.pointer, said(old)), documents.after(&new.pointer, said(new)));
        documents.report(&rules::OPERATION_MOVED, place(new), "", found, clauses());
    }
    if old.id != new.id {
        let at = |operation: &Operation| join(&operation.pointer, "operationId");
        let found = (documents.before(at(old), json!(old.id)), documents.after(at(new), json!(new.id)));
        documents.report(&rules::OPERATION_RENAMED, place(new), "operationId", found, []);
    }
    extensions::retry(documents, place(new), old, new);
    extensions::deprecation(documents, place(new), (&old.pointer, &new.pointer));
}

/// What changed in requests and in responses.
fn both_sides(
    documents: &mut DocumentPair<'_>,
    (old, before): (&Operation, &[Constraint]),
    (new, after): (&Operation, &[Constraint]),
) {
    let requests =
        (elements::collect(before, &old.id, Side::Request), elements::collect(after, &new.id, Side::Request));
    let place = Place { operation: Some(&new.id), direction: Direction::Request, at: OPERATION };
    extensions::operation(documents, place, (&requests.0, &requests.1));
    parts::compare(documents, place, (old, new), (&requests.0, &requests.1));
    parts::deprecations(documents, place, old, new);
    common(documents, place, (&requests.0, &requests.1));
    let responses = (
        elements::collect(before, &old.id, Side::Response),
        elements::collect(after, &new.id, Side::Response),
    );
    let place = Place { operation: Some(&new.id), direction: Direction::Response, at: OPERATION };
    let gone = parts::statuses(documents, place, old, new);
    let is_kept =
        |element: &Element<'_>| !gone.iter().any(|status| element.at.split(' ').next() == Some(status));
    let before: Vec<_> = responses.0.into_iter().filter(is_kept).collect();
    let after: Vec<_> = responses.1.into_iter().filter(is_kept).collect();
    parts::compare(documents, place, (old, new), (&before, &after));
    common(documents, place, (&before, &after));
}

/// The keywords at the places that both documents have.
fn common(documents: &mut DocumentPair<'_>, place: Place<'_>, (old, new): (&[Element<'_>], &[Element<'_>])) {
    for element in new.iter().filter(|element| element.at != OPERATION) {
        if let Some(before) = elements::find(old, element.at) {
            schemas::compare(documents, Place { at: element.at, ..place }, before, element);
        }
    }
}
