//! What a document says, as tables: by the place where a value is sent, and by keyword.

use serde_json::{Value, json};

use super::change::{Direction, SourceValue};
use crate::{
    document::{Document, join},
    model::{Clause, Constraint, Contract, Operation, Side},
};

/// What a document says under one keyword at one place.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) keyword: String,
    /// What tells it from others of the same keyword, such as a way to send the token; empty where there is one.
    pub(super) entry: String,
    pub(super) said: SourceValue,
    pub(super) clauses: Vec<String>,
}

/// One place, such as `query num`, `200 body data.items[].port` or the id of a clause, with its rows.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) at: String,
    pub(super) rows: Vec<Row>,
}

/// The place of what binds an operation as a whole.
pub(super) const OPERATION: &str = "operation";

/// The tables of an operation: what it is as a whole, what callers may send, and what services may respond.
pub(super) fn of_operation(
    document: &Document,
    constraints: &[Constraint],
    operation: &Operation,
) -> [(Direction, Vec<Part>); 3] {
    let clauses: Vec<String> = operation.citation.all().map(str::to_owned).collect();
    let way = Row::new(document, "", &operation.pointer, way(operation), &clauses);
    let whole = ["operationId", "x-retry", "x-filter", "x-page"].into_iter().filter_map(|keyword| {
        let at = join(&operation.pointer, keyword);
        Some(Row::new(document, keyword, &at, document.get(&at)?.clone(), &[]))
    });
    let whole = vec![Part { at: OPERATION.to_owned(), rows: std::iter::once(way).chain(whole).collect() }];
    let statuses = operation.responses().map(|response| {
        let clauses: Vec<String> = response.citation.all().map(str::to_owned).collect();
        let row = Row::new(document, "", &response.pointer, json!(response.status), &clauses);
        Part { at: response.status.clone(), rows: vec![row] }
    });
    let binding = Part { at: OPERATION.to_owned(), rows: Vec::new() };
    let mut parts = [vec![binding], statuses.collect()];
    for constraint in constraints.iter().filter(|one| one.operation == operation.id) {
        let parts = &mut parts[usize::from(constraint.side == Side::Response)];
        let index =
            parts.iter().position(|part| is_same_place(&part.at, &constraint.at)).unwrap_or(parts.len());
        if index == parts.len() {
            parts.push(Part { at: constraint.at.clone(), rows: Vec::new() });
        }
        parts[index].rows.extend(rows(document, constraint));
    }
    let [request, response] = parts;
    [(Direction::Contract, whole), (Direction::Request, request), (Direction::Response, response)]
}

/// The method and the path of an operation.
pub(super) fn way(operation: &Operation) -> Value {
    json!(format!("{} {}", operation.method, operation.path))
}

/// The table of what a suite judges services by: the clauses, and what they leave open.
pub(super) fn of_clauses(document: &Document, contract: &Contract) -> Vec<Part> {
    let part = |clause: &Clause| {
        let Clause { id, text, observable, pointer } = clause;
        let row = |keyword: &str, value| {
            Row::new(document, keyword, &join(pointer, keyword), value, std::slice::from_ref(id))
        };
        let observable = observable.map(|observable| row("observable", json!(observable)));
        Part { at: id.clone(), rows: std::iter::once(row("text", json!(text))).chain(observable).collect() }
    };
    contract.clauses.iter().chain(&contract.unspecified).map(part).collect()
}

