//! The keywords at a place that both documents have.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::{
    change::Direction,
    document_pair::{DEPRECATED_VALUES, DocumentPair, Place},
    elements::Element,
    extensions,
    rules::{self, Rule},
};
use crate::{
    document::{Document, join},
    model::{Constraint, LIMITS},
};

/// What a change does to the set of valid values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Narrows,
    Widens,
}

/// The two constraints with one keyword, and where they are.
struct Pair<'a> {
    keyword: &'static str,
    old: Option<&'a Constraint>,
    new: Option<&'a Constraint>,
}

pub(super) fn compare(
    documents: &mut DocumentPair<'_>,
    place: Place<'_>,
    old: &Element<'_>,
    new: &Element<'_>,
) {
    let mut keywords: Vec<&'static str> =
        new.constraints.iter().map(|constraint| constraint.keyword).collect();
    for constraint in &old.constraints {
        if !keywords.contains(&constraint.keyword) {
            keywords.push(constraint.keyword);
        }
    }
    let retyped = old.value("type") != new.value("type");
    // A limit of a number says nothing about a text.
    keywords.retain(|keyword| !retyped || ["type", "required", "nullable"].contains(keyword));
    for keyword in keywords {
        if !is_same(keyword, old.value(keyword), new.value(keyword)) {
            Pair { keyword, old: old.get(keyword), new: new.get(keyword) }.compare(documents, place);
        }
    }
    definitions(documents, place, old, new);
}

/// Whether two documents say the same under a keyword.
fn is_same(keyword: &str, old: Option<&Value>, new: Option<&Value>) -> bool {
    match (keyword, old, new) {
        // The value is the name of the part, which is the same at one place, but for the letter case of a header.
        ("required", Some(_), Some(_)) => true,
        ("x-falls-back-to", Some(Value::String(old)), Some(Value::String(new))) => {
            old.eq_ignore_ascii_case(new)
        }
        _ => old == new,
    }
}

/// What definitions say beside constraints.
fn definitions(documents: &mut DocumentPair<'_>, place: Place<'_>, old: &Element<'_>, new: &Element<'_>) {
    let (Some(before), Some(after)) = (old.head(), new.head()) else { return };
    extensions::deprecation(documents, place, (&before.pointer, &after.pointer));
    extensions::deprecated_values(documents, place, (&before.pointer, &after.pointer));
    let at = [&before.pointer, &after.pointer].map(|pointer| join(pointer, "additionalProperties"));
    let closed =
        |document: &Document, at: &str| document.get(at).filter(|value| **value == json!(false)).cloned();
    let found = (closed(documents.old, &at[0]), closed(documents.new, &at[1]));
    if found.0 != found.1 {
        let effect = if found.0.is_none() { Effect::Narrows } else { Effect::Widens };
        let [before, after] = at;
        let both = documents.both((before, found.0), (after, found.1));
        let rule = by_effect(place, effect, OBJECT_RULES);
        documents.report(rule, place, "additionalProperties", both, []);
    }
}

