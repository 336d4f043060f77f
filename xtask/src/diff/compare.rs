//! Compares the tables of two documents. Each row that differs is one change.

use std::cmp::Ordering;

use serde_json::Value;

use super::{
    change::{Change, Direction, SourceValue},
    rules::{Effect, Rule},
    table::{self, OPERATION, Part, Row},
};
use crate::{
    document::{Document, join},
    model::{Contract, LIMITS, Operation, Retry},
};

/// Both documents, and the changes that were found.
pub(super) struct Comparison<'a> {
    pub(super) old: &'a Document,
    pub(super) new: &'a Document,
    pub(super) changes: Vec<Change>,
}

/// Where a change is: the operation, the direction and the place in it.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) operation: Option<&'a str>,
    pub(super) direction: Direction,
    pub(super) at: &'a str,
}

/// What the older and the newer document say.
type Both = (Option<SourceValue>, Option<SourceValue>);

/// A path without the names of its parameters, which callers do not send.
pub(super) fn path_template(path: &str) -> String {
    let step = |step: &str| if step.starts_with('{') { "{}".to_owned() } else { step.to_owned() };
    path.split('/').map(step).collect::<Vec<_>>().join("/")
}

fn is_same_way(one: &Operation, other: &Operation) -> bool {
    one.method == other.method && path_template(&one.path) == path_template(&other.path)
}

