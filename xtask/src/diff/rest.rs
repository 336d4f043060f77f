//! Differences of the files that no other module reports: texts, examples, and changes without a rule.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{
    change::{Change, Direction, SourceValue},
    document_pair::{DEPRECATED_VALUES, DocumentPair, Place},
    operations::path_template,
    rules::{self, Rule},
};
use crate::document::{Document, join, reference, unescaped, values};

/// A difference of the two files. The pointers are those of the value, or of the place where it is missing.
struct Difference {
    old: (String, Option<Value>),
    new: (String, Option<Value>),
    /// Whether the same entries stand in another order.
    is_order: bool,
}

pub(super) fn compare(documents: &mut DocumentPair<'_>) {
    let mut walk = Walk { old: documents.old, new: documents.new, found: Vec::new() };
    walk.values("", "");
    for difference in walk.found {
        if documents.changes.iter().any(|change| covers(change, &difference)) {
            continue;
        }
        let Some(rule) = rule(&difference) else { continue };
        let Difference { old, new, .. } = difference;
        let pointer = if new.1.is_some() { &new.0 } else { &old.0 };
        let (at, keyword) = named(pointer);
        let operation = operation(documents, &old.0, &new.0);
        let cited = [&old.1, &new.1].into_iter().flatten().flat_map(values).filter_map(Value::as_str);
        let cited = cited.filter(|_| keyword == "x-clause").map(str::to_owned);
        let clauses: Vec<String> = cited.collect();
        let found = documents.both(old, new);
        let place = Place { operation: operation.as_deref(), direction: Direction::Contract, at: &at };
        documents.report(rule, place, &keyword, found, clauses);
    }
}

/// A walk over both documents at once.
struct Walk<'a> {
    old: &'a Document,
    new: &'a Document,
    found: Vec<Difference>,
}

impl<'a> Walk<'a> {
    fn values(&mut self, old: &str, new: &str) {
        let (Some(before), Some(after)) = (self.old.get(old), self.new.get(new)) else { return };
        if before == after {
            return;
        }
        if before.get("$ref").is_some() || after.get("$ref").is_some() {
            return self.references((old, before), (new, after));
        }
        match (before, after) {
            (Value::Object(one), Value::Object(other)) => self.members((old, one), (new, other)),
            (Value::Array(one), Value::Array(other)) => self.items((old, one), (new, other)),
            _ => self.push((old.to_owned(), Some(before)), (new.to_owned(), Some(after))),
        }
    }

    /// Another reference, or a part in place of one: what the parts say counts.
    fn references(&mut self, (old, before): (&str, &'a Value), (new, after): (&str, &'a Value)) {
        let definitions = (self.old.definition(old), self.new.definition(new));
        if self.old.get(definitions.0) == self.new.get(definitions.1) {
            self.push((old.to_owned(), Some(before)), (new.to_owned(), Some(after)));
        } else if definitions != (old, new) {
            self.values(definitions.0, definitions.1);
        }
    }

