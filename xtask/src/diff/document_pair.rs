//! Both documents while they are compared.

use jiff::civil::Date;
use serde_json::Value;

use super::{
    change::{Change, Direction, SourceValue},
    rules::{REMOVED_AFTER_SUNSET, Rule},
};
use crate::{
    document::{Document, join},
    ledger,
    model::Constraint,
};

/// The keyword that lists the deprecated values of an enum.
pub(super) const DEPRECATED_VALUES: &str = "x-deprecated-values";

pub(super) struct DocumentPair<'a> {
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

/// What the older and the newer document say.
pub(super) type BothValues = (Option<SourceValue>, Option<SourceValue>);

impl DocumentPair<'_> {
    /// The rule for a part of the older document that is gone: `rule`, unless it was deprecated and its sunset has passed.
    pub(super) fn removal(&self, pointer: &str, rule: &'static Rule) -> &'static Rule {
        let part = self.old.get(self.old.definition(pointer));
        let deprecated = part.and_then(|part| part.get("deprecated")) == Some(&Value::Bool(true))
            || pointer.contains(&format!("/{DEPRECATED_VALUES}/"));
        let sunset = part.and_then(|part| part.get("x-sunset")).and_then(Value::as_str);
        let passed = sunset.and_then(|date| date.parse::<jiff::civil::Date>().ok());
        match passed {
            Some(date) if deprecated && date <= self.today => &REMOVED_AFTER_SUNSET,
            _ => rule,
        }
    }

    /// What the older document says at `pointer`.
    pub(super) fn before(&self, pointer: impl Into<String>, value: Value) -> Option<SourceValue> {
        Some(found(self.old, pointer.into(), value))
    }

    /// What the newer document says at `pointer`.
    pub(super) fn after(&self, pointer: impl Into<String>, value: Value) -> Option<SourceValue> {
        Some(found(self.new, pointer.into(), value))
    }

    /// What each of the documents says at its pointer, if anything.
    pub(super) fn both(&self, old: (String, Option<Value>), new: (String, Option<Value>)) -> BothValues {
        (old.1.and_then(|value| self.before(old.0, value)), new.1.and_then(|value| self.after(new.0, value)))
    }

    /// The constraints that the documents have.
    pub(super) fn constraints(&self, old: Option<&Constraint>, new: Option<&Constraint>) -> BothValues {
        (
            old.and_then(|one| self.before(place(self.old, one), one.value.clone())),
            new.and_then(|one| self.after(place(self.new, one), one.value.clone())),
        )
    }

    /// Records a change. Clauses are sorted, and each is named once.
    pub(super) fn report(
        &mut self,
        rule: &'static Rule,
        place: Place<'_>,
        keyword: &str,
        (old, new): BothValues,
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

fn found(document: &Document, pointer: String, value: Value) -> SourceValue {
    SourceValue { line: document.place(&pointer).line, pointer, value }
}

fn place(document: &Document, constraint: &Constraint) -> String {
    ledger::place(document, constraint).unwrap_or_else(|| join(&constraint.pointer, constraint.keyword))
}