fn rows(document: &Document, constraint: &Constraint) -> Vec<Row> {
    let Constraint { pointer, keyword, value, clauses, .. } = constraint;
    let at = join(pointer, keyword);
    let row =
        |keyword: &str, at: &str, value: &Value| Row::new(document, keyword, at, value.clone(), clauses);
    match (*keyword, value) {
        // Every value has that length, or that number of items.
        ("minLength" | "minItems", value) if *value == 0 => Vec::new(),
        ("x-port" | "x-separators", Value::Object(members)) => members
            .iter()
            .map(|(name, value)| row(&format!("{keyword} {name}"), &join(&at, name), value))
            .collect(),
        ("security" | "x-rules", Value::String(text)) => {
            vec![Row { entry: text.to_ascii_lowercase(), ..row(keyword, pointer, value) }]
        }
        ("content", Value::String(name)) => vec![row(keyword, &join(&at, name), value)],
        ("required", name) => {
            let names = document.get(&at).and_then(Value::as_array);
            let index = names.and_then(|names| names.iter().position(|one| one == name));
            vec![row(keyword, &index.map_or(at.clone(), |index| join(&at, &index.to_string())), value)]
        }
        ("type", _) => {
            let closed = join(pointer, "additionalProperties");
            let is_closed = document.get(&closed) == Some(&json!(false));
            let closed = is_closed.then(|| row("additionalProperties", &closed, &json!(false)));
            std::iter::once(row(keyword, &at, value)).chain(closed).collect()
        }
        _ => vec![row(keyword, &at, value)],
    }
}

/// Whether two places are the same, such as `header X-API-Key` and `200 header Retry-After`: names of headers have no letter case.
fn is_same_place(one: &str, other: &str) -> bool {
    one == other || is_header(one) && is_header(other) && one.eq_ignore_ascii_case(other)
}

fn is_header(at: &str) -> bool {
    at.starts_with("header ") || at.contains(" header ")
}

pub(super) fn find<'p>(parts: &'p [Part], at: &str) -> Option<&'p Part> {
    parts.iter().find(|part| is_same_place(&part.at, at))
}

/// The parts of `these` that `others` lack, without those inside of a missing one, and inside of a value whose type changed: these
/// are one change.
pub(super) fn missing<'p>(these: &'p [Part], others: &[Part]) -> Vec<&'p Part> {
    let lacks = |part: &Part| find(others, &part.at).is_none();
    let is_retyped =
        |part: &Part| find(others, &part.at).is_some_and(|other| other.value("type") != part.value("type"));
    let is_inside = |inner: &Part, outer: &Part| {
        inner.at.strip_prefix(&outer.at).is_some_and(|rest| rest.starts_with(['.', '[', ' ']))
    };
    let is_covered = |inner: &Part| {
        these.iter().any(|outer| is_inside(inner, outer) && (lacks(outer) || is_retyped(outer)))
    };
    these.iter().filter(|part| lacks(part) && !is_covered(part)).collect()
}

impl Row {
    fn new(document: &Document, keyword: &str, at: &str, value: Value, clauses: &[String]) -> Row {
        let said = SourceValue::new(document, at.to_owned(), value);
        Row { keyword: keyword.to_owned(), entry: String::new(), said, clauses: clauses.to_vec() }
    }
}

impl Part {
    pub(super) fn get(&self, keyword: &str, entry: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.keyword == keyword && row.entry == entry)
    }

    pub(super) fn value(&self, keyword: &str) -> Option<&Value> {
        self.get(keyword, "").map(|row| &row.said.value)
    }

    pub(super) fn has(&self, keyword: &str) -> bool {
        self.value(keyword).is_some()
    }

    /// What stands for the part as a whole: its status, text, media type or type.
    pub(super) fn said(&self, document: &Document, parts: &[Part]) -> Option<SourceValue> {
        if let Some(row) = ["", "text", "content"].into_iter().find_map(|keyword| self.get(keyword, "")) {
            return Some(row.said.clone());
        }
        let around = |row: &Row| row.said.pointer.rsplit_once('/').unwrap_or_default().0.to_owned();
        let schema = |at: &str| parts.iter().find(|part| part.at == at)?.get("type", "").map(around);
        let property = |(object, name)| Some(join(&join(&schema(object)?, "properties"), name));
        let pointer = match (self.at.strip_suffix("[]"), self.at.rsplit_once(['.', ' '])) {
            (Some(list), _) => schema(list).map(|list| join(&list, "items")),
            (_, Some(names)) if !is_header(&self.at) => property(names),
            _ => None,
        };
        // A parameter or a header: its definition, or its schema.
        let pointer = pointer.unwrap_or(around(self.rows.first()?));
        Some(SourceValue::new(document, pointer, self.value("type").cloned().unwrap_or_default()))
    }

    pub(super) fn clauses(&self) -> Vec<String> {
        self.rows.iter().flat_map(|row| row.clauses.clone()).collect()
    }
}
