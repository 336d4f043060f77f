use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};

use super::parameter::{Parameter, Place};
use super::part::REQUEST_ID_HEADER;
use super::schema::{Citations, Property, Schema};
use super::source::{ContractError, Node};
use super::validate::ResponseSchema;
use super::{Clause, OperationId};

/// One operation of the document.
#[derive(Debug)]
pub struct Operation {
    /// Its id in the suite, with which the ids of its clauses and checks begin.
    pub id: OperationId,
    /// The `operationId` of the document.
    pub name: String,
    /// HTTP method in upper case.
    pub method: String,
    /// Path below the base URL, starting with `/`, with parameters in braces.
    pub path: String,
    /// The query parameter that contains the token, whatever its name.
    pub api_key: Parameter,
    /// The other parameters.
    pub parameters: Vec<Parameter>,
    /// The members of the JSON request body.
    pub body: Vec<Property>,
    /// An example of that body.
    pub example: Map<String, Value>,
    /// Whether repeating it changes nothing.
    pub is_safe: bool,
    /// The clause of the token: its own, or that of all operations.
    pub token_clause: Clause,
    /// The clause of the body as a whole.
    pub body_clause: Option<Clause>,
    /// The clauses of the other parameters and of the body.
    pub input_clauses: Vec<Clause>,
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
    /// Pointer to its list, and what tells its entries apart: as `x-page` says, or their first required member; none where it has no list.
    pub list: Option<(&'static str, String)>,
    /// The clause of the response as a whole.
    pub clause: Clause,
    /// Every clause that a response can break by its form.
    pub clauses: Vec<Clause>,
    /// The clauses of its id in the body and in a header; none where that header is not required.
    pub request_id: Option<[Clause; 2]>,
    pub(super) schema: ResponseSchema,
}

/// Why the suite cannot read an operation whose token is not sent in the query.
const TOKEN_MOVED: &str = "the checks of this operation send the token in the query, but no query parameter has `x-credential`: \
                           keep the query beside the new way, or teach the checks the new way (conformance/src/contract/ and \
                           conformance/src/checks/token.rs)";

impl OperationId {
    /// The id of a clause, a check or a fault of this operation, such as `groups.token`. Each is kept once.
    pub(crate) fn named(self, rest: &str) -> &'static str {
        static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let name = format!("{self}.{rest}");
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names.get(&*name).copied();
        known.unwrap_or_else(|| {
            let name: &'static str = name.leak();
            names.insert(name);
            name
        })
    }
}

