use serde::Deserialize;

use super::schema::{Citations, Schema};
use super::source::{ContractError, Node};

/// A parameter of an operation.
#[derive(Debug, Clone)]
pub struct Parameter {
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
    is_credential: bool,
}

/// Where a parameter is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In the query.
    Query,
    /// In a header.
    Header,
}

impl Parameter {
    pub(super) fn read(node: &Node<'_>) -> Result<Self, ContractError> {
        let schema = node.get("schema")?;
        let citations = Citations::read(node)?.or(Citations::read(&schema)?);
        let mut schema = Schema::read(&schema)?;
        // OpenAPI has examples of parameters beside the schema.
        schema.example = node.optional("example")?.or(schema.example);
        Ok(Self {
            name: node.get("name")?.read()?,
            place: node.get("in")?.read()?,
            is_required: node.optional("required")?.unwrap_or_default(),
            is_credential: node.optional("x-credential")?.unwrap_or_default(),
            citations,
            schema,
        })
    }

    /// Whether it contains the token, in the query.
    pub(super) fn is_token(&self) -> bool {
        self.is_credential && self.place == Place::Query
    }

    /// The text of its example.
    pub(crate) fn example_text(&self) -> String {
        let example = self.schema.example.as_ref();
        example
            .map(|example| example.as_str().map_or_else(|| example.to_string(), str::to_owned))
            .unwrap_or_default()
    }

    /// The text of its default value; empty when it has none.
    pub fn default_text(&self) -> String {
        self.schema.default.as_ref().and_then(|default| default.as_str()).unwrap_or_default().to_owned()
    }
}
