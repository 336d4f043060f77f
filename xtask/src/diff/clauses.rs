//! The clauses of the contract and what it leaves open: what a suite judges services by.

use serde_json::json;

use super::{
    change::Direction,
    rules,
    sides::{DocumentPair, Place},
};
use crate::{
    document::{Document, join},
    model::{Clause, Contract, Unspecified},
};

pub(super) fn compare(sides: &mut DocumentPair<'_>, old: &Contract, new: &Contract) {
    let closed: Vec<&Unspecified> = old
        .unspecified
        .iter()
        .filter(|open| !new.unspecified.iter().any(|other| other.id == open.id))
        .collect();
    for clause in &new.clauses {
        match old.clauses.iter().find(|before| before.id == clause.id) {
            Some(before) => common(sides, before, clause),
            None => added(sides, clause, &closed),
        }
    }
    for clause in old.clauses.iter().filter(|clause| !new.clauses.iter().any(|it| it.id == clause.id)) {
        let at = entry(sides.old, "/x-clauses", &clause.id);
        let found = (sides.before(at, json!(clause.text)), None);
        sides.report(&rules::CLAUSE_REMOVED, place(&clause.id), "", found, [clause.id.clone()]);
    }
    for open in closed {
        let at = entry(sides.old, "/x-unspecified", &open.id);
        let found = (sides.before(at, json!(open.text)), None);
        sides.report(&rules::UNSPECIFIED_REMOVED, place(&open.id), "", found, [open.id.clone()]);
    }
    for open in &new.unspecified {
        let at = entry(sides.new, "/x-unspecified", &open.id);
        match old.unspecified.iter().find(|before| before.id == open.id) {
            None => {
                let found = (None, sides.after(at, json!(open.text)));
                sides.report(&rules::UNSPECIFIED_ADDED, place(&open.id), "", found, [open.id.clone()]);
            }
            Some(before) if before.text != open.text => {
                let was = join(&entry(sides.old, "/x-unspecified", &open.id), "text");
                let found =
                    (sides.before(was, json!(before.text)), sides.after(join(&at, "text"), json!(open.text)));
                sides.report(&rules::UNSPECIFIED_REWORDED, place(&open.id), "", found, [open.id.clone()]);
            }
            Some(_) => {}
        }
    }
}

fn place(id: &str) -> Place<'_> {
    Place { operation: None, direction: Direction::Contract, at: id }
}

/// A new clause. Where behaviour of the same area is no longer left open, the clause binds what was free.
fn added(sides: &mut DocumentPair<'_>, clause: &Clause, closed: &[&Unspecified]) {
    let area = clause.id.split('.').next();
    let taken: Vec<String> =
        closed.iter().filter(|open| open.id.split('.').nth(1) == area).map(|open| open.id.clone()).collect();
    let rule = match (clause.observable, taken.is_empty()) {
        (false, _) => &rules::TEXT_CHANGED,
        (true, true) => &rules::CLAUSE_ADDED,
        (true, false) => &rules::CLAUSE_TAKES_UNSPECIFIED,
    };
    let at = entry(sides.new, "/x-clauses", &clause.id);
    let found = (None, sides.after(at, json!(clause.text)));
    sides.report(rule, place(&clause.id), "", found, [clause.id.clone()].into_iter().chain(taken));
}

fn common(sides: &mut DocumentPair<'_>, old: &Clause, new: &Clause) {
    let at = (entry(sides.old, "/x-clauses", &new.id), entry(sides.new, "/x-clauses", &new.id));
    if old.observable != new.observable {
        let rule = if new.observable { &rules::CLAUSE_OBSERVABLE } else { &rules::CLAUSE_NOT_OBSERVABLE };
        let found = (
            sides.before(join(&at.0, "observable"), json!(old.observable)),
            sides.after(join(&at.1, "observable"), json!(new.observable)),
        );
        sides.report(rule, place(&new.id), "observable", found, [new.id.clone()]);
    }
    if old.text != new.text {
        let found = (
            sides.before(join(&at.0, "text"), json!(old.text)),
            sides.after(join(&at.1, "text"), json!(new.text)),
        );
        sides.report(&rules::CLAUSE_REWORDED, place(&new.id), "", found, [new.id.clone()]);
    }
}

/// The pointer of the entry with that id.
fn entry(document: &Document, list: &str, id: &str) -> String {
    let entries = document.get(list).and_then(serde_json::Value::as_array);
    let index = entries.and_then(|entries| entries.iter().position(|entry| entry["id"] == id));
    join(list, &index.unwrap_or_default().to_string())
}
