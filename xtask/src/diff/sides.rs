//! Both documents while they are compared.

use jiff::civil::Date;
use serde_json::Value;

use super::{
    change::{Change, Direction, Found},
    rules::Rule,
};
use crate::{
    document::{Document, join},
    ledger,
    model::Constraint,
};

pub(super) struct Sides<'a> {
    pub(super) old: &'a Document,
    pub(super) new: &'a Document,
    pub(super) today: Date,
    pub(super) changes: Vec<Change>,
}

/// Where a change is: the operation, the direction and the place in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) operation: Option<&'a str>,
    pub(super) direction: Direction,
    pub(super) at: &'a str,
}

impl Sides<'_> {
    /// What the older document says at `pointer`.
    pub(super) fn before(&self, pointer: impl Into<String>, value: Value) -> Option<Found> {
        Some(found(self.old, pointer.into(), value))
    }

    /// What the newer document says at `pointer`.
    pub(super) fn after(&self, pointer: impl Into<String>, value: Value) -> Option<Found> {
        Some(found(self.new, pointer.into(), value))
    }

    /// The constraint of the older document.
    pub(super) fn constraint_before(&self, constraint: &Constraint) -> Option<Found> {
        self.before(place(self.old, constraint), constraint.value.clone())
    }

    /// The constraint of the newer document.
    pub(super) fn constraint_after(&self, constraint: &Constraint) -> Option<Found> {
        self.after(place(self.new, constraint), constraint.value.clone())
    }

    /// Records a change. Clauses are sorted, and each is named once.
    pub(super) fn report(
        &mut self,
        rule: &'static Rule,
        place: Place<'_>,
        keyword: &str,
        (old, new): (Option<Found>, Option<Found>),
        clauses: impl IntoIterator<Item = String>,
    ) {
        let mut clauses: Vec<String> = clauses.into_iter().collect();
        clauses.sort_unstable();
        clauses.dedup();
        self.changes.push(Change {
            rule,
            operation: place.operation.map(str::to_owned),
            direction: place.direction,
            at: place.at.to_owned(),
            keyword: keyword.to_owned(),
            old,
            new,
            clauses,
            accepted: None,
        });
    }
}

fn found(document: &Document, pointer: String, value: Value) -> Found {
    Found { line: document.place(&pointer).line, pointer, value }
}

fn place(document: &Document, constraint: &Constraint) -> String {
    ledger::place(document, constraint).unwrap_or_else(|| join(&constraint.pointer, constraint.keyword))
}
