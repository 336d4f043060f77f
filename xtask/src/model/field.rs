//! Parameters and properties as lines of Rust documentation: what they are, what the document requires of them, and its clauses.

use std::collections::HashSet;

use super::{Body, Parameter, Property, Schema, Side};

/// A parameter of an operation.
pub(crate) fn parameter(parameter: &Parameter) -> Vec<String> {
    let Parameter { name, required, description, schema, citation, aliases_agree, .. } = parameter;
    let clauses = citation.all().chain(schema.citation.all()).chain(aliases_agree.as_deref());
    lines(description.as_deref().unwrap_or(name), presence(*required), schema, clauses)
}

/// The body of a request, whose own fields are documented one by one.
pub(crate) fn body(body: &Body) -> Vec<String> {
    let description = body.description.as_deref().unwrap_or("The body.");
    lines(description, presence(body.required), &body.schema, body.citation.all())
}

/// A property of an object. One of a response may be missing although it is required, so that its type says whether it is there.
pub(crate) fn property(property: &Property, side: Side) -> Vec<String> {
    let Property { name, required, schema } = property;
    let presence = if side == Side::Request { presence(*required) } else { None };
    lines(schema.description.as_deref().unwrap_or(name), presence, schema, schema.citation.all())
}

fn presence(is_required: bool) -> Option<String> {
    Some(if is_required { "Required" } else { "Optional" }.to_owned())
}

/// The description in one line, then presence, keywords and clauses as the document has them.
fn lines<'a>(
    description: &str,
    presence: Option<String>,
    schema: &Schema,
    clauses: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let keywords = schema.keywords.iter().map(|(keyword, value)| format!("`{keyword}: {value}`"));
    let facts: Vec<String> = presence.into_iter().chain(keywords).collect();
    let mut seen = HashSet::new();
    let clauses: Vec<String> =
        clauses.filter(|id| seen.insert(*id)).map(|clause| format!("`{clause}`")).collect();
    let noun = if clauses.len() == 1 { "Clause" } else { "Clauses" };
    let mut sentences = Vec::new();
    if !facts.is_empty() {
        sentences.push(format!("{}.", facts.join(", ")));
    }
    if !clauses.is_empty() {
        sentences.push(format!("{noun}: {}.", clauses.join(", ")));
    }
    let mut lines = vec![description.split_whitespace().collect::<Vec<_>>().join(" ")];
    if !sentences.is_empty() {
        lines.extend([String::new(), sentences.join(" ")]);
    }
    lines
}
