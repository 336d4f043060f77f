//! Differences of the files that the tables do not show: texts, examples, and changes without a rule.

use serde_json::Value;

use super::{
    change::{Change, Direction, SourceValue},
    compare::{Comparison, Place, path_template},
    rules::Rule,
};
use crate::document::{Document, join, reference, unescaped, values};

/// A difference of the two files. The pointers are those of the value, or of the place where it is missing.
struct Difference {
    old: (String, Option<Value>),
    new: (String, Option<Value>),
    /// Whether the same entries stand in another order.
    is_order: bool,
}

impl Comparison<'_> {
    /// Reports what differs in the files and is part of no change so far.
    pub(super) fn rest(&mut self) {
        let mut found = Vec::new();
        walk((self.old, String::new()), (self.new, String::new()), &mut found);
        for difference in found {
            if self.changes.iter().any(|change| covers(change, &difference)) {
                continue;
            }
            let Some(id) = rule(&difference) else { continue };
            let Difference { old, new, .. } = difference;
            let pointer = if new.1.is_some() { &new.0 } else { &old.0 };
            let (around, keyword) = pointer.rsplit_once('/').unwrap_or(("", pointer));
            let at = if around.is_empty() { "document".to_owned() } else { format!("#{around}") };
            let keyword = unescaped(keyword);
            let operation = operation(self.new, &new.0).or_else(|| operation(self.old, &old.0));
            let cited = [&old.1, &new.1].into_iter().flatten().flat_map(values).filter_map(Value::as_str);
            let cited = cited.filter(|_| keyword == "x-clause").map(str::to_owned).collect();
            let source = |document, (at, value): (String, Option<Value>)| {
                value.map(|value| SourceValue::new(document, at, value))
            };
            let both = (source(self.old, old), source(self.new, new));
            let place = Place { operation: operation.as_deref(), direction: Direction::Contract, at: &at };
            self.report(Rule::named(id), place, &keyword, both, cited);
        }
    }
}

/// The operation around a pointer; `None` in components.
fn operation(document: &Document, pointer: &str) -> Option<String> {
    let mut steps = pointer.strip_prefix("/paths/")?.split('/');
    let at = format!("/paths/{}/{}/operationId", steps.next()?, steps.next()?);
    document.get(&at)?.as_str().map(str::to_owned)
}

/// Walks both documents at once. A part that one of them has as a reference is one difference: what it says is in the tables.
fn walk((old, at): (&Document, String), (new, to): (&Document, String), found: &mut Vec<Difference>) {
    let (before, after) = (old.get(&at), new.get(&to));
    if before == after {
        return;
    }
    let is_reference = [before, after].into_iter().flatten().any(|value| value.get("$ref").is_some());
    let [one, other] = [(before, &at), (after, &to)].map(|(value, at)| members(at, value?));
    let Some((one, other)) = one.zip(other).filter(|_| !is_reference) else {
        return found.push(Difference::new((at, before), (to, after)));
    };
    let mut order = Vec::new();
    for (key, name, value) in &other {
        let here = join(&to, name);
        let Some(index) = one.iter().position(|(other, ..)| other == key) else {
            found.push(Difference::new((at.clone(), None), (here, Some(value))));
            continue;
        };
        order.push(index);
        let was = &one[index].1;
        // Names of headers are keys of a mapping.
        if was != name && before.is_some_and(Value::is_object) && !at.ends_with("/paths") {
            let [old, new] = [was, name].map(|name| Value::from(name.as_str()));
            found.push(Difference::new((join(&at, was), Some(&old)), (here.clone(), Some(&new))));
        }
        walk((old, join(&at, was)), (new, here), found);
    }
    let is_gone = |key: &String| !other.iter().any(|(other, ..)| other == key);
    let gone: Vec<_> = one.iter().filter(|(key, ..)| is_gone(key)).collect();
    for (_, name, value) in &gone {
        found.push(Difference::new((join(&at, name), Some(value)), (to.clone(), None)));
    }
    // Entries of a list that stand elsewhere, or twice in one of them.
    let is_moved = !order.is_sorted() || one.len() - gone.len() != order.len();
    if before.is_some_and(Value::is_array) && is_moved {
        found.push(Difference { is_order: true, ..Difference::new((at, before), (to, after)) });
    }
}

impl Difference {
    fn new(old: (String, Option<&Value>), new: (String, Option<&Value>)) -> Difference {
        Difference { old: (old.0, old.1.cloned()), new: (new.0, new.1.cloned()), is_order: false }
    }
}

