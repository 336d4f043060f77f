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
    model::{Constraint, Contract, Operation, Side},
};

pub(super) fn compare(documents: &mut DocumentPair<'_>, old: &Contract, new: &Contract) {
    let constraints = (old.constraints(), new.constraints());
    let mut matched = Vec::new();
    for operation in &new.operations {
        match counterpart(operation, old, new) {
            Some(before) => {
                matched.push(&before.pointer);
                whole(documents, before, operation);
                both_sides(documents, (before, &constraints.0), (operation, &constraints.1));
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
    let same_way = |one: &Operation, other: &Operation| one.method == other.method && one.path == other.path;
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

/// What changed about the operation as a whole.
fn whole(documents: &mut DocumentPair<'_>, old: &Operation, new: &Operation) {
    let clauses = || new.citation.all().map(str::to_owned);
    if said(old) != said(new) {
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
