//! Compares the tables of two documents. Each row that differs is one change.

use std::cmp::Ordering;

use serde_json::Value;

use super::{
    change::Change,
    rules::{Effect, Rule},
};
use crate::{
    document::{Document, join, unescaped, values},
    model::{LIMITS, Retry},
    table::{self, Direction, OPERATION, Operation, Part, Row, SourceValue, path_template},
};

/// Both documents, and the changes that were found.
pub(super) struct Comparison<'a> {
    pub(super) old: &'a Document,
    pub(super) new: &'a Document,
    pub(super) changes: Vec<Change>,
}

/// Where a change is: the operation, the direction and the place in it.
#[derive(Clone, Copy)]
struct Place<'a> {
    operation: Option<&'a str>,
    direction: Direction,
    at: &'a str,
}

impl<'a> Place<'a> {
    fn new(operation: Option<&'a str>, part: &'a Part) -> Self {
        Self { operation, direction: part.direction, at: &part.at }
    }
}

/// What the older and the newer document say.
type Both = (Option<SourceValue>, Option<SourceValue>);

impl Comparison<'_> {
    /// Compares each operation with the one of the same method and path, or else of the same id, and then the rest of the documents.
    pub(super) fn run(&mut self) {
        let (old, new) = (table::operations(self.old), table::operations(self.new));
        let mut matched = Vec::new();
        for operation in &new {
            let by_way = old.iter().find(|before| before.template == operation.template);
            let is_free = |before: &&Operation| {
                before.id == operation.id && new.iter().all(|other| other.template != before.template)
            };
            match by_way.or_else(|| old.iter().find(is_free)) {
                Some(before) => {
                    matched.push(&before.template);
                    self.parts(Some(&operation.id), &before.parts, &operation.parts);
                }
                None => self.operation("operation-added", operation, (None, Some(operation.way.clone()))),
            }
        }
        for operation in old.iter().filter(|operation| !matched.contains(&&operation.template)) {
            self.operation("operation-removed", operation, (Some(operation.way.clone()), None));
        }
        self.parts(None, &table::of_document(self.old), &table::of_document(self.new));
    }

    /// Records a change. Clauses are sorted, and each is named once.
    fn report(
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
        let change = Change { rule, operation, direction, at, keyword, old, new, clauses, accepted };
        // A text stands at each place that refers to it.
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }

    fn operation(&mut self, rule: &str, operation: &Operation, both: Both) {
        let place = Place { operation: Some(&operation.id), direction: Direction::Contract, at: OPERATION };
        self.report(Rule::named(rule), place, "", both, operation.clauses.clone());
    }

    /// Parts that only one side has, then the rows of those that both have.
    fn parts(&mut self, operation: Option<&str>, old: &[Part], new: &[Part]) {
        for part in missing(new, old) {
            self.report(
                added(part),
                Place::new(operation, part),
                "",
                (None, Some(part.said(self.new))),
                part.clauses(),
            );
        }
        // The success is in another status otherwise, which is reported as added.
        for part in missing(old, new).into_iter().filter(|part| !is_success(part)) {
            self.report(
                removed(part),
                Place::new(operation, part),
                "",
                (Some(part.said(self.old)), None),
                part.clauses(),
            );
        }
        let (olds, news) = (known(old, new), known(new, old));
        for part in &news {
            let Some(before) = find(old, part) else { continue };
            let is_retyped = before.value("type") != part.value("type");
            let is_known = |row: &&Row| part.get(&row.keyword, &row.entry).is_some();
            let rows = part.rows.iter().chain(before.rows.iter().filter(|row| !is_known(row)));
            // A limit of a number says nothing about a text.
            for row in
                rows.filter(|row| !is_retyped || ["type", "required", "nullable"].contains(&&*row.keyword))
            {
                self.row(Place::new(operation, part), before, part, row);
            }
        }
        if let Some((before, part)) = olds.iter().zip(&news).find(|(before, part)| !part.is_at(before)) {
            let both = [(self.old, before), (self.new, part)].map(|(document, part)| SourceValue {
                value: part.at.as_str().into(),
                ..part.said(document)
            });
            self.text("document-reordered", both.each_ref().map(Some));
        }
    }

    /// A row of a part that both documents have.
    fn row(&mut self, place: Place<'_>, before: &Part, part: &Part, row: &Row) {
        let keyword = row.keyword.as_str();
        let both = [before, part].map(|part| part.get(keyword, &row.entry));
        let clauses: Vec<String> = both.into_iter().flatten().flat_map(|row| row.clauses.clone()).collect();
        let said = both.map(|row| row.map(|row| &row.said));
        if said[0].map(|said| &said.value) == said[1].map(|said| &said.value) {
            return;
        }
        if let Some(id) = rule_of_text(place.at, row, said) {
            return self.text(id, said);
        }
        let [old, new] = said.map(|said| said.filter(|said| !is_without_effect(keyword, &said.value)));
        let values = (old.map(|said| &said.value), new.map(|said| &said.value));
        let has_both = |value: &str| {
            let list =
                |part: &Part| part.value("enum").and_then(Value::as_array).cloned().unwrap_or_default();
            [before, part].iter().all(|part| list(part).iter().any(|one| one == value))
        };
        let is_same = match (keyword, values) {
            // The value is a name, which changes nothing for callers. A rule that comes or goes has its clause with it, and so has
            // an entry of a list.
            ("required" | "security" | "x-rules", (Some(_), Some(_))) | ("clause" | "order", _) => true,
            ("", (Some(Value::String(old)), Some(Value::String(new)))) => {
                path_template(old) == path_template(new)
            }
            // A format that comes or goes brings its ports, and a value of an enum its separator.
            (_, (old, new)) if keyword.starts_with("x-port ") => old.is_none() || new.is_none(),
            _ => keyword.strip_prefix("x-separators ").is_some_and(|value| !has_both(value)),
        };
        if is_same {
            return;
        }
        if let ("enum", Some(old), Some(new)) = (keyword, old, new) {
            self.values(place, new, old, ("added", Effect::Widens), &clauses);
            return self.values(place, old, new, ("removed", Effect::Narrows), &clauses);
        }
        let rule = rule(keyword, values, part);
        // The text of a clause is the clause.
        let keyword = if keyword == "text" { "" } else { keyword };
        self.report(rule, place, keyword, (old.cloned(), new.cloned()), clauses);
    }

    /// A difference that changes nothing on the wire, at its place in the file.
    fn text(&mut self, id: &str, both: [Option<&SourceValue>; 2]) {
        let [old, new] = both;
        let Some(SourceValue { pointer, .. }) = new.or(old) else { return };
        let (around, keyword) = pointer.rsplit_once('/').unwrap_or_default();
        let at = if around.is_empty() { "document".to_owned() } else { format!("#{around}") };
        let operation = [self.new, self.old].into_iter().find_map(|document| {
            let mut steps = pointer.strip_prefix("/paths/")?.split('/');
            document.text(&format!("/paths/{}/{}", steps.next()?, steps.next()?), "operationId")
        });
        let cited = [old, new].into_iter().flatten().flat_map(|said| values(&said.value));
        let cited = cited.filter_map(Value::as_str).filter(|_| id == "citation-changed").map(str::to_owned);
        let (clauses, place) =
            (cited.collect(), Place { operation, direction: Direction::Contract, at: &at });
        self.report(Rule::named(id), place, &unescaped(keyword), (old.cloned(), new.cloned()), clauses);
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

fn find<'p>(parts: &'p [Part], one: &Part) -> Option<&'p Part> {
    parts.iter().find(|part| part.is_at(one))
}

