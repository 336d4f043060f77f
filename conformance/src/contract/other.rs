use std::collections::BTreeSet;

use serde_json::Value;

use super::Clause;
use super::operation::{Operation, OperationId, OtherId, body_properties};
use super::parameter::Parameter;
use super::schema::{Citations, Property};
use super::source::{ContractError, Node};

/// An operation for which no check is written by hand. The generic checks, which are made from the document, judge it.
#[derive(Debug)]
pub struct OtherOperation {
    /// Method, path and success.
    pub operation: Operation,
    /// Every parameter, in the order of the document.
    pub parameters: Vec<Parameter>,
    /// The members of the JSON body; none without a body.
    pub properties: Vec<Property>,
    /// The document's example of the body.
    pub body: Option<Value>,
    /// How its token is sent: the first way in the document.
    pub credential: Credential,
    /// The clauses that bind the operation as a whole.
    pub citations: Citations,
    /// The clauses behind its response.
    pub response_clauses: Vec<Clause>,
    /// Whether a call changes nothing: a GET, or a POST that may be repeated.
    pub is_read: bool,
}

/// A way to send the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A query parameter of this name.
    Query(String),
    /// A header of this name, with this text before the token.
    Header(String, &'static str),
}

impl OtherOperation {
    /// Every operation of the document that is not one of [`OperationId::ALL`].
    pub(super) fn read_all(root: &Node<'_>) -> Result<Vec<Self>, ContractError> {
        let mut others = Vec::new();
        for (path, item) in root.document()?.get("paths")?.members()? {
            for (method, node) in item.members()? {
                let Some(id) = node.find("operationId") else { continue };
                let id = id.string()?;
                if OperationId::ALL.iter().any(|known| known.document_id() == id) {
                    continue;
                }
                let id = OtherId::new(others.len(), id);
                others.push(Self::read(OperationId::Other(id), (method, path), &node)?);
            }
        }
        Ok(others)
    }

    fn read(id: OperationId, (method, path): (&str, &str), node: &Node<'_>) -> Result<Self, ContractError> {
        let operation = Operation::new(id, (method, path), node)?;
        let parameters = node.optional("parameters", Node::items)?.unwrap_or_default();
        let parameters = parameters.iter().map(Parameter::read).collect::<Result<_, _>>()?;
        let media = node.optional("requestBody", |body| body.get("content")?.get("application/json"))?;
        let retry = node.optional("x-retry", Node::string)?;
        let mut response_clauses = BTreeSet::new();
        for (status, response) in node.get("responses")?.members()? {
            if status.starts_with('2') {
                cited(&response, &mut response_clauses, 0)?;
            }
        }
        let mut properties = if media.is_some() { body_properties(node)? } else { Vec::new() };
        if let (Some(media), Some(body)) = (&media, node.find("requestBody")) {
            let outer = Citations::read(&media.get("schema")?)?.or_any(&Citations::read(&body)?);
            for property in &mut properties {
                property.citations = std::mem::take(&mut property.citations).or_any(&outer);
            }
        }
        Ok(Self {
            is_read: method == "get" || (method == "post" && retry == Some("safe")),
            properties,
            body: media.and_then(|media| media.find("example")).map(|example| example.value.clone()),
            credential: credential(node)?,
            citations: Citations::read(node)?,
            response_clauses: response_clauses.into_iter().collect(),
            operation,
            parameters,
        })
    }

    /// The clauses of the limits of its requests.
    pub fn limit_clauses(&self) -> Vec<Clause> {
        let parameters = self.own_parameters().map(|parameter| &parameter.citations);
        let citations = parameters.chain(self.properties.iter().map(|property| &property.citations));
        citations.flat_map(Citations::all).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The parameters without the token.
    pub fn own_parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| !parameter.is_credential)
    }
}

impl Parameter {
    /// The example of the document, as texts: one, or one for each item of a list.
    pub fn example(&self) -> Vec<String> {
        let schema = &self.schema;
        let shown = schema.example.as_ref().or(schema.default.as_ref()).or(schema.values.first());
        match shown {
            Some(Value::Array(items)) => items.iter().map(text).collect(),
            Some(value) => vec![text(value)],
            None => schema.minimum.map(|minimum| minimum.to_string()).into_iter().collect(),
        }
    }
}

/// A value as it is sent in a path, a query or a header.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn credential(node: &Node<'_>) -> Result<Credential, ContractError> {
    let security = node.get("security")?;
    let first = security.items()?.into_iter().next().ok_or_else(|| security.wrong("expected a scheme"))?;
    let (name, _) = first.members()?.into_iter().next().ok_or_else(|| first.wrong("expected a scheme"))?;
    let scheme = node.document()?.get("components")?.get("securitySchemes")?.get(name)?;
    let text = |key| scheme.get(key)?.text();
    Ok(match (text("type")?.as_str(), scheme.find("in").and_then(|place| place.value.as_str())) {
        ("apiKey", Some("query")) => Credential::Query(text("name")?),
        ("apiKey", _) => Credential::Header(text("name")?, ""),
        _ => Credential::Header("Authorization".to_owned(), "Bearer "),
    })
}

/// Collects the clauses that a part and the parts inside it cite.
fn cited(node: &Node<'_>, found: &mut BTreeSet<Clause>, depth: usize) -> Result<(), ContractError> {
    // The generator rejects recursive schemas.
    const MAX_DEPTH: usize = 32;
    if depth > MAX_DEPTH {
        return Ok(());
    }
    found.extend(Citations::read(node)?.all());
    for keyword in ["schema", "items"] {
        if let Some(inner) = node.find(keyword) {
            cited(&inner, found, depth + 1)?;
        }
    }
    for keyword in ["headers", "content", "properties"] {
        let Some(members) = node.find(keyword) else { continue };
        for (_, inner) in members.members()? {
            cited(&inner, found, depth + 1)?;
        }
    }
    Ok(())
}