impl Pair<'_> {
    fn clauses(&self) -> Vec<String> {
        extensions::clauses(self.old, self.new)
    }

    fn report(&self, documents: &mut DocumentPair<'_>, place: Place<'_>, rule: &'static Rule) {
        let found = documents.constraints(self.old, self.new);
        documents.report(rule, place, self.keyword, found, self.clauses());
    }

    fn compare(&self, documents: &mut DocumentPair<'_>, place: Place<'_>) {
        match self.keyword {
            "enum" => self.values(documents, place),
            "x-port" => self.ports(documents, place),
            _ => match self.rule(place) {
                Some(rule) => self.report(documents, place, rule),
                None => extensions::keyword(documents, place, self.keyword, (self.old, self.new)),
            },
        }
    }

    /// The rule for a keyword of OpenAPI, or for a limit.
    fn rule(&self, place: Place<'_>) -> Option<&'static Rule> {
        let is_added = self.old.is_none();
        let is_changed = self.old.is_some() && self.new.is_some();
        let is_request = place.direction == Direction::Request;
        let retyped = if is_request { &rules::REQUEST_TYPE_CHANGED } else { &rules::RESPONSE_TYPE_CHANGED };
        if LIMITS.contains(&self.keyword) {
            return Some(by_effect(place, self.limit(larger(self.keyword)), LIMIT_RULES));
        }
        Some(match self.keyword {
            "required" => required(place, is_added),
            "nullable" => {
                let effect = if is_added { Effect::Widens } else { Effect::Narrows };
                by_effect(place, effect, NULL_RULES)
            }
            "type" => retyped,
            "format" | "x-format" if self.is_width() => &rules::INTEGER_WIDTH_CHANGED,
            "format" | "x-format" if is_changed => retyped,
            "format" | "x-format" => {
                let effect = if is_added { Effect::Narrows } else { Effect::Widens };
                by_effect(place, effect, TYPE_RULES)
            }
            "default" if is_changed => &rules::DEFAULT_CHANGED,
            "default" if is_added => &rules::DEFAULT_ADDED,
            "default" => &rules::DEFAULT_REMOVED,
            // The body of a request has one media type, and a response that lacks one is reported as a missing element.
            "content" => &rules::UNCLASSIFIED,
            _ => return None,
        })
    }

    /// The effect of a changed limit; `larger` is that of a larger number.
    fn limit(&self, larger: Effect) -> Effect {
        let number = |constraint: Option<&Constraint>| constraint.and_then(|one| one.value.as_i64());
        match (number(self.old), number(self.new)) {
            (Some(old), Some(new)) => effect(old.cmp(&new), larger),
            (None, _) => Effect::Narrows,
            (_, None) => Effect::Widens,
        }
    }

    fn is_width(&self) -> bool {
        let mut both = self.old.into_iter().chain(self.new);
        both.any(|constraint| constraint.value == "int64")
    }

    /// One change for each value of an enum; a list that appears or disappears is one change.
    fn values(&self, documents: &mut DocumentPair<'_>, place: Place<'_>) {
        let (Some(old), Some(new)) = (self.old, self.new) else {
            // Without a list every value is valid.
            let effect = if self.old.is_none() { Effect::Narrows } else { Effect::Widens };
            return self.report(documents, place, by_effect(place, effect, ENUM_RULES));
        };
        let list = |constraint: &Constraint| constraint.value.as_array().cloned().unwrap_or_default();
        let (before, after) = (list(old), list(new));
        let at = |pointer: &str, index: usize| join(&join(pointer, "enum"), &index.to_string());
        for (index, value) in after.iter().enumerate().filter(|(_, value)| !before.contains(value)) {
            let rule = by_effect(place, Effect::Widens, ENUM_RULES);
            let found = (None, documents.after(at(&new.pointer, index), value.clone()));
            documents.report(rule, place, "enum", found, self.clauses());
        }
        for (index, value) in before.iter().enumerate().filter(|(_, value)| !after.contains(value)) {
            let mut rule = by_effect(place, Effect::Narrows, ENUM_RULES);
            if place.direction == Direction::Request {
                let entry = join(&old.pointer, DEPRECATED_VALUES);
                rule = documents.removal(&join(&entry, value.as_str().unwrap_or_default()), rule);
            }
            let found = (documents.before(at(&old.pointer, index), value.clone()), None);
            documents.report(rule, place, "enum", found, self.clauses());
        }
    }

    /// The bounds of the port in an address. An added or removed format is reported instead.
    fn ports(&self, documents: &mut DocumentPair<'_>, place: Place<'_>) {
        let (Some(old), Some(new)) = (self.old, self.new) else { return };
        for keyword in ["minimum", "maximum"] {
            let number = |constraint: &Constraint| constraint.value.get(keyword).and_then(Value::as_i64);
            let (Some(before), Some(after)) = (number(old), number(new)) else { continue };
            if before == after {
                continue;
            }
            let rule = by_effect(place, effect(before.cmp(&after), larger(keyword)), LIMIT_RULES);
            let at = |constraint: &Constraint| join(&join(&constraint.pointer, "x-port"), keyword);
            let found = (documents.before(at(old), json!(before)), documents.after(at(new), json!(after)));
            documents.report(rule, place, &format!("x-port {keyword}"), found, self.clauses());
        }
    }
}

