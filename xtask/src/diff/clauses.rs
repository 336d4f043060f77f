//! The clauses of the contract and what it leaves open: what a suite judges services by.

use serde_json::json;

use super::{
    change::Direction,
    document_pair::{DocumentPair, Place},
    rules,
};
use crate::{
    document::{Document, join},
    model::{Clause, Contract, Unspecified},
};

pub(super) fn compare(documents: &mut DocumentPair<'_>, old: &Contract, new: &Contract) {
    let closed: Vec<&Unspecified> = old
        .unspecified
        .iter()
        .filter(|open| !new.unspecified.iter().any(|other| other.id == open.id))
        .collect();
    for clause in &new.clauses {
        match old.clauses.iter().find(|before| before.id == clause.id) {
            Some(before) => common(documents, before, clause),
            None => added(documents, clause, &closed),
        }
    }
    for clause in old.clauses.iter().filter(|clause| !new.clauses.iter().any(|it| it.id == clause.id)) {
        let at = entry(documents.old, "/x-clauses", &clause.id);
        let found = (documents.before(at, json!(clause.text)), None);
        documents.report(&rules::CLAUSE_REMOVED, place(&clause.id), "", found, [clause.id.clone()]);
    }
    for open in closed {
        let at = entry(documents.old, "/x-unspecified", &open.id);
        let found = (documents.before(at, json!(open.text)), None);
        documents.report(&rules::UNSPECIFIED_REMOVED, place(&open.id), "", found, [open.id.clone()]);
    }
    for open in &new.unspecified {
        let at = entry(documents.new, "/x-unspecified", &open.id);
        match old.unspecified.iter().find(|before| before.id == open.id) {
            None => {
                let found = (None, documents.after(at, json!(open.text)));
                documents.report(&rules::UNSPECIFIED_ADDED, place(&open.id), "", found, [open.id.clone()]);
            }
            Some(before) if before.text != open.text => {
                let was = join(&entry(documents.old, "/x-unspecified", &open.id), "text");
                let found = (
                    documents.before(was, json!(before.text)),
                    documents.after(join(&at, "text"), json!(open.text)),
                );
                documents.report(&rules::UNSPECIFIED_REWORDED, place(&open.id), "", found, [open.id.clone()]);
            }
            Some(_) => {}
        }
    }
}

fn place(id: &str) -> Place<'_> {
    Place { operation: None, direction: Direction::Contract, at: id }
}

/// A new clause. Where behaviour of the same area is no longer left open, the clause binds what was free.
fn added(documents: &mut DocumentPair<'_>, clause: &Clause, closed: &[&Unspecified]) {
    let area = clause.id.split('.').next();
    let bound: Vec<String> =
        closed.iter().filter(|open| open.id.split('.').nth(1) == area).map(|open| open.id.clone()).collect();
    let rule = match (clause.observable, bound.is_empty()) {
        (false, _) => &rules::TEXT_CHANGED,
        (true, true) => &rules::CLAUSE_ADDED,
        (true, false) => &rules::CLAUSE_TAKES_UNSPECIFIED,
    };
    let at = entry(documents.new, "/x-clauses", &clause.id);
    let found = (None, documents.after(at, json!(clause.text)));
    documents.report(rule, place(&clause.id), "", found, [clause.id.clone()].into_iter().chain(bound));
}

fn common(documents: &mut DocumentPair<'_>, old: &Clause, new: &Clause) {
    let at = (entry(documents.old, "/x-clauses", &new.id), entry(documents.new, "/x-clauses", &new.id));
    if old.observable != new.observable {
        let rule = if new.observable { &rules::CLAUSE_OBSERVABLE } else { &rules::CLAUSE_NOT_OBSERVABLE };
        let found = (
            documents.before(join(&at.0, "observable"), json!(old.observable)),
            documents.after(join(&at.1, "observable"), json!(new.observable)),
        );
        documents.report(rule, place(&new.id), "observable", found, [new.id.clone()]);
    }
    if old.text != new.text {
        let found = (
            documents.before(join(&at.0, "text"), json!(old.text)),
            documents.after(join(&at.1, "text"), json!(new.text)),
        );
        documents.report(&rules::CLAUSE_REWORDED, place(&new.id), "", found, [new.id.clone()]);
    }
}

/// The pointer of the entry with that id.
fn entry(document: &Document, list: &str, id: &str) -> String {
    let mut entries = document.items(list).into_iter();
    entries.find(|(_, entry)| entry["id"] == id).map(|(at, _)| at).unwrap_or_default()
}
