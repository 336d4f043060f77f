//! Compares the tables of two documents. Each row that differs is one change.

use std::collections::BTreeMap;

use minijinja::Value as Known;
use serde_json::Value;

use super::{
    change::Change,
    rules::{self, Effect, Rule, Verdict},
};
use crate::{
    document::{Document, join, unescaped, values},
    model::Limit,
    table::{self, Direction, OPERATION, Operation, Part, Row, SourceValue},
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
            let by_way = old.iter().find(|before| before.call == operation.call);
            let is_free = |before: &&Operation| {
                before.id == operation.id && new.iter().all(|other| other.call != before.call)
            };
            match by_way.or_else(|| old.iter().find(is_free)) {
                Some(before) => {
                    matched.push(&before.call);
                    self.parts(Some(&operation.id), &before.parts, &operation.parts);
                }
                None => self.operation("operation-added", operation, (None, Some(operation.way.clone()))),
            }
        }
        for operation in old.iter().filter(|operation| !matched.contains(&&operation.call)) {
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
        let come = missing(new, old).into_iter();
        let come = come.map(|part| (part, added(part), (None, Some(part.said(self.new)))));
        // The success is in another status otherwise, which is reported as added.
        let gone = missing(old, new).into_iter().filter(|part| !is_success(part));
        let gone = gone.map(|part| (part, removed(part), (Some(part.said(self.old)), None)));
        for (part, rule, both) in come.chain(gone).collect::<Vec<_>>() {
            self.report(rule, Place::new(operation, part), "", both, part.clauses());
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
        let [old, new] = said.map(|said| said.filter(|said| !rules::is_without_effect(keyword, &said.value)));
        let value = |said: Option<&SourceValue>| rules::known(said.map(|said| &said.value));
        let separated = keyword.strip_prefix("x-separators ");
        let has = |part: &Part, value| {
            let values = part.value("enum").and_then(Value::as_array);
            values.is_some_and(|values| values.iter().any(|one| one == value))
        };
        let is_port = keyword.starts_with("x-port ");
        let known = BTreeMap::from([
            ("keyword", Known::from(keyword)),
            ("entry", Known::from(&row.entry)),
            ("at", Known::from(place.at)),
            ("direction", Known::from(place.direction.to_string())),
            ("subject", Known::from(subject(part))),
            ("before", value(said[0])),
            ("after", value(said[1])),
            ("old", value(old)),
            ("new", value(new)),
            ("is_text", Known::from(row.is_text())),
            ("is_alias", Known::from(part.has("x-alias-of"))),
            ("is_limit", Known::from(is_port || Limit::named(keyword).is_some())),
            ("is_port", Known::from(is_port)),
            ("is_separator", Known::from(separated.is_some())),
            ("is_kept", Known::from(separated.is_some_and(|one| has(before, one) && has(part, one)))),
        ]);
        let (id, effect) = rules::difference(&known);
        if id == "none" {
            return;
        }
        if let ("each-value", Some(old), Some(new)) = (id.as_str(), old, new) {
            self.values(place, new, old, ("added", Effect::Widens), &clauses);
            return self.values(place, old, new, ("removed", Effect::Narrows), &clauses);
        }
        let rule = match effect {
            Some(effect) => Rule::by_effect(&id, place.direction, effect),
            None => Rule::named(&id),
        };
        if rule.verdict == Verdict::Documentation {
            return self.text(&id, said);
        }
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
        let (others, is_new) = (list(others), effect == Effect::Widens);
        let id = format!("{}-enum-value-{end}", place.direction);
        for (index, value) in list(these).into_iter().enumerate().filter(|(_, value)| !others.contains(value))
        {
            let document = if is_new { self.new } else { self.old };
            let said = Some(SourceValue::new(document, join(&these.pointer, &index.to_string()), value));
            let both = if is_new { (None, said) } else { (said, None) };
            self.report(Rule::by_effect(&id, place.direction, effect), place, "enum", both, clauses.to_vec());
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

fn is_success(part: &Part) -> bool {
    part.has("") && part.at.starts_with('2')
}

fn added(part: &Part) -> Rule {
    if part.value("observable") == Some(&Value::Bool(false)) {
        return Rule::named("text-changed");
    }
    if is_success(part) {
        return Rule::named("success-status-changed");
    }
    let (end, effect) =
        if part.has("required") { ("added-required", Effect::Narrows) } else { ("added", Effect::Adds) };
    Rule::by_effect(&format!("{}-{end}", subject(part)), part.direction, effect)
}

fn removed(part: &Part) -> Rule {
    let is_promised = part.has("required") && part.direction == Direction::Response;
    let (end, effect) =
        if is_promised { ("removed-required", Effect::Widens) } else { ("removed", Effect::Removes) };
    Rule::by_effect(&format!("{}-{end}", subject(part)), part.direction, effect)
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
