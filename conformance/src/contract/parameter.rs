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

/// Why the suite cannot read an operation whose token is not sent in the query.
const TOKEN_MOVED: &str = "the checks of this operation send the token in the query, but no query parameter has `x-credential`: \
                           keep the query beside the new way, or teach the checks the new way (conformance/src/contract/ and \
                           conformance/src/checks/token.rs)";

/// The parameters of one operation. Those that are not taken are unknown to the suite.
pub(super) struct Parameters<'a> {
    operation: Node<'a>,
    left: Vec<Parameter>,
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
            is_credential: node.optional("x-credential")?.unwrap_or_default(),
            citations,
            schema,
        })
    }

    /// The text of its default value; empty when it has none.
    pub fn default_text(&self) -> String {
        self.schema.default.as_ref().and_then(|default| default.as_str()).unwrap_or_default().to_owned()
    }
}

impl<'a> Parameters<'a> {
    pub(super) fn read(operation: &Node<'a>) -> Result<Self, ContractError> {
        let left =
            operation.get("parameters")?.items()?.iter().map(Parameter::read).collect::<Result<_, _>>()?;
        Ok(Self { operation: operation.clone(), left })
    }

    pub(super) fn query(&mut self, name: &str) -> Result<Parameter, ContractError> {
        self.take(name, Place::Query)
    }

    /// The query parameter that contains the token, whatever its name.
    pub(super) fn credential(&mut self) -> Result<Parameter, ContractError> {
        let is_token = |parameter: &Parameter| parameter.is_credential && parameter.place == Place::Query;
        let index = self.left.iter().position(is_token);
        let index = index.ok_or_else(|| self.operation.wrong(TOKEN_MOVED))?;
        Ok(self.left.remove(index))
    }

    pub(super) fn header(&mut self, name: &str) -> Result<Parameter, ContractError> {
        self.take(name, Place::Header)
    }

    /// Fails when a parameter of the document has not been taken.
    pub(super) fn finish(self) -> Result<(), ContractError> {
        match self.left.first() {
            None => Ok(()),
            Some(unknown) => Err(self.operation.wrong(&format!(
                "no check knows the parameter `{}`: read it in conformance/src/contract/ and write its checks",
                unknown.name
            ))),
        }
    }

    fn take(&mut self, name: &str, place: Place) -> Result<Parameter, ContractError> {
        let found = self.left.iter().position(|parameter| parameter.name == name && parameter.place == place);
        let index = found.ok_or_else(|| self.operation.wrong(&format!("expected a parameter `{name}`")))?;
        Ok(self.left.remove(index))
    }
}
