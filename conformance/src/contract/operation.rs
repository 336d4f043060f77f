use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::parameter::Parameters;
use super::schema::{Citations, Property, Schema};
use super::source::{ContractError, Node};
use super::validate::ResponseSchema;

/// An operation of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
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
    /// Its id.
    pub id: OperationId,
    /// HTTP method in upper case.
    pub method: String,
    /// Path below the base URL, starting with `/`, with parameters in braces.
    pub path: String,
    /// Status and code of a success.
    pub success: Success,
}

/// The successful response: HTTP status, business code and schema.
#[derive(Debug)]
pub struct Success {
    /// HTTP status.
    pub status: u16,
    /// Business code.
    pub code: i64,
    pub(super) schema: ResponseSchema,
}

impl OperationId {
    /// All of them, in the order of the document.
    pub const ALL: [Self; 3] = [Self::Extract, Self::Groups, Self::Search];

    /// The `operationId` of the document.
    pub fn document_id(self) -> &'static str {
        match self {
            Self::Extract => "extractProxies",
            Self::Groups => "listStaticGroups",
            Self::Search => "searchStaticInstances",
        }
    }

    /// The first part of the clause and check ids of this operation.
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
        root: &Node<'a>,
        id: OperationId,
    ) -> Result<(Self, Parameters<'a>, Node<'a>), ContractError> {
        let all = operations(root)?;
        let found = all.into_iter().find(|(.., node)| node.value["operationId"] == id.document_id());
        let (method, path, node) =
            found.ok_or_else(|| root.wrong(&format!("expected an operation `{}`", id.document_id())))?;
        let success = Success::read(&node)?;
        let operation = Self { id, method: method.to_uppercase(), path: path.to_owned(), success };
        Ok((operation, Parameters::read(&node)?, node))
    }

    /// Whether a path is that of the operation.
    pub fn serves(&self, path: &str) -> bool {
        self.path == path
    }
}

impl Success {
    fn read(operation: &Node<'_>) -> Result<Self, ContractError> {
        let responses = operation.get("responses")?;
        let (status, response) = responses
            .members()?
            .into_iter()
            .find(|(status, _)| status.starts_with('2'))
            .ok_or_else(|| responses.wrong("expected a 2xx response"))?;
        let status = status.parse().map_err(|_| responses.wrong("expected a status of three digits"))?;
        let schema = ResponseSchema::read(&response)?;
        let media = response.get("content")?.get("application/json")?;
        let [code]: [i64; 1] = media.get("schema")?.get("properties")?.get("code")?.get("enum")?.read()?;
        Ok(Self { status, code, schema })
    }
}

/// The members of the JSON request body.
pub(super) fn body_properties(operation: &Node<'_>) -> Result<Vec<Property>, ContractError> {
    let schema = operation.get("requestBody")?.get("content")?.get("application/json")?.get("schema")?;
    let property = |(name, node): (&str, Node<'_>)| {
        let (schema, citations) = (Schema::read(&node)?, Citations::read(&node)?);
        match citations.clause("type") {
            None => Err(node.wrong("expected an x-clause for its type")),
            Some(_) => Ok(Property { name: name.to_owned(), schema, citations }),
        }
    };
    schema.get("properties")?.members()?.into_iter().map(property).collect()
}

/// Rejects an operation that the suite would not judge.
pub(super) fn reject_unknown(root: &Node<'_>) -> Result<(), ContractError> {
    for (.., operation) in operations(root)? {
        let id: Option<&str> = operation.optional("operationId")?;
        if let Some(id) = id.filter(|id| OperationId::ALL.iter().all(|known| known.document_id() != *id)) {
            let message = format!("unknown operation `{id}`: add it to OperationId, and its checks");
            return Err(operation.wrong(&message));
        }
    }
    Ok(())
}

/// Method, path and node of each operation.
fn operations<'a>(root: &Node<'a>) -> Result<Vec<(&'a str, &'a str, Node<'a>)>, ContractError> {
    let mut operations = Vec::new();
    for (path, item) in root.document()?.get("paths")?.members()? {
        operations.extend(item.members()?.into_iter().map(|(method, operation)| (method, path, operation)));
    }
    Ok(operations)
}
