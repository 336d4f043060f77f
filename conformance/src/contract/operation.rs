use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::deprecation::Deprecation;
use super::parameter::Parameters;
use super::schema::{Citations, Property, Schema};
use super::source::{ContractError, Node};
use super::validate::ResponseSchema;

/// The id of an operation. Each one with checks of its own has a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperationId {
    /// Extract gateways.
    Extract,
    /// List the account's groups.
    Groups,
    /// Search the account's instances.
    Search,
    /// Another operation, which the generic checks judge.
    Other(OtherId),
}

/// The id of one of [`Contract::others`](super::Contract::others).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OtherId {
    index: usize,
    document_id: &'static str,
    prefix: &'static str,
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
    /// Its deprecated parts.
    pub deprecations: Vec<Deprecation>,
}

/// The successful response: HTTP status, business code and schema.
#[derive(Debug)]
pub struct Success {
    /// HTTP status.
    pub status: u16,
    /// Business code; meaningless if a success has no body.
    pub code: i64,
    /// Whether a success has a body.
    pub has_body: bool,
    pub(super) schema: ResponseSchema,
}

impl Success {
    /// Whether a JSON body has the schema of a success with one entry, whatever its code is.
    pub(crate) fn is_entry(&self, body: &Value) -> bool {
        let mut body = body.clone();
        let data = body.get("data").and_then(Value::as_object);
        if data.is_none_or(|data| data.is_empty() || data.contains_key("items")) {
            return false;
        }
        if let Some(members) = body.as_object_mut() {
            members.insert("code".to_owned(), self.code.into());
        }
        self.schema.body_violations(&body).is_empty()
    }
}

impl OperationId {
    /// The operations with checks of their own, in the order of the document.
    pub const ALL: [Self; 3] = [Self::Extract, Self::Groups, Self::Search];

    /// The `operationId` of the document.
    pub fn document_id(self) -> &'static str {
        match self {
            Self::Extract => "extractProxies",
            Self::Groups => "listStaticGroups",
            Self::Search => "searchStaticInstances",
            Self::Other(id) => id.document_id,
        }
    }

    /// The first part of the clause and check ids of this operation.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Groups => "groups",
            Self::Search => "search",
            Self::Other(id) => id.prefix,
        }
    }
}

impl OtherId {
    /// Its texts are leaked, because ids are `Copy` as those of checks; only tests read the contract more than once.
    pub(super) fn new(index: usize, document_id: &str) -> Self {
        let mut prefix = String::new();
        for letter in document_id.chars() {
            if letter.is_ascii_uppercase() && !prefix.is_empty() {
                prefix.push('-');
            }
            prefix.push(letter.to_ascii_lowercase());
        }
        Self { index, document_id: document_id.to_owned().leak(), prefix: prefix.leak() }
    }

    pub(super) const fn index(self) -> usize {
        self.index
    }
}

impl Serialize for OperationId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.prefix())
    }
}

impl schemars::JsonSchema for OperationId {
    fn schema_name() -> String {
        "OperationId".to_owned()
    }

    fn json_schema(generator: &mut schemars::r#gen::SchemaGenerator) -> schemars::schema::Schema {
        let mut schema = String::json_schema(generator).into_object();
        schema.metadata().description = Some(
            "An operation: `extract`, `groups`, `search`, or the id of a further one in kebab case."
                .to_owned(),
        );
        schema.into()
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
        let (method, path, node) = find(root, id)?;
        let operation = Self::new(id, (method, path), &node)?;
        let parameters = Parameters::read(&node)?;
        Ok((operation, parameters, node))
    }

    pub(super) fn new(
        id: OperationId,
        (method, path): (&str, &str),
        node: &Node<'_>,
    ) -> Result<Self, ContractError> {
        let success = Success::read(node)?;
        let deprecations = Deprecation::read_all(node)?;
        Ok(Self { id, method: method.to_uppercase(), path: path.to_owned(), success, deprecations })
    }

    /// Whether a path is that of the operation, with any text in place of a parameter.
    pub fn serves(&self, path: &str) -> bool {
        let (own, requested): (Vec<_>, Vec<_>) = (self.path.split('/').collect(), path.split('/').collect());
        let fits = |(own, text): (&&str, &&str)| own == text || own.starts_with('{') && !text.is_empty();
        own.len() == requested.len() && own.iter().zip(&requested).all(fits)
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
        if response.find("content").is_none() {
            return Ok(Self { status, code: 0, has_body: false, schema });
        }
        let media = response.get("content")?.get("application/json")?;
        let code = media.get("schema")?.get("properties")?.get("code")?.get("enum")?;
        let code = code.items()?.first().ok_or_else(|| code.wrong("expected one code"))?.integer()?;
        Ok(Self { status, code, has_body: true, schema })
    }
}

/// The members of the JSON request body.
pub(super) fn body_properties(operation: &Node<'_>) -> Result<Vec<Property>, ContractError> {
    let schema = operation.get("requestBody")?.get("content")?.get("application/json")?.get("schema")?;
    let required = schema.optional("required", Node::items)?.unwrap_or_default();
    let required: Vec<&Value> = required.iter().map(|name| name.value).collect();
    let property = |(name, node): (&str, Node<'_>)| {
        Ok(Property {
            name: name.to_owned(),
            required: required.iter().any(|required| required.as_str() == Some(name)),
            schema: Schema::read(&node)?,
            citations: Citations::read(&node)?,
        })
    };
    schema.get("properties")?.members()?.into_iter().map(property).collect()
}

fn find<'a>(root: &Node<'a>, id: OperationId) -> Result<(&'a str, &'a str, Node<'a>), ContractError> {
    let paths = root.document()?.get("paths")?;
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
