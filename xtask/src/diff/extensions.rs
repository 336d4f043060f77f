//! Our own extensions: other names, fallbacks, rules between fields, separators, repetition, deprecation.

use jiff::civil::Date;
use serde_json::{Value, json};

use super::{
    document_pair::{DEPRECATED_VALUES, DocumentPair, Place},
    elements::{self, Element, OPERATION},
    rules::{self, Rule},
};
use crate::{
    document::{Document, join},
    model::{Constraint, Operation, Retry},
};

/// What binds an operation as a whole: how the token is sent, and rules between fields.
pub(super) fn operation(
    documents: &mut DocumentPair<'_>,
    place: Place<'_>,
    (old, new): (&[Element<'_>], &[Element<'_>]),
) {
    let list = |elements: &[Element<'_>]| -> Vec<Constraint> {
        let found = elements::find(elements, OPERATION).map(|element| element.constraints.as_slice());
        found.unwrap_or_default().iter().map(|constraint| (*constraint).clone()).collect()
    };
    let (before, after) = (list(old), list(new));
    // The value of `x-credentials-agree` is a clause: which one it is changes nothing for callers.
    let same_text = |one: &Constraint, other: &Constraint| {
        let texts = [one, other].map(|one| one.value.as_str().unwrap_or_default());
        elements::is_same_place(texts[0], texts[1])
    };
    let same = |one: &Constraint, other: &Constraint| {
        one.keyword == other.keyword && (same_text(one, other) || one.keyword == "x-credentials-agree")
    };
    for (these, others, is_added) in [(&after, &before, true), (&before, &after, false)] {
        for constraint in these.iter().filter(|one| !others.iter().any(|other| same(one, other))) {
            let rule = match (constraint.keyword, is_added) {
                ("security", true) => &rules::CREDENTIAL_ADDED,
                ("security", false) => &rules::CREDENTIAL_REMOVED,
                ("x-credentials-agree", true) => &rules::CREDENTIALS_MUST_AGREE,
                ("x-credentials-agree", false) => &rules::CREDENTIALS_MAY_DIFFER,
                (_, true) => &rules::RULE_ADDED,
                (_, false) => &rules::RULE_REMOVED,
            };
            let is = Some(constraint);
            let found =
                if is_added { documents.constraints(None, is) } else { documents.constraints(is, None) };
            documents.report(rule, place, constraint.keyword, found, constraint.clauses.clone());
        }
    }
}

/// A keyword of ours at a place that both documents have, with different values.
pub(super) fn keyword(
    documents: &mut DocumentPair<'_>,
    place: Place<'_>,
    keyword: &str,
    (old, new): (Option<&Constraint>, Option<&Constraint>),
) {
    if keyword == "x-separators" {
        return separators(documents, place, (old, new));
    }
    let rule = match (keyword, old, new) {
        ("x-alias-of", Some(_), _) => &rules::ALIAS_REMOVED,
        ("x-aliases-agree", Some(_), Some(_)) => return,
        ("x-aliases-agree", None, _) => &rules::ALIASES_MUST_AGREE,
        ("x-aliases-agree", _, None) => &rules::ALIASES_MAY_DIFFER,
        ("x-falls-back-to", None, _) => &rules::FALLBACK_ADDED,
        ("x-falls-back-to", Some(_), _) => &rules::FALLBACK_REMOVED,
        _ => &rules::UNCLASSIFIED,
    };
    let found = documents.constraints(old, new);
    documents.report(rule, place, keyword, found, clauses(old, new));
}

/// The texts of values that both documents have. A value that only one of them has is reported as a change of the enum.
fn separators(
    documents: &mut DocumentPair<'_>,
    place: Place<'_>,
    (old, new): (Option<&Constraint>, Option<&Constraint>),
) {
    let texts = |constraint: Option<&Constraint>| {
        constraint.and_then(|one| one.value.as_object().cloned()).unwrap_or_default()
    };
    let (before, after) = (texts(old), texts(new));
    let known = |document: &Document, constraint: Option<&Constraint>, value: &str| {
        let values = constraint.and_then(|one| document.get(&join(&one.pointer, "enum")));
        values.and_then(Value::as_array).is_some_and(|values| values.iter().any(|one| one == value))
    };
    let mut values: Vec<&String> = after.keys().collect();
    values.extend(before.keys().filter(|value| !after.contains_key(*value)));
    for value in values {
        let (was, is) = (before.get(value), after.get(value));
        if was == is || !known(documents.old, old.or(new), value) || !known(documents.new, new.or(old), value)
        {
            continue;
        }
        let at = |constraint: Option<&Constraint>| {
            let pointer = constraint.map_or("", |one| one.pointer.as_str());
            join(&join(pointer, "x-separators"), value)
        };
        let found = documents.both((at(old), was.cloned()), (at(new), is.cloned()));
        let keyword = format!("x-separators {value}");
        documents.report(&rules::SEPARATOR_CHANGED, place, &keyword, found, clauses(old, new));
    }
}

