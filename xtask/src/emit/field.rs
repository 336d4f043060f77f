//! Parameters and properties as lines of Rust documentation, with every constraint in words.

use std::collections::HashSet;

use super::words;
use crate::model::{Body, Citation, Contract, Operation, Parameter, Rule, Schema};

/// A parameter or a property.
pub(super) struct Field<'a> {
    name: String,
    required: bool,
    /// Every constraint in words, those of the extensions included.
    limits: Vec<String>,
    default: Option<String>,
    description: Option<&'a str>,
    clauses: Vec<&'a str>,
}

impl<'a> Field<'a> {
    fn new(contract: &Contract, name: String, required: bool, schema: &'a Schema) -> Self {
        Field {
            name,
            required,
            limits: words::limits(contract, schema),
            default: schema.default.as_ref().map(words::value),
            description: None,
            clauses: Vec::new(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The description, then presence, limits, default and clauses.
    pub(super) fn rustdoc(&self) -> Vec<String> {
        let mut facts = if self.required { "Required" } else { "Optional" }.to_owned();
        facts.extend(self.limits.iter().map(|limit| format!("; {limit}")));
        facts.push('.');
        facts.extend(self.default.iter().map(|default| format!(" Default: `{default}`.")));
        facts.extend(self.cited().map(|clauses| format!(" {clauses}")));
        vec![self.summary(), String::new(), facts]
    }

    /// As a part of a response: the description, then limits and clauses, if there are any.
    pub(super) fn response_rustdoc(&self) -> Vec<String> {
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

/// What an operation takes beside its body.
pub(super) fn parameter<'a>(
    contract: &'a Contract,
    operation: &'a Operation,
    parameter: &'a Parameter,
) -> Field<'a> {
    let Parameter { name, schema, citation, .. } = parameter;
    let rules = rules_for(operation, name);
    let mut field = Field::new(contract, name.clone(), parameter.required, schema);
    field.limits.extend(words::extensions(parameter));
    field.limits.extend(rules.iter().map(|rule| words::rule(rule)));
    let cited = [citation, &schema.citation].into_iter().flat_map(Citation::all);
    let cited = cited.chain(parameter.aliases_agree.as_deref()).chain(rules.iter().map(|rule| clause(rule)));
    Field { description: parameter.description.as_deref(), clauses: once(cited), ..field }
}

/// The body of a request, whose own fields are [`properties`].
pub(super) fn body<'a>(contract: &Contract, body: &'a Body) -> Field<'a> {
    Field {
        limits: Vec::new(),
        default: None,
        description: body.description.as_deref(),
        clauses: once(body.citation.all()),
        ..Field::new(contract, "body".to_owned(), body.required, &body.schema)
    }
}

/// The properties of an object. The rules of `operation` bind them.
pub(super) fn properties<'a>(
    contract: &'a Contract,
    operation: Option<&'a Operation>,
    schema: &'a Schema,
) -> impl Iterator<Item = Field<'a>> {
    schema.properties().iter().map(move |property| {
        let (name, schema) = (&property.name, &property.schema);
        let rules = operation.map(|operation| rules_for(operation, name)).unwrap_or_default();
        let mut field = Field::new(contract, name.clone(), property.required, schema);
        field.limits.extend(rules.iter().map(|rule| words::rule(rule)));
        let clauses = once(schema.citation.all().chain(rules.iter().map(|rule| clause(rule))));
        Field { description: schema.description.as_deref(), clauses, ..field }
    })
}

/// The values of a string enum, each with its description.
pub(super) fn values<'a>(contract: &'a Contract, schema: &'a Schema) -> Vec<(&'a str, String)> {
    let variants = schema.variants.iter().flatten();
    variants.filter_map(|value| Some((value.as_str()?, words::choice(contract, schema, value)))).collect()
}

fn rules_for<'a>(operation: &'a Operation, name: &str) -> Vec<&'a Rule> {
    operation.rules.iter().filter(|rule| words::bound(rule) == name).collect()
}

/// The clause that a rule comes from.
fn clause(rule: &Rule) -> &str {
    match rule {
        Rule::RequiredWhen { clause, .. } | Rule::NotBefore { clause, .. } => clause,
    }
}

/// Removes duplicates and keeps the order.
fn once<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    ids.filter(|id| seen.insert(*id)).collect()
}