impl Comparison<'_> {
    /// Records a change. Clauses are sorted, and each is named once.
    pub(super) fn report(
        &mut self,
        rule: Rule,
        place: Place<'_>,
        keyword: &str,
        (old, new): Both,
        mut clauses: Vec<String>,
    ) {
        clauses.sort_unstable();
        clauses.dedup();
        let Place { operation, direction, at } = place;
        let (operation, at, keyword) = (operation.map(str::to_owned), at.to_owned(), keyword.to_owned());
        let accepted = None;
        self.changes.push(Change { rule, operation, direction, at, keyword, old, new, clauses, accepted });
    }

    /// Compares each operation with the one of the same method and path, or else of the same id.
    pub(super) fn operations(&mut self, old: &Contract, new: &Contract) {
        let constraints = (old.constraints(), new.constraints());
        let place =
            |operation| Place { operation: Some(operation), direction: Direction::Contract, at: OPERATION };
        let clauses = |operation: &Operation| operation.citation.all().map(str::to_owned).collect();
        let said = |document, operation: &Operation| {
            Some(SourceValue::new(document, operation.pointer.clone(), table::way(operation)))
        };
        let mut matched = Vec::new();
        for operation in &new.operations {
            let by_way = old.operations.iter().find(|before| is_same_way(before, operation));
            let is_free = |before: &&Operation| {
                before.id == operation.id && !new.operations.iter().any(|other| is_same_way(other, before))
            };
            let place = place(&operation.id);
            let Some(before) = by_way.or_else(|| old.operations.iter().find(is_free)) else {
                let both = (None, said(self.new, operation));
                self.report(Rule::named("operation-added"), place, "", both, clauses(operation));
                continue;
            };
            matched.push(&before.pointer);
            let older = table::of_operation(self.old, &constraints.0, before);
            let newer = table::of_operation(self.new, &constraints.1, operation);
            for ((direction, mut older), (_, newer)) in older.into_iter().zip(newer) {
                if direction == Direction::Request && is_same_way(before, operation) {
                    self.path_parameters(place, (&before.path, &mut older), (&operation.path, &newer));
                }
                self.parts(Place { direction, ..place }, (&older, &newer));
            }
        }
        for operation in old.operations.iter().filter(|operation| !matched.contains(&&operation.pointer)) {
            let both = (said(self.old, operation), None);
            self.report(Rule::named("operation-removed"), place(&operation.id), "", both, clauses(operation));
        }
    }

    /// Compares the clauses of the contract, and what it leaves open.
    pub(super) fn clauses(&mut self, old: &Contract, new: &Contract) {
        let (old, new) = (table::of_clauses(self.old, old), table::of_clauses(self.new, new));
        self.parts(Place { operation: None, direction: Direction::Contract, at: "" }, (&old, &new));
    }

    /// Reports each path parameter that has another name, and gives the older parts the newer names.
    fn path_parameters(
        &mut self,
        place: Place<'_>,
        (old, before): (&str, &mut [Part]),
        (new, after): (&str, &[Part]),
    ) {
        for (was, is) in old.split('/').zip(new.split('/')).filter(|(was, is)| was != is) {
            let [was, is] = [was, is].map(|step| step.trim_matches(['{', '}']));
            let [at_old, at_new] = [was, is].map(|name| format!("path {name}"));
            let said = |document, parts: &[Part], at: &str, name: &str| {
                let said = table::find(parts, at)?.said(document, parts)?;
                Some(SourceValue::new(document, join(&said.pointer, "name"), name.into()))
            };
            let both = (said(self.old, before, &at_old, was), said(self.new, after, &at_new, is));
            let (rule, place) = (Rule::named("path-parameter-renamed"), Place { at: &at_new, ..place });
            self.report(rule, place, "name", both, Vec::new());
            before.iter_mut().filter(|part| part.at == at_old).for_each(|part| part.at.clone_from(&at_new));
        }
    }

    /// Parts that only one side has, then the rows of those that both have.
    fn parts(&mut self, place: Place<'_>, (old, new): (&[Part], &[Part])) {
        for part in table::missing(new, old) {
            let place = Place { at: &part.at, ..place };
            let both = (None, part.said(self.new, new));
            self.report(added(place.direction, part), place, "", both, part.clauses());
        }
        for part in table::missing(old, new) {
            // The success is in another status then, which is reported as added.
            if !is_success(part) {
                let both = (part.said(self.old, old), None);
                let (rule, place) = (self::removed(place.direction, part), Place { at: &part.at, ..place });
                self.report(rule, place, "", both, part.clauses());
            }
        }
        for part in new {
            let Some(before) = table::find(old, &part.at) else { continue };
            let is_retyped = before.value("type") != part.value("type");
            let is_known = |row: &&Row| part.get(&row.keyword, &row.entry).is_some();
            let rows = part.rows.iter().chain(before.rows.iter().filter(|row| !is_known(row)));
            // A limit of a number says nothing about a text.
            for row in
                rows.filter(|row| !is_retyped || ["type", "required", "nullable"].contains(&&*row.keyword))
            {
                self.row(Place { at: &part.at, ..place }, before, part, (&row.keyword, &row.entry));
            }
        }
    }

    /// One row of a part that both documents have.
    fn row(&mut self, place: Place<'_>, before: &Part, part: &Part, (keyword, entry): (&str, &str)) {
        let (old, new) = (before.get(keyword, entry), part.get(keyword, entry));
        let values = (old.map(|row| &row.said.value), new.map(|row| &row.said.value));
        let values_of =
            |part: &Part| part.value("enum").and_then(Value::as_array).cloned().unwrap_or_default();
        let has_both =
            |value: &str| [before, part].iter().all(|part| values_of(part).iter().any(|one| one == value));
        let is_same = match (keyword, values) {
            // The value is a name or a clause, which changes nothing for callers.
            (
                "required" | "security" | "x-rules" | "x-aliases-agree" | "x-credentials-agree",
                (Some(_), Some(_)),
            ) => true,
            ("x-falls-back-to", (Some(Value::String(old)), Some(Value::String(new)))) => {
                old.eq_ignore_ascii_case(new)
            }
            ("", (Some(Value::String(old)), Some(Value::String(new)))) => {
                path_template(old) == path_template(new)
            }
            // A format that comes or goes brings its ports, and a value of an enum its separator.
            (keyword, (old, new)) if keyword.starts_with("x-port ") => {
                old == new || old.is_none() || new.is_none()
            }
            (keyword, (old, new)) => {
                old == new || keyword.strip_prefix("x-separators ").is_some_and(|value| !has_both(value))
            }
        };
        if is_same {
            return;
        }
        let clauses: Vec<String> =
            [old, new].into_iter().flatten().flat_map(|row| row.clauses.clone()).collect();
        if let ("enum", Some(old), Some(new)) = (keyword, old, new) {
            self.values(place, &new.said, &old.said, ("added", Effect::Widens), &clauses);
            return self.values(place, &old.said, &new.said, ("removed", Effect::Narrows), &clauses);
        }
        let both = (old.map(|row| row.said.clone()), new.map(|row| row.said.clone()));
        let rule = rule(place.direction, keyword, values, part);
        // The text of a clause is the clause.
        self.report(rule, place, if keyword == "text" { "" } else { keyword }, both, clauses);
    }

    /// One change for each value of an enum that the other document lacks.
    fn values(
        &mut self,
        place: Place<'_>,
        these: &SourceValue,
        others: &SourceValue,
        (end, effect): (&str, Effect),
        clauses: &[String],
    ) {
        let list = |found: &SourceValue| found.value.as_array().cloned().unwrap_or_default();
        let others = list(others);
        for (index, value) in list(these).into_iter().enumerate().filter(|(_, value)| !others.contains(value))
        {
            let rule =
                Rule::by_effect(format!("{}-enum-value-{end}", place.direction), place.direction, effect);
            let document = if effect == Effect::Widens { self.new } else { self.old };
            let said = Some(SourceValue::new(document, join(&these.pointer, &index.to_string()), value));
            let both = if effect == Effect::Widens { (None, said) } else { (said, None) };
            self.report(rule, place, "enum", both, clauses.to_vec());
        }
    }
}