/// The clauses of two constraints.
pub(super) fn clauses(old: Option<&Constraint>, new: Option<&Constraint>) -> Vec<String> {
    old.into_iter().chain(new).flat_map(|constraint| constraint.clauses.clone()).collect()
}

/// The keyword that says whether an operation may be repeated.
const RETRY: &str = "x-retry";

/// Whether callers may repeat the operation.
pub(super) fn retry(documents: &mut DocumentPair<'_>, place: Place<'_>, old: &Operation, new: &Operation) {
    let at = (join(&old.pointer, RETRY), join(&new.pointer, RETRY));
    let (before, after) = (documents.old.get(&at.0).cloned(), documents.new.get(&at.1).cloned());
    if before == after {
        return;
    }
    let rank = |class: &Value| Retry::CLASSES.iter().rev().position(|one| class == one);
    let rule = match (&before, &after) {
        (None, Some(_)) => &rules::RETRY_STATED,
        (Some(before), Some(after)) if rank(before) < rank(after) => &rules::RETRY_ALLOWED,
        (Some(_), Some(_)) => &rules::RETRY_FORBIDDEN,
        _ => &rules::UNCLASSIFIED,
    };
    let found = documents.both((at.0, before), (at.1, after));
    documents.report(rule, place, RETRY, found, []);
}

/// Compares the deprecation of the definitions at two pointers.
pub(super) fn deprecation(documents: &mut DocumentPair<'_>, place: Place<'_>, (old, new): (&str, &str)) {
    for keyword in ["deprecated", "x-deprecated-since", "x-sunset", "x-replaced-by"] {
        let at = (join(old, keyword), join(new, keyword));
        let said =
            |document: &Document, at: &str| document.get(at).filter(|value| **value != json!(false)).cloned();
        let (before, after) = (said(documents.old, &at.0), said(documents.new, &at.1));
        if before == after {
            continue;
        }
        let rule: &'static Rule = match keyword {
            "deprecated" if after.is_some() => &rules::DEPRECATED,
            "deprecated" => &rules::UNDEPRECATED,
            "x-sunset" if is_earlier(before.as_ref(), after.as_ref()) => &rules::SUNSET_EARLIER,
            "x-sunset" => &rules::SUNSET_LATER,
            _ => &rules::TEXT_CHANGED,
        };
        let found = documents.both((at.0, before), (at.1, after));
        documents.report(rule, place, keyword, found, []);
    }
}

/// Compares the deprecated values of two enums. A removed value is reported as a change of the enum.
pub(super) fn deprecated_values<'a>(
    documents: &mut DocumentPair<'a>,
    place: Place<'_>,
    (old, new): (&str, &str),
) {
    let entries = |document: &'a Document, at: &str| document.members(&join(at, DEPRECATED_VALUES));
    let (before, after) = (entries(documents.old, old), entries(documents.new, new));
    for (value, at, entry) in &after {
        match before.iter().find(|(other, ..)| other == value) {
            Some((_, was, _)) => deprecation(documents, place, (was, at)),
            None => {
                let found = (None, documents.after(at, (*entry).clone()));
                let keyword = format!("{DEPRECATED_VALUES} {value}");
                documents.report(&rules::DEPRECATED, place, &keyword, found, []);
            }
        }
    }
    let left = documents.new.get(&join(new, "enum")).and_then(Value::as_array).cloned().unwrap_or_default();
    let is_gone =
        |value: &str| after.iter().all(|(other, ..)| *other != value) && left.contains(&json!(value));
    for (value, at, entry) in before.iter().filter(|(value, ..)| is_gone(value)) {
        let found = (documents.before(at, (*entry).clone()), None);
        let keyword = format!("{DEPRECATED_VALUES} {value}");
        documents.report(&rules::UNDEPRECATED, place, &keyword, found, []);
    }
}

fn is_earlier(old: Option<&Value>, new: Option<&Value>) -> bool {
    let date =
        |value: Option<&Value>| value.and_then(Value::as_str).and_then(|text| text.parse::<Date>().ok());
    matches!((date(old), date(new)), (Some(old), Some(new)) if new < old)
}