/// The members of a mapping and the entries of a list, each with what identifies it and with its name; `None` for a scalar.
/// Headers have no letter case, and the names of its parameters are no part of a path.
fn members<'v>(pointer: &str, value: &'v Value) -> Option<Vec<(String, String, &'v Value)>> {
    let identity = |item: &Value| {
        let text = |key: &str| item.get(key).and_then(Value::as_str);
        match (text("id").or(text("name")), text("in")) {
            (Some(name), Some("header")) => format!("header {}", name.to_ascii_lowercase()),
            (Some(name), place) => format!("{} {name}", place.unwrap_or_default()),
            (None, _) => item.to_string(),
        }
    };
    let key = |name: &String| match pointer {
        "/paths" => path_template(name),
        _ if pointer.ends_with("/headers") => name.to_ascii_lowercase(),
        _ => name.clone(),
    };
    Some(match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (key(name), name.clone(), value)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (identity(item), index.to_string(), item)).collect()
        }
        _ => return None,
    })
}

/// Whether a change that is known already is about this difference.
fn covers(change: &Change, difference: &Difference) -> bool {
    let inside = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let touches = |known: &str, (at, value): (&str, &Option<Value>)| {
        // A new type changes what every other keyword of its schema means, and a new value of an enum its separators.
        let known = known.strip_suffix("/type").unwrap_or(known);
        let texts = known.rsplit_once("/enum").map(|(schema, _)| join(schema, "x-separators"));
        // An added or removed property is listed as required as well.
        let is_required = known.rsplit_once("/properties/").is_some_and(|(schema, name)| {
            inside(at, &join(schema, "required"))
                && value.as_ref().is_none_or(|value| *value == unescaped(name))
        });
        !difference.is_order && (inside(at, known) || inside(known, at))
            || texts.is_some_and(|texts| inside(at, &texts))
            || is_required
    };
    let side = |found: &Option<SourceValue>, (at, value): &(String, Option<Value>)| {
        let references = value.iter().flat_map(values).filter_map(reference);
        let mut targets = std::iter::once(at.as_str()).chain(references);
        found.as_ref().is_some_and(|found| targets.any(|at| touches(&found.pointer, (at, value))))
    };
    let (old, new) = (side(&change.old, &difference.old), side(&change.new, &difference.new));
    match (&difference.old.1, &difference.new.1) {
        (Some(_), Some(_)) => old || new,
        (None, _) => new,
        (_, None) => old,
    }
}

/// The rule for a difference; `None` for the version, which is shown by itself, and for what is reported elsewhere.
fn rule(difference: &Difference) -> Option<&'static str> {
    let Difference { old: (old, before), new: (new, after), is_order } = difference;
    let steps: Vec<&str> = if after.is_some() { new } else { old }.split('/').skip(1).collect();
    let last = steps.iter().rev().find(|step| step.parse::<usize>().is_err()).copied().unwrap_or_default();
    let both = || [before, after].into_iter().flatten();
    let is_off = both().all(|value| *value == Value::Bool(false));
    let is_open = both().all(|value| *value == Value::Bool(true));
    let is_respelled = matches!((before, after), (Some(Value::String(one)), Some(Value::String(other))) if one.eq_ignore_ascii_case(other));
    Some(match (steps.as_slice(), last) {
        (["info", "version"], _) => return None,
        // Operations are matched by method and path; what a component says is reported at the places that use it.
        (["paths", _] | ["components", _, _], _) => return None,
        _ if *is_order => "document-reordered",
        (["info", ..], _) => "information-changed",
        (["servers", ..], _) => "servers-changed",
        (["tags", ..], _) | (_, "tags") => "tags-changed",
        _ if steps.contains(&"x-clause") => "citation-changed",
        (_, "x-credentials-agree" | "x-aliases-agree" | "clause") => "citation-changed",
        _ if steps.contains(&"example") => "example-changed",
        (_, "description" | "summary" | "section" | "reason") => "text-changed",
        (_, "pattern") => "pattern-changed",
        (_, "minLength" | "minItems") => "limit-without-effect",
        _ if is_respelled => "header-respelled",
        (_, "additionalProperties") if is_open => "text-changed",
        (_, "required" | "nullable") if is_off => "text-changed",
        _ if last == "$ref" || both().any(|value| value.get("$ref").is_some()) => "wording-of-references",
        _ => "unclassified",
    })
}
