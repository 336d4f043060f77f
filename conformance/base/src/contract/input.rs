use serde::Deserialize;

use super::schema::{Citations, Schema};
use super::source::{ContractError, Node};

/// A parameter of an operation, or a member of its body.
#[derive(Debug, Clone)]
pub struct Input {
    /// Name.
    pub name: String,
    /// Where it is sent.
    pub place: Place,
    /// Schema of its value.
    pub schema: Schema,
    /// The clauses of its constraints.
    pub citations: Citations,
    /// Whether it must be sent.
    pub is_required: bool,
}

/// Where an input is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In the query.
    Query,
    /// In a header.
    Header,
    /// In the JSON body.
    Body,
}

impl Input {
    pub(super) fn parameter(node: &Node<'_>) -> Result<Self, ContractError> {
        let (cited, schema) = (node.optional::<Citations>("/x-clause")?, node.read::<Schema>("/schema")?);
        // OpenAPI has examples of parameters beside the schema.
        let example = node.find("/example").map(|node| node.value.clone());
        Ok(Self {
            name: node.read("/name")?,
            place: node.read("/in")?,
            is_required: node.optional("/required")?,
            citations: if cited.is_empty() { node.optional("/schema/x-clause")? } else { cited },
            schema: Schema { example: example.or(schema.example), ..schema },
        })
    }

    /// The members of a JSON body.
    pub(super) fn members(schema: &Node<'_>) -> Result<Vec<Self>, ContractError> {
        let required: Vec<String> = schema.optional("/required")?;
        let member = |(name, node): (String, Node<'_>)| {
            let (is_required, citations) =
                (required.contains(&name), node.optional::<Citations>("/x-clause")?);
            if citations.clause("type").is_none() {
                return Err(node.wrong("expected an x-clause for its type"));
            }
            Ok(Self { name, place: Place::Body, schema: node.read("")?, citations, is_required })
        };
        schema.get("/properties")?.members()?.into_iter().map(member).collect()
    }

    /// What checks need of its schema, or an error that names it.
    pub(super) fn needs<T>(&self, what: &str, of: impl Fn(&Schema) -> Option<T>) -> Result<T, ContractError> {
        of(&self.schema).ok_or_else(|| ContractError::new(&self.name, format!("expected {what}")))
    }

    /// The text of its default value; empty when it has none.
    pub fn default_text(&self) -> String {
        self.schema.default.as_ref().and_then(|default| default.as_str()).unwrap_or_default().to_owned()
    }
}