    fn members(&mut self, old: (&str, &'a Map<String, Value>), new: (&str, &'a Map<String, Value>)) {
        let find = |members: &'a Map<String, Value>, name: &str| {
            let key = member_key(new.0, name);
            members.iter().find(|(other, _)| member_key(new.0, other) == key)
        };
        for (name, value) in new.1 {
            let Some((before, _)) = find(old.1, name) else {
                self.push((join(old.0, name), None), (join(new.0, name), Some(value)));
                continue;
            };
            let at = (join(old.0, before), join(new.0, name));
            if before != name {
                let names = [before, name].map(|name| Some(Value::String(name.clone())));
                let [was, is] = names;
                self.found.push(Difference {
                    old: (at.0.clone(), was),
                    new: (at.1.clone(), is),
                    is_order: false,
                });
            }
            self.values(&at.0, &at.1);
        }
        for (name, value) in old.1.iter().filter(|(name, _)| find(new.1, name).is_none()) {
            self.push((join(old.0, name), Some(value)), (join(new.0, name), None));
        }
    }

    /// Items are matched by what identifies them, so that one more of them does not change all after it.
    fn items(&mut self, old: (&str, &'a [Value]), new: (&str, &'a [Value])) {
        let at = |side: &str, index: usize| join(side, &index.to_string());
        let keys = |items: &[Value]| items.iter().map(identity).collect::<Vec<_>>();
        let (before, after) = (keys(old.1), keys(new.1));
        let mut order = Vec::new();
        for (index, key) in after.iter().enumerate() {
            match before.iter().position(|other| other == key) {
                Some(was) => {
                    order.push(was);
                    self.values(&at(old.0, was), &at(new.0, index));
                }
                None => self.push((old.0.to_owned(), None), (at(new.0, index), Some(&new.1[index]))),
            }
        }
        for (index, _) in before.iter().enumerate().filter(|(_, key)| !after.contains(key)) {
            self.push((at(old.0, index), Some(&old.1[index])), (new.0.to_owned(), None));
        }
        // An entry that is listed twice in one of them is a difference of length.
        if !order.is_sorted() || before.len() - missing(&before, &after) != order.len() {
            self.found.push(Difference {
                old: (old.0.to_owned(), Some(Value::Array(old.1.to_vec()))),
                new: (new.0.to_owned(), Some(Value::Array(new.1.to_vec()))),
                is_order: true,
            });
        }
    }

    fn push(&mut self, old: (String, Option<&Value>), new: (String, Option<&Value>)) {
        self.found.push(Difference {
            old: (old.0, old.1.cloned()),
            new: (new.0, new.1.cloned()),
            is_order: false,
        });
    }
}

fn missing(these: &[String], others: &[String]) -> usize {
    these.iter().filter(|key| !others.contains(key)).count()
}

/// What identifies a member of the mapping at a pointer: headers have no letter case, and the names of its parameters are no part
/// of a path.
fn member_key<'n>(mapping: &str, name: &'n str) -> Cow<'n, str> {
    match mapping {
        "/paths" => path_template(name).into(),
        _ if mapping.ends_with("/headers") => name.to_ascii_lowercase().into(),
        _ => name.into(),
    }
}

/// What identifies an entry of a list: its id, its name and place, or all of it.
fn identity(item: &Value) -> String {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    match (text("id"), text("name"), text("in")) {
        (Some(id), ..) => id.to_owned(),
        (None, Some(name), Some("header")) => format!("header {}", name.to_ascii_lowercase()),
        (None, Some(name), Some(place)) => format!("{place} {name}"),
        (None, Some(name), None) => name.to_owned(),
        _ => item.to_string(),
    }
}

/// Whether a change that is known already is about this difference.
fn covers(change: &Change, difference: &Difference) -> bool {
    let touches = |known: &str, at: &str| {
        let inside = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // A new type changes what every other keyword of its schema means, and a new value of an enum its separators.
        let known = known.strip_suffix("/type").unwrap_or(known);
        let of_values = known.rsplit_once("/enum/").is_some_and(|(schema, _)| {
            ["x-separators", DEPRECATED_VALUES].iter().any(|texts| inside(at, &join(schema, texts)))
        });
        // An added or removed property is listed as required as well.
        let required = known.rsplit_once("/properties/").is_some_and(|(schema, name)| {
            inside(at, &join(schema, "required"))
                && [&difference.old.1, &difference.new.1]
                    .into_iter()
                    .flatten()
                    .all(|value| *value == unescaped(name))
        });
        !difference.is_order && (inside(at, known) || inside(known, at)) || of_values || required
    };
    let side = |found: &Option<SourceValue>, (at, value): &(String, Option<Value>)| {
        let inside = value.iter().flat_map(values).filter_map(reference);
        let mut targets = std::iter::once(at.as_str()).chain(inside);
        found.as_ref().is_some_and(|found| targets.any(|at| touches(&found.pointer, at)))
    };
    let old = side(&change.old, &difference.old);
    let new = side(&change.new, &difference.new);
    match (&difference.old.1, &difference.new.1) {
        (Some(_), Some(_)) => old || new,
        (None, _) => new,
        (_, None) => old,
    }
}