fn is_success(part: &Part) -> bool {
    part.has("") && part.at.starts_with('2')
}

/// The rule for a part that is new.
fn added(direction: Direction, part: &Part) -> Rule {
    if part.value("observable") == Some(&Value::Bool(false)) {
        return Rule::named("text-changed");
    }
    if is_success(part) {
        return Rule::named("success-status-changed");
    }
    let (end, effect) =
        if part.has("required") { ("added-required", Effect::Narrows) } else { ("added", Effect::Adds) };
    Rule::by_effect(format!("{}-{end}", subject(direction, part)), direction, effect)
}

/// The rule for a part that is gone.
fn removed(direction: Direction, part: &Part) -> Rule {
    let is_promised = part.has("required") && direction == Direction::Response;
    let (end, effect) =
        if is_promised { ("removed-required", Effect::Widens) } else { ("removed", Effect::Removes) };
    Rule::by_effect(format!("{}-{end}", subject(direction, part)), direction, effect)
}

/// What a part is, in the ids of rules.
fn subject(direction: Direction, part: &Part) -> &'static str {
    let (first, rest) = part.at.split_once(' ').unwrap_or((&part.at, ""));
    match (direction, first, rest.split_once(' ')) {
        (Direction::Contract, open, _) if open.starts_with("open.") => "unspecified",
        (Direction::Contract, ..) => "clause",
        (Direction::Request, "body", _) if !rest.is_empty() => "request-property",
        (Direction::Request, at, _) if at.starts_with("body") => "request-body",
        (Direction::Request, ..) if part.has("x-alias-of") => "alias",
        (Direction::Request, ..) => "parameter",
        // After the status: `header Retry-After`, `text` or `body data.items`.
        (Direction::Response, _, Some(("header", _))) => "response-header",
        (Direction::Response, _, Some(_)) => "response-property",
        (Direction::Response, ..) if rest.is_empty() => "response-status",
        (Direction::Response, ..) => "response-media-type",
    }
}

