//! Parameters, headers and properties, all as rows of one kind of table.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::Value;

use super::words::{self, Type};
use crate::model::{Body, Citation, Contract, Header, Kind, Location, Operation, Parameter, Rule, Schema};

/// A row.
#[derive(Serialize)]
pub(in crate::emit) struct Field<'a> {
    /// Where links lead.
    anchor: String,
    /// Its kind and owner, for results of the search.
    what: String,
    name: String,
    /// `query` or `header`.
    place: Option<&'static str>,
    required: bool,
    /// Whether it is required, in a word.
    presence: &'static str,
    kind: Type<'a>,
    /// Every constraint in words, those of the extensions included.
    limits: Vec<String>,
    default: Option<String>,
    example: Option<String>,
    description: Option<&'a str>,
    clauses: Vec<&'a str>,
}

impl Field<'_> {
    pub(in crate::emit) fn name(&self) -> &str {
        &self.name
    }

    /// The row as lines of Rust documentation: the description, then presence, limits, default and clauses.
    pub(in crate::emit) fn rustdoc(&self) -> Vec<String> {
        let mut facts = if self.required { "Required" } else { "Optional" }.to_owned();
        facts.extend(self.limits.iter().map(|limit| format!("; {limit}")));
        facts.push('.');
        facts.extend(self.default.iter().map(|default| format!(" Default: `{default}`.")));
        facts.extend(self.cited().map(|clauses| format!(" {clauses}")));
        vec![self.summary(), String::new(), facts]
    }

    /// The row of a response as lines of Rust documentation: the description, then limits and clauses, if there are any.
    pub(in crate::emit) fn response_rustdoc(&self) -> Vec<String> {
        let limits =
            (!self.limits.is_empty()).then(|| format!("By the contract: {}.", self.limits.join("; ")));
        let facts: Vec<String> = limits.into_iter().chain(self.cited()).collect();
        let mut lines = vec![self.summary()];
        if !facts.is_empty() {
            lines.extend([String::new(), facts.join(" ")]);
        }
        lines
    }

    /// The description in one line.
    fn summary(&self) -> String {
        let description = self.description.unwrap_or(&self.name);
        description.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The clauses as a sentence.
    fn cited(&self) -> Option<String> {
        let clauses: Vec<String> = self.clauses.iter().map(|clause| format!("`{clause}`")).collect();
        match clauses.as_slice() {
            [] => None,
            [only] => Some(format!("Clause: {only}.")),
            several => Some(format!("Clauses: {}.", several.join(", "))),
        }
    }
}

impl<'a> Field<'a> {
    /// A row with what its schema says.
    fn new(contract: &Contract, name: String, required: bool, schema: &'a Schema) -> Self {
        Field {
            anchor: String::new(),
            what: String::new(),
            name,
            place: None,
            required,
            presence: if required { "required" } else { "optional" },
            kind: Type::new(schema),
            limits: words::limits(contract, schema),
            default: schema.default.as_ref().map(words::value),
            example: schema.example.as_ref().map(words::value),
            description: None,
            clauses: Vec::new(),
        }
    }
}

/// What an operation takes beside its body.
pub(in crate::emit) fn parameter<'a>(
    contract: &'a Contract,
    operation: &'a Operation,
    parameter: &'a Parameter,
) -> Field<'a> {
    let Parameter { name, schema, citation, .. } = parameter;
    let (place, what) = match parameter.location {
        Location::Path => ("path", "path parameter"),
        Location::Query => ("query", "query parameter"),
        Location::Header => ("header", "header"),
    };
    let rules = rules_for(operation, name);
    let mut field = Field::new(contract, name.clone(), parameter.required, schema);
    field.limits.extend(words::extensions(parameter));
    field.limits.extend(rules.iter().map(|rule| words::rule(rule)));
    field.limits.extend(parameter.deprecation.as_ref().map(ToString::to_string));
    let mut clauses = cited([citation, &schema.citation]);
    clauses.extend(parameter.aliases_agree.as_deref());
    clauses.extend(rules.iter().map(|rule| clause(rule)));
    Field {
        anchor: format!("{}-{place}-{name}", operation.id),
        what: format!("{what} of {}", operation.id),
        place: Some(place),
        example: parameter.example.as_ref().or(schema.example.as_ref()).map(words::value),
        description: parameter.description.as_deref(),
        clauses: once(clauses),
        ..field
    }
}

