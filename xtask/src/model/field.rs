//! Parameters and properties as lines of Rust documentation: what they are, what the document requires of them, and its clauses.

use std::collections::HashSet;

use serde::Serialize;

use super::{Body, Parameter, Property, Schema};

/// The description in one line, then presence, keywords and clauses as the document has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Doc {
    pub(crate) request: Vec<String>,
    /// A required property of a response may be missing, so that its type says whether it is there.
    response: Vec<String>,
}

impl Doc {
    pub(crate) fn of_parameter(parameter: &Parameter) -> Doc {
        let Parameter { name, required, description, schema, citation, aliases_agree, .. } = parameter;
        let clauses = citation.all().chain(schema.citation.all()).chain(aliases_agree.as_deref());
        Doc::new(description.as_ref().unwrap_or(name), *required, schema, clauses)
    }

    /// The body of a request, whose own fields are documented one by one.
    pub(crate) fn of_body(body: &Body) -> Doc {
        let description = body.description.as_deref().unwrap_or("The body.");
        Doc::new(description, body.required, &body.schema, body.citation.all())
    }

    pub(crate) fn of_property(property: &Property) -> Doc {
        let Property { name, required, schema, .. } = property;
        Doc::new(schema.description.as_ref().unwrap_or(name), *required, schema, schema.citation.all())
    }

    fn new<'a>(
        text: &str,
        is_required: bool,
        schema: &Schema,
        clauses: impl Iterator<Item = &'a str>,
    ) -> Doc {
        let mut seen = HashSet::new();
        let clauses: Vec<_> = clauses.filter(|id| seen.insert(*id)).map(|id| format!("`{id}`")).collect();
        let noun = if clauses.len() == 1 { "Clause" } else { "Clauses" };
        let clauses = (!clauses.is_empty()).then(|| format!("{noun}: {}.", clauses.join(", ")));
        let lines = |presence: Option<&str>| {
            let keywords = schema.keywords.iter().map(|(keyword, value)| format!("`{keyword}: {value}`"));
            let facts: Vec<_> = presence.map(str::to_owned).into_iter().chain(keywords).collect();
            let facts = (!facts.is_empty()).then(|| format!("{}.", facts.join(", ")));
            let sentences: Vec<_> = facts.into_iter().chain(clauses.clone()).collect();
            let mut lines = vec![text.split_whitespace().collect::<Vec<_>>().join(" ")];
            if !sentences.is_empty() {
                lines.extend([String::new(), sentences.join(" ")]);
            }
            lines
        };
        let presence = if is_required { "Required" } else { "Optional" };
        Doc { request: lines(Some(presence)), response: lines(None) }
    }
}