/// Rules by effect: requests narrower and wider, responses narrower and wider.
type EffectRules = [&'static Rule; 4];

fn by_effect(place: Place<'_>, effect: Effect, rules: EffectRules) -> &'static Rule {
    match (place.direction == Direction::Request, effect) {
        (true, Effect::Narrows) => rules[0],
        (true, Effect::Widens) => rules[1],
        (false, Effect::Narrows) => rules[2],
        (false, Effect::Widens) => rules[3],
    }
}

const ENUM_RULES: EffectRules = [
    &rules::REQUEST_ENUM_VALUE_REMOVED,
    &rules::REQUEST_ENUM_VALUE_ADDED,
    &rules::RESPONSE_ENUM_VALUE_REMOVED,
    &rules::RESPONSE_ENUM_VALUE_ADDED,
];

const NULL_RULES: EffectRules = [
    &rules::REQUEST_NULL_REMOVED,
    &rules::REQUEST_NULL_ADDED,
    &rules::RESPONSE_NULL_REMOVED,
    &rules::RESPONSE_NULL_ADDED,
];

const TYPE_RULES: EffectRules = [
    &rules::REQUEST_TYPE_NARROWED,
    &rules::REQUEST_TYPE_WIDENED,
    &rules::RESPONSE_TYPE_NARROWED,
    &rules::RESPONSE_TYPE_WIDENED,
];

const OBJECT_RULES: EffectRules = [
    &rules::REQUEST_OBJECT_CLOSED,
    &rules::REQUEST_OBJECT_OPENED,
    &rules::RESPONSE_OBJECT_CLOSED,
    &rules::RESPONSE_OBJECT_OPENED,
];

const LIMIT_RULES: EffectRules = [
    &rules::REQUEST_LIMIT_NARROWED,
    &rules::REQUEST_LIMIT_WIDENED,
    &rules::RESPONSE_LIMIT_NARROWED,
    &rules::RESPONSE_LIMIT_WIDENED,
];

/// The effect of a larger number under the keyword of a limit.
fn larger(keyword: &str) -> Effect {
    if keyword.starts_with("min") { Effect::Narrows } else { Effect::Widens }
}

fn effect(old_to_new: Ordering, larger: Effect) -> Effect {
    match (old_to_new, larger) {
        (Ordering::Less, Effect::Narrows) | (Ordering::Greater, Effect::Widens) => Effect::Narrows,
        _ => Effect::Widens,
    }
}

fn required(place: Place<'_>, is_added: bool) -> &'static Rule {
    let (added, removed): (&'static Rule, &'static Rule) = match place.direction {
        Direction::Request if place.at == "body" => {
            (&rules::REQUEST_BODY_BECAME_REQUIRED, &rules::REQUEST_BODY_BECAME_OPTIONAL)
        }
        Direction::Request if place.at.starts_with("body ") => {
            (&rules::REQUEST_PROPERTY_BECAME_REQUIRED, &rules::REQUEST_PROPERTY_BECAME_OPTIONAL)
        }
        Direction::Request => (&rules::PARAMETER_BECAME_REQUIRED, &rules::PARAMETER_BECAME_OPTIONAL),
        _ if place.at.split(' ').nth(1) == Some("header") => {
            (&rules::RESPONSE_HEADER_BECAME_REQUIRED, &rules::RESPONSE_HEADER_BECAME_OPTIONAL)
        }
        _ => (&rules::RESPONSE_PROPERTY_BECAME_REQUIRED, &rules::RESPONSE_PROPERTY_BECAME_OPTIONAL),
    };
    if is_added { added } else { removed }
}