/// The rule for a keyword that differs.
fn rule(
    direction: Direction,
    keyword: &str,
    (old, new): (Option<&Value>, Option<&Value>),
    part: &Part,
) -> Rule {
    use Effect::{Narrows, Removes, Widens};
    // What comes has one effect, and what goes another.
    let by_presence = |subject: &str, comes: (&str, Effect), goes: (&str, Effect)| {
        let (end, effect) = if old.is_none() { comes } else { goes };
        Rule::by_effect(format!("{subject}-{end}"), direction, effect)
    };
    let of = |word: &str| format!("{direction}-{word}");
    let is_changed = old.is_some() && new.is_some();
    match keyword {
        _ if LIMITS.contains(&keyword) || keyword.starts_with("x-port ") => {
            let number = |value: Option<&Value>| value.and_then(Value::as_i64);
            let narrower = if keyword.contains("min") { Ordering::Less } else { Ordering::Greater };
            let is_narrower = match (number(old), number(new)) {
                (Some(old), Some(new)) => old.cmp(&new) == narrower,
                (old, _) => old.is_none(),
            };
            let (end, effect) = if is_narrower { ("narrowed", Narrows) } else { ("widened", Widens) };
            Rule::by_effect(of(&format!("limit-{end}")), direction, effect)
        }
        "required" => {
            let subject = if part.has("x-alias-of") { "parameter" } else { subject(direction, part) };
            by_presence(subject, ("became-required", Narrows), ("became-optional", Widens))
        }
        "nullable" => by_presence(&of("null"), ("added", Widens), ("removed", Narrows)),
        "enum" => by_presence(&of("enum-value"), ("removed", Narrows), ("added", Widens)),
        "format" | "x-format" if [old, new].into_iter().flatten().any(|value| value == "int64") => {
            Rule::named("integer-width-changed")
        }
        "format" | "x-format" if !is_changed => {
            by_presence(&of("type"), ("narrowed", Narrows), ("widened", Widens))
        }
        "type" | "format" | "x-format" => Rule::named(&of("type-changed")),
        "additionalProperties" => by_presence(&of("object"), ("closed", Narrows), ("opened", Widens)),
        "default" if is_changed => Rule::named("default-changed"),
        "default" => Rule::named(if old.is_none() { "default-added" } else { "default-removed" }),
        "security" => by_presence("credential", ("added", Widens), ("removed", Removes)),
        "x-rules" => by_presence("rule", ("added", Narrows), ("removed", Widens)),
        "x-credentials-agree" => by_presence("credentials", ("must-agree", Narrows), ("may-differ", Widens)),
        "x-aliases-agree" => by_presence("aliases", ("must-agree", Narrows), ("may-differ", Widens)),
        "x-alias-of" if old.is_some() => Rule::by_effect("alias-removed".to_owned(), direction, Removes),
        "x-falls-back-to" => Rule::named(if old.is_none() { "fallback-added" } else { "fallback-removed" }),
        "x-retry" => {
            let rank = |class: Option<&Value>| {
                Retry::CLASSES.iter().rev().position(|one| class.is_some_and(|class| class == one))
            };
            Rule::named(match (old, new) {
                (None, _) => "retry-stated",
                (_, None) => "unclassified",
                _ if rank(old) < rank(new) => "retry-allowed",
                _ => "retry-forbidden",
            })
        }
        "x-filter" | "x-page" => Rule::named(match (old, new) {
            (None, _) => "meaning-stated",
            (Some(old), Some(new)) if extends(new, old) => "meaning-extended",
            (_, None) => "meaning-removed",
            _ => "meaning-changed",
        }),
        "observable" if new.is_some_and(|value| *value == true) => Rule::named("clause-observable"),
        "observable" => Rule::named("clause-not-observable"),
        "text" => Rule::named(&format!("{}-reworded", subject(direction, part))),
        "operationId" => Rule::named("operation-renamed"),
        "" if part.at == OPERATION => Rule::named("operation-moved"),
        _ if keyword.starts_with("x-separators ") => Rule::named("separator-changed"),
        _ => Rule::named("unclassified"),
    }
}

/// Whether a mapping has everything that another one has.
fn extends(new: &Value, old: &Value) -> bool {
    old.as_object().into_iter().flatten().all(|(name, value)| new.get(name) == Some(value))
}