/// The parts of `these` that `others` have too.
fn known<'p>(these: &'p [Part], others: &[Part]) -> Vec<&'p Part> {
    these.iter().filter(|part| find(others, part).is_some()).collect()
}

/// The parts of `these` that `others` lack, without those inside of a missing one, and inside of a value whose type changed: these
/// are one change.
fn missing<'p>(these: &'p [Part], others: &[Part]) -> Vec<&'p Part> {
    let is_other =
        |part: &Part| find(others, part).is_none_or(|other| other.value("type") != part.value("type"));
    let is_covered = |inner: &Part| these.iter().any(|outer| inner.is_inside(outer) && is_other(outer));
    these.iter().filter(|part| find(others, part).is_none() && !is_covered(part)).collect()
}

/// Whether a value says what its absence says.
fn is_without_effect(keyword: &str, value: &Value) -> bool {
    match keyword {
        "minLength" | "minItems" => *value == 0,
        "nullable" | "required" => *value == false,
        "additionalProperties" => *value == true,
        _ => false,
    }
}

/// The rule for a difference that changes nothing on the wire.
fn rule_of_text(at: &str, row: &Row, [old, new]: [Option<&SourceValue>; 2]) -> Option<&'static str> {
    let keyword = row.keyword.as_str();
    let both = || [old, new].into_iter().flatten().map(|said| &said.value);
    let is_sorted_alike = || {
        let sorted = |said: &Value| {
            let mut texts: Vec<String> =
                said.as_array().into_iter().flatten().map(Value::to_string).collect();
            texts.sort_unstable();
            texts
        };
        old.zip(new).is_some_and(|(old, new)| sorted(&old.value) == sorted(&new.value))
    };
    let is_respelled = || {
        let pair = old.zip(new).and_then(|(old, new)| old.value.as_str().zip(new.value.as_str()));
        pair.is_some_and(|(old, new)| old.eq_ignore_ascii_case(new))
    };
    Some(match keyword {
        _ if row.entry == "info" => "information-changed",
        "clause" | "x-credentials-agree" | "x-aliases-agree" if old.is_some() && new.is_some() => {
            "citation-changed"
        }
        "clause" => return None,
        "$ref" => "wording-of-references",
        "example" => "example-changed",
        "pattern" => "pattern-changed",
        "tags" => "tags-changed",
        "x-clause" => "citation-changed",
        "enum" | "order" if is_sorted_alike() => "document-reordered",
        "name" | "x-falls-back-to" if !at.starts_with("path ") && is_respelled() => "header-respelled",
        "minLength" | "minItems" if both().all(|value| is_without_effect(keyword, value)) => {
            "limit-without-effect"
        }
        _ if row.is_text() || both().all(|value| is_without_effect(keyword, value)) => "text-changed",
        _ => return None,
    })
}