/// The rule for a difference that no other module reports; `None` for the version, which is shown by itself.
fn rule(difference: &Difference) -> Option<&'static Rule> {
    let (old, new) = (difference.old.0.as_str(), difference.new.0.as_str());
    let at = if difference.new.1.is_some() { new } else { old };
    let steps: Vec<&str> = at.split('/').skip(1).collect();
    let last = steps.iter().rev().find(|step| step.parse::<usize>().is_err()).copied().unwrap_or_default();
    Some(match (steps.as_slice(), last) {
        (["info", "version"], _) => return None,
        // Operations are matched by method and path template.
        (["paths", _], _) => return None,
        // What a component says is reported at the places that use it.
        (["components", _, _], _) => return None,
        _ if difference.is_order => &rules::DOCUMENT_REORDERED,
        (["info", ..], _) => &rules::INFORMATION_CHANGED,
        (["servers", ..], _) => &rules::SERVERS_CHANGED,
        (["tags", ..], _) | (_, "tags") => &rules::TAGS_CHANGED,
        _ if steps.contains(&"x-clause") => &rules::CITATION_CHANGED,
        (_, "x-credentials-agree" | "x-aliases-agree" | "clause") => &rules::CITATION_CHANGED,
        _ if steps.contains(&"example") => &rules::EXAMPLE_CHANGED,
        (_, "description" | "summary" | "section" | "reason" | "x-replaced-by" | "x-deprecated-since") => {
            &rules::TEXT_CHANGED
        }
        (_, "pattern") => &rules::PATTERN_CHANGED,
        (_, "minLength" | "minItems") => &rules::LIMIT_WITHOUT_EFFECT,
        _ if is_respelled(difference) => &rules::HEADER_RESPELLED,
        (_, "additionalProperties") if is_open(difference) => &rules::TEXT_CHANGED,
        (_, "$ref") => &rules::WORDING_OF_REFERENCES,
        _ if is_reference(difference) => &rules::WORDING_OF_REFERENCES,
        (_, "required" | "nullable" | "deprecated") if is_false(difference) => &rules::TEXT_CHANGED,
        _ => &rules::UNCLASSIFIED,
    })
}

/// Whether one of the values is a reference, or a part that was written in place of one.
fn is_reference(difference: &Difference) -> bool {
    let at = &difference.new.0;
    let mut both = [&difference.old.1, &difference.new.1].into_iter().flatten();
    both.any(|value| value.get("$ref").is_some()) || at.ends_with("/$ref")
}

/// Whether only the letter case of the name of a header differs.
fn is_respelled(difference: &Difference) -> bool {
    let names = [&difference.old.1, &difference.new.1].map(|value| value.as_ref().and_then(Value::as_str));
    matches!(names, [Some(one), Some(other)] if one.eq_ignore_ascii_case(other))
}

/// Whether an object allows further properties in both documents: said, or by default.
fn is_open(difference: &Difference) -> bool {
    [&difference.old.1, &difference.new.1].into_iter().flatten().all(|value| *value == Value::Bool(true))
}

/// Whether a flag is now written out as `false`, which it is anyway.
fn is_false(difference: &Difference) -> bool {
    let is_off = |value: &Option<Value>| value.as_ref().is_none_or(|value| *value == Value::Bool(false));
    is_off(&difference.old.1) && is_off(&difference.new.1)
}

/// The place and the keyword of a pointer, for readers.
fn named(pointer: &str) -> (String, String) {
    let (at, keyword) = pointer.rsplit_once('/').unwrap_or(("", pointer));
    (if at.is_empty() { "document".to_owned() } else { format!("#{at}") }, unescaped(keyword))
}

/// The operation around a pointer; `None` in components.
fn operation(documents: &DocumentPair<'_>, old: &str, new: &str) -> Option<String> {
    let around = |document: &Document, pointer: &str| {
        let rest = pointer.strip_prefix("/paths/")?;
        let mut steps = rest.split('/');
        let at = format!("/paths/{}/{}/operationId", steps.next()?, steps.next()?);
        document.get(&at)?.as_str().map(str::to_owned)
    };
    around(documents.new, new).or_else(|| around(documents.old, old))
}
