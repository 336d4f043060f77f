//! The constraints of one side of an operation, by the place where the value is sent.

use crate::{
    document::join,
    model::{Constraint, Operation, Side},
};

/// The constraints at one place, such as `query num` or `200 body data.items[].port`.
#[derive(Debug)]
pub(super) struct Element<'a> {
    pub(super) at: &'a str,
    pub(super) constraints: Vec<&'a Constraint>,
}

/// The element of what binds the operation as a whole, on the side of requests.
pub(super) const OPERATION: &str = "operation";

/// The elements of an operation on one side, in the order of the document.
pub(super) fn collect<'a>(constraints: &'a [Constraint], operation: &str, side: Side) -> Vec<Element<'a>> {
    let mut elements: Vec<Element<'_>> = Vec::new();
    let is_here =
        |one: &&Constraint| one.operation == operation && one.side == side && !excludes_nothing(one);
    for constraint in constraints.iter().filter(is_here) {
        match elements.iter_mut().find(|element| is_same_place(element.at, &constraint.at)) {
            Some(element) => element.constraints.push(constraint),
            None => elements.push(Element { at: &constraint.at, constraints: vec![constraint] }),
        }
    }
    elements
}

/// Whether every value has the length or the number of items that a limit requires.
fn excludes_nothing(constraint: &Constraint) -> bool {
    matches!(constraint.keyword, "minLength" | "minItems") && constraint.value == 0
}

/// The element at the same place. Names of headers are compared without letter case.
pub(super) fn find<'e, 'a>(elements: &'e [Element<'a>], at: &str) -> Option<&'e Element<'a>> {
    elements.iter().find(|element| is_same_place(element.at, at))
}

/// Whether two places are the same, such as `header X-API-Key` and `200 header Retry-After`.
pub(super) fn is_same_place(one: &str, other: &str) -> bool {
    let is_header = |at: &str| at.starts_with("header ") || at.contains(" header ");
    one == other || is_header(one) && is_header(other) && one.eq_ignore_ascii_case(other)
}

/// Whether `inner` is a place inside of the value at `outer`.
pub(super) fn is_inside(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with(['.', '[', ' ']))
}

/// The elements of `these` that `others` lack. Omits elements inside of a missing one, and inside of a value whose type
/// changed, because those are reported as one change.
pub(super) fn missing<'e, 'a>(these: &'e [Element<'a>], others: &[Element<'a>]) -> Vec<&'e Element<'a>> {
    let lacks = |element: &Element<'_>| element.at != OPERATION && find(others, element.at).is_none();
    let retyped = |element: &Element<'_>| {
        find(others, element.at).is_some_and(|other| element.value("type") != other.value("type"))
    };
    let is_covered = |inner: &Element<'_>| {
        these.iter().any(|outer| is_inside(inner.at, outer.at) && (lacks(outer) || retyped(outer)))
    };
    these.iter().filter(|element| lacks(element) && !is_covered(element)).collect()
}

/// The pointer of the part itself, which may be a reference: of the parameter, the header, the media type or the property.
pub(super) fn definition_pointer(
    operation: &Operation,
    these: &[Element<'_>],
    element: &Element<'_>,
) -> String {
    let at = element.at;
    let head = element.head().map_or("", |head| head.pointer.as_str());
    let parameter = operation.parameters.iter().find(|one| at == format!("{} {}", one.location, one.name));
    if let Some(parameter) = parameter {
        return parameter.pointer.clone();
    }
    let mut responses = operation.responses();
    if let Some((status, name)) = at.split_once(" header ") {
        let response = responses.find(|response| response.status == status);
        return response.map_or(head.to_owned(), |one| join(&join(&one.pointer, "headers"), name));
    }
    if let Some(content) = element.get("content") {
        let name = content.value.as_str().unwrap_or_default();
        return join(&join(&content.pointer, "content"), name);
    }
    let parent = |at: &str| find(these, at).and_then(Element::head).map(|head| head.pointer.as_str());
    if let Some(outer) = at.strip_suffix("[]") {
        return parent(outer).map_or(head.to_owned(), |pointer| join(pointer, "items"));
    }
    let Some((outer, name)) = at.rsplit_once(['.', ' ']) else { return head.to_owned() };
    parent(outer).map_or(head.to_owned(), |pointer| join(&join(pointer, "properties"), name))
}

impl<'a> Element<'a> {
    pub(super) fn get(&self, keyword: &str) -> Option<&'a Constraint> {
        self.constraints.iter().find(|constraint| constraint.keyword == keyword).copied()
    }

    /// What the document says under a keyword.
    pub(super) fn value(&self, keyword: &str) -> Option<&'a serde_json::Value> {
        self.get(keyword).map(|constraint| &constraint.value)
    }

    pub(super) fn is_required(&self) -> bool {
        self.get("required").is_some()
    }

    /// The constraint that represents the whole value: its type, if it has one.
    pub(super) fn head(&self) -> Option<&'a Constraint> {
        self.get("type").or_else(|| self.constraints.first().copied())
    }

    /// The media type or type of the value, for reports.
    pub(super) fn kind(&self) -> serde_json::Value {
        let constraint = self.get("content").or_else(|| self.head());
        constraint.map(|constraint| constraint.value.clone()).unwrap_or_default()
    }

    /// The clauses of all its constraints.
    pub(super) fn clauses(&self) -> impl Iterator<Item = String> {
        self.constraints.iter().flat_map(|constraint| constraint.clauses.iter().cloned())
    }
}