fn is_success(part: &Part) -> bool {
    part.has("") && part.at.starts_with('2')
}

/// The rule for a part that is new.
fn added(part: &Part) -> Rule {
    let direction = part.direction;
    if part.value("observable") == Some(&Value::Bool(false)) {
        return Rule::named("text-changed");
    }
    if is_success(part) {
        return Rule::named("success-status-changed");
    }
    let (end, effect) =
        if part.has("required") { ("added-required", Effect::Narrows) } else { ("added", Effect::Adds) };
    Rule::by_effect(format!("{}-{end}", subject(part)), direction, effect)
}

/// The rule for a part that is gone.
fn removed(part: &Part) -> Rule {
    let direction = part.direction;
    let is_promised = part.has("required") && direction == Direction::Response;
    let (end, effect) =
        if is_promised { ("removed-required", Effect::Widens) } else { ("removed", Effect::Removes) };
    Rule::by_effect(format!("{}-{end}", subject(part)), direction, effect)
}

/// What a part is, in the ids of rules.
fn subject(part: &Part) -> &'static str {
    let (first, rest) = part.at.split_once(' ').unwrap_or((&part.at, ""));
    match (part.direction, first, rest.split_once(' ')) {
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
fn rule(keyword: &str, (old, new): (Option<&Value>, Option<&Value>), part: &Part) -> Rule {
    use Effect::{Narrows, Removes, Widens};
    let direction = part.direction;
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
            let subject = if part.has("x-alias-of") { "parameter" } else { subject(part) };
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
        "text" => Rule::named(&format!("{}-reworded", subject(part))),
        "operationId" => Rule::named("operation-renamed"),
        "name" => Rule::named("path-parameter-renamed"),
        "servers" => Rule::named("servers-changed"),
        "" if part.at == OPERATION => Rule::named("operation-moved"),
        _ if keyword.starts_with("x-separators ") => Rule::named("separator-changed"),
        _ => Rule::named("unclassified"),
    }
}

/// Whether a mapping has everything that another one has.
fn extends(new: &Value, old: &Value) -> bool {
    old.as_object().into_iter().flatten().all(|(name, value)| new.get(name) == Some(value))
}
