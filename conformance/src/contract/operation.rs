use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::schema::{Citations, Property, Schema};
use super::source::{ContractError, Node, Source};
use super::validate::ResponseSchema;

/// The three operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OperationId {
    /// Extract gateways.
    Extract,
    /// List the account's groups.
    Groups,
    /// Search the account's instances.
    Search,
}

/// One operation of the document.
#[derive(Debug)]
pub struct Operation {
    /// Which one.
    pub id: OperationId,
    /// HTTP method, in capitals.
    pub method: String,
    /// Path under the base URL, starting with `/`.
    pub path: String,
    /// Status and code of a success.
    pub success: Success,
}

/// A success: HTTP status, business code and the form of the response.
#[derive(Debug)]
pub struct Success {
    /// HTTP status.
    pub status: u16,
    /// Business code.
    pub code: i64,
    pub(super) schema: ResponseSchema,
}

/// A parameter of a query or a header.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where it is sent.
    pub place: Place,
    /// Whether it must be sent.
    pub required: bool,
    /// What it must be.
    pub schema: Schema,
    /// Which clause each of its constraints comes from.
    pub citations: Citations,
}

/// Where a parameter is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the query.
    Query,
    /// In a header.
    Header,
}

/// The parameters of one operation, taken one by one; the remaining ones are unknown to the suite.
pub(super) struct Parameters<'a> {
    operation: Node<'a>,
    left: Vec<Parameter>,
}

impl OperationId {
    /// All of them, in the order of the document.
    pub const ALL: [Self; 3] = [Self::Extract, Self::Groups, Self::Search];

    /// The `operationId` of the document.
    #[must_use]
    pub fn document_id(self) -> &'static str {
        match self {
            Self::Extract => "extractProxies",
            Self::Groups => "listStaticGroups",
            Self::Search => "searchStaticInstances",
        }
    }

    /// The first part of the clause and check ids of this operation.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Groups => "groups",
            Self::Search => "search",
        }
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.prefix())
    }
}

impl Operation {
    pub(super) fn read<'a>(
        source: &'a Source,
        id: OperationId,
    ) -> Result<(Self, Parameters<'a>, Node<'a>), ContractError> {
        let (method, path, node) = find(source, id)?;
        let success = Success::read(source, &node)?;
        let operation = Self { id, method: method.to_uppercase(), path: path.to_owned(), success };
        let parameters = Parameters::read(&node)?;
        Ok((operation, parameters, node))
    }
}

impl Success {
    fn read(source: &Source, operation: &Node<'_>) -> Result<Self, ContractError> {
        let responses = operation.get("responses")?;
        let (status, response) = responses
            .members()?
            .into_iter()
            .find(|(status, _)| status.starts_with('2'))
            .ok_or_else(|| responses.wrong("expected a 2xx response"))?;
        let status = status.parse().map_err(|_| responses.wrong("expected a status of three digits"))?;
        let media = response.get("content")?.get("application/json")?;
        let code = media.get("schema")?.get("properties")?.get("code")?.get("enum")?;
        let code = code.items()?.first().ok_or_else(|| code.wrong("expected one code"))?.integer()?;
        Ok(Self { status, code, schema: ResponseSchema::read(source, &response)? })
    }
}

impl<'a> Parameters<'a> {
    fn read(operation: &Node<'a>) -> Result<Self, ContractError> {
        let left = operation.get("parameters")?.items()?.iter().map(parameter).collect::<Result<_, _>>()?;
        Ok(Self { operation: operation.clone(), left })
    }

    /// The query parameter of that name.
    pub(super) fn query(&mut self, name: &str) -> Result<Parameter, ContractError> {
        self.take(name, Place::Query)
    }

    /// The header parameter of that name.
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

/// The members of the JSON request body.
pub(super) fn body_properties(operation: &Node<'_>) -> Result<Vec<Property>, ContractError> {
    let schema = operation.get("requestBody")?.get("content")?.get("application/json")?.get("schema")?;
    let required = schema.get("required")?;
    let required: Vec<&Value> = required.items()?.iter().map(|name| name.value).collect();
    let properties = schema.get("properties")?.members()?;
    properties
        .into_iter()
        .map(|(name, node)| {
            Ok(Property {
                name: name.to_owned(),
                required: required.iter().any(|required| required.as_str() == Some(name)),
                schema: Schema::read(&node)?,
                citations: Citations::read(&node)?,
            })
        })
        .collect()
}

/// Fails when the document has an operation that the suite does not know.
pub(super) fn reject_unknown(source: &Source) -> Result<(), ContractError> {
    for (path, item) in source.root().get("document")?.get("paths")?.members()? {
        for (method, operation) in item.members()? {
            let Some(id) = operation.find("operationId") else { continue };
            let id = id.string()?;
            if !OperationId::ALL.iter().any(|known| known.document_id() == id) {
                let message =
                    format!("no check knows the operation `{id}` ({method} {path}): add it to OperationId");
                return Err(operation.wrong(&message));
            }
        }
    }
    Ok(())
}

fn find(source: &Source, id: OperationId) -> Result<(&str, &str, Node<'_>), ContractError> {
    let paths = source.root().get("document")?.get("paths")?;
    for (path, item) in paths.members()? {
        for (method, operation) in item.members()? {
            let found = operation.find("operationId").is_some_and(|found| found.value == id.document_id());
            if found {
                return Ok((method, path, operation));
            }
        }
    }
    Err(paths.wrong(&format!("expected an operation `{}`", id.document_id())))
}

fn parameter(node: &Node<'_>) -> Result<Parameter, ContractError> {
    let place = match node.get("in")?.string()? {
        "query" => Place::Query,
        "header" => Place::Header,
        other => return Err(node.wrong(&format!("a parameter in `{other}`, which the suite does not know"))),
    };
    let schema = node.get("schema")?;
    // The document has examples beside the schema, where OpenAPI wants those of parameters.
    let example = node.find("example").map(|example| example.value.clone());
    let citations = Citations::read(node)?.or(Citations::read(&schema)?);
    let mut schema = Schema::read(&schema)?;
    schema.example = example.or(schema.example);
    Ok(Parameter {
        name: node.get("name")?.string()?.to_owned(),
        place,
        required: node.find("required").map(|required| required.boolean()).transpose()?.unwrap_or(false),
        citations,
        schema,
    })
}