/// The body of a request, whose own fields are [`properties`].
pub(in crate::emit) fn body<'a>(contract: &Contract, body: &'a Body) -> Field<'a> {
    Field {
        limits: Vec::new(),
        default: None,
        example: None,
        description: body.description.as_deref(),
        clauses: once(body.citation.all().collect()),
        ..Field::new(contract, "body".to_owned(), body.required, &body.schema)
    }
}

/// A header of a response.
pub(super) fn header<'a>(
    contract: &'a Contract,
    context: FieldContext<'_, 'a>,
    header: &'a Header,
    example: Option<&Value>,
) -> Field<'a> {
    let Header { name, schema, .. } = header;
    Field {
        anchor: format!("{}-{name}", context.anchor),
        what: format!("header of {}", context.of),
        presence: if header.required { "always" } else { "not always" },
        example: example.or(schema.example.as_ref()).map(words::value),
        description: header.description.as_deref(),
        clauses: once(cited([&header.citation, &schema.citation])),
        ..Field::new(contract, name.clone(), header.required, schema)
    }
}

/// Where headers or the properties of a schema are shown.
#[derive(Clone, Copy)]
pub(in crate::emit) struct FieldContext<'h, 'a> {
    /// What their anchors begin with.
    pub(in crate::emit) anchor: &'h str,
    /// What they belong to, in words.
    pub(in crate::emit) of: &'h str,
    /// The operation whose rules bind them here.
    pub(in crate::emit) operation: Option<&'a Operation>,
}

/// The properties of an object, and of the objects in it that have no name of their own.
pub(in crate::emit) fn properties<'a>(
    contract: &'a Contract,
    context: FieldContext<'_, 'a>,
    schema: &'a Schema,
) -> Vec<Field<'a>> {
    let mut fields = Vec::new();
    collect(contract, context, "", schema, &mut fields);
    fields
}

fn collect<'a>(
    contract: &'a Contract,
    context: FieldContext<'_, 'a>,
    path: &str,
    outer: &'a Schema,
    fields: &mut Vec<Field<'a>>,
) {
    for property in outer.properties() {
        let schema = &property.schema;
        let name = format!("{path}{}", property.name);
        let rules = context.operation.map(|operation| rules_for(operation, &name)).unwrap_or_default();
        let mut field = Field::new(contract, name.clone(), property.required, schema);
        field.limits.extend(rules.iter().map(|rule| words::rule(rule)));
        field.limits.extend(schema.deprecation.as_ref().map(ToString::to_string));
        let clauses = schema.citation.all().chain(rules.iter().map(|rule| clause(rule)));
        fields.push(Field {
            anchor: format!("{}-{name}", context.anchor),
            what: format!("field of {}", context.of),
            description: schema.description.as_deref(),
            clauses: once(clauses.collect()),
            ..field
        });
        if let Some((inner, step)) = unnamed_object(schema) {
            collect(contract, context, &format!("{name}{step}."), inner, fields);
        }
    }
}

/// The object that stands inline in `schema`, and how a path gets to it.
fn unnamed_object(schema: &Schema) -> Option<(&Schema, String)> {
    if schema.name.is_some() {
        return None;
    }
    match &schema.kind {
        Kind::Object { .. } => Some((schema, String::new())),
        Kind::Array { items, .. } => {
            let (inner, step) = unnamed_object(items)?;
            Some((inner, format!("[]{step}")))
        }
        Kind::String { .. } | Kind::Integer { .. } | Kind::Boolean => None,
    }
}

/// The values of a string enum, each with its description.
pub(in crate::emit) fn values<'a>(contract: &'a Contract, schema: &'a Schema) -> Vec<(&'a str, String)> {
    let variants = schema.variants.iter().flatten();
    variants.filter_map(|value| Some((value.as_str()?, words::choice(contract, schema, value)))).collect()
}

fn rules_for<'a>(operation: &'a Operation, name: &str) -> Vec<&'a Rule> {
    operation.rules.iter().filter(|rule| words::bound(rule) == name).collect()
}

/// The clause that a rule comes from.
pub(super) fn clause(rule: &Rule) -> &str {
    match rule {
        Rule::RequiredWhen { clause, .. } | Rule::NotBefore { clause, .. } => clause,
    }
}

fn cited(citations: [&Citation; 2]) -> Vec<&str> {
    citations.into_iter().flat_map(Citation::all).collect()
}

/// Removes duplicates and keeps the order.
pub(super) fn once(mut ids: Vec<&str>) -> Vec<&str> {
    let mut seen = HashSet::new();
    ids.retain(|id| seen.insert(*id));
    ids
}