impl Operation {
    /// Every operation of the document, with its node.
    pub(super) fn read_all<'a>(root: &Node<'a>) -> Result<Vec<(Self, Node<'a>)>, ContractError> {
        let mut operations = Vec::new();
        for (path, item) in root.document()?.get("paths")?.members()? {
            for (method, node) in item.members()? {
                operations.push((Self::read(method, path, &node)?, node));
            }
        }
        Ok(operations)
    }

    fn read(method: &str, path: &str, node: &Node<'_>) -> Result<Self, ContractError> {
        let success = Success::read(node)?;
        let clause = success.clause.id();
        let id = clause.split_once('.').and_then(|(prefix, _)| OperationId::from_id(prefix));
        let id = id.ok_or_else(|| node.wrong(&format!("`{clause}` is a clause of no operation")))?;
        let parameters = node.get("parameters")?.items()?;
        let mut parameters: Vec<_> = parameters.iter().map(Parameter::read).collect::<Result<_, _>>()?;
        let token = parameters.iter().position(Parameter::is_token);
        let api_key = parameters.remove(token.ok_or_else(|| node.wrong(TOKEN_MOVED))?);
        let body = node.find("requestBody");
        let body_clause =
            body.as_ref().map(Citations::read).transpose()?.and_then(|cited| cited.clause("any"));
        let media = body.map(|body| body.get("content")?.get("application/json")).transpose()?;
        let body = media.as_ref().map(body_properties).transpose()?.unwrap_or_default();
        let cited = parameters.iter().map(|parameter| &parameter.citations);
        let cited = cited.chain(body.iter().map(|property| &property.citations));
        let input_clauses: BTreeSet<_> = cited.flat_map(Citations::clauses).chain(body_clause).collect();
        Ok(Self {
            id,
            name: node.get("operationId")?.read()?,
            method: method.to_uppercase(),
            path: path.to_owned(),
            api_key,
            parameters,
            body,
            example: media.map(|media| media.optional("example")).transpose()?.flatten().unwrap_or_default(),
            token_clause: Clause::from_id(id.named("token")).unwrap_or(Clause::AllTokenRequired),
            body_clause,
            input_clauses: input_clauses.into_iter().collect(),
            is_safe: node.value["x-retry"] == "safe",
            success,
        })
    }

    /// The parameter with that name, which is sent in the query unless it is named like a header.
    pub(super) fn parameter(&self, name: &str, node: &Node<'_>) -> Result<Parameter, ContractError> {
        let found = self.parameters.iter().find(|parameter| parameter.name == name).cloned();
        found.ok_or_else(|| node.wrong(&format!("expected a parameter `{name}`")))
    }

    /// Fails when it has a parameter that its checks do not know.
    pub(super) fn has_only(&self, names: &[&str], node: &Node<'_>) -> Result<(), ContractError> {
        let mut parameters = self.parameters.iter();
        let is_known = |one: &Parameter| {
            let in_header = one.name == REQUEST_ID_HEADER;
            names.contains(&one.name.as_str()) && in_header == (one.place == Place::Header)
        };
        match parameters.find(|parameter| !is_known(parameter)) {
            None => Ok(()),
            Some(unknown) => Err(node.wrong(&format!(
                "no check knows the parameter `{}` in this place: read it in conformance/src/contract/ and write its checks",
                unknown.name
            ))),
        }
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
        let properties =
            response.get("content")?.get("application/json")?.get("schema")?.get("properties")?;
        let [code]: [i64; 1] = properties.get("code")?.get("enum")?.read()?;
        let identity = operation.find("x-page").and_then(|page| page.optional("identity").ok()?);
        let list = properties.find("data").and_then(|data| {
            let within = data.find("properties").and_then(|data| Some(("/data/items", data.find("items")?)));
            let (pointer, list) = within.unwrap_or(("/data", data));
            let required: Vec<String> = list.find("items")?.optional("required").ok()??;
            Some((pointer, identity.or_else(|| required.into_iter().next())?))
        });
        let schema = ResponseSchema::read(&response)?;
        let clause = schema.fallback;
        let mut headers = schema.headers.iter();
        let request_id = headers.find(|header| header.name.eq_ignore_ascii_case(REQUEST_ID_HEADER));
        let request_id = request_id.map(|header| [clause, header.clause]);
        let mut clauses = BTreeSet::from([clause]);
        clauses.extend(schema.headers.iter().map(|header| header.clause));
        cited(&response.get("content")?, &mut clauses)?;
        Ok(Self { status, code, list, clause, clauses: clauses.into_iter().collect(), request_id, schema })
    }
}

/// The clauses that a value of the document cites, and those of what it consists of.
fn cited(node: &Node<'_>, clauses: &mut BTreeSet<Clause>) -> Result<(), ContractError> {
    if node.value.is_object() {
        clauses.extend(Citations::read(node)?.clauses());
        let parts = node.members()?.into_iter().filter(|(name, _)| !matches!(*name, "x-clause" | "example"));
        parts.map(|(_, part)| part).try_for_each(|part| cited(&part, clauses))?;
    }
    Ok(())
}

/// The members of a JSON request body.
fn body_properties(media: &Node<'_>) -> Result<Vec<Property>, ContractError> {
    let schema = media.get("schema")?;
    let required: Vec<&str> = schema.optional("required")?.unwrap_or_default();
    let property = |(name, node): (&str, Node<'_>)| {
        let (schema, citations) = (Schema::read(&node)?, Citations::read(&node)?);
        match citations.clause("type") {
            None => Err(node.wrong("expected an x-clause for its type")),
            Some(_) => {
                let is_required = required.contains(&name);
                Ok(Property { name: name.to_owned(), schema, citations, is_required })
            }
        }
    };
    schema.get("properties")?.members()?.into_iter().map(property).collect()
}
