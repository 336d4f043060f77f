use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::input::{Input, Place};
use super::part::REQUEST_ID_HEADER;
use super::schema::Citations;
use super::source::{ContractError, Node};
use super::validate::ResponseSchema;
use super::{Clause, OperationId};
use crate::names::kept;

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
    pub api_key: Input,
    /// The other parameters.
    pub parameters: Vec<Input>,
    /// The members of the JSON request body.
    pub body: Vec<Input>,
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
                           keep the query beside the new way, or teach the checks the new way (conformance/base/src/contract/ and \
                           conformance/src/checks/token.rs)";

impl OperationId {
    /// The id of a clause, a check or a fault of this operation, such as `groups.token`. Each is kept as long as the program runs.
    pub fn named(self, rest: &str) -> &'static str {
        kept(&format!("{self}.{rest}"))
    }
}

impl Operation {
    /// Every operation of the document, with its node.
    pub(super) fn read_all<'a>(
        file: &Node<'a>,
        schemas: &Value,
    ) -> Result<Vec<(Self, Node<'a>)>, ContractError> {
        let mut operations = Vec::new();
        for (path, item) in file.get("/document/paths")?.members()? {
            for (method, node) in item.members()? {
                operations.push((Self::read(&method, &path, &node, schemas)?, node));
            }
        }
        Ok(operations)
    }

    fn read(method: &str, path: &str, node: &Node<'_>, schemas: &Value) -> Result<Self, ContractError> {
        let success = Success::read(node, schemas)?;
        let clause = success.clause.id();
        let id = clause.split_once('.').and_then(|(prefix, _)| OperationId::from_id(prefix));
        let id = id.ok_or_else(|| node.wrong(&format!("`{clause}` is a clause of no operation")))?;
        let (mut parameters, mut api_key) = (Vec::new(), None);
        for (_, parameter) in node.get("/parameters")?.members()? {
            let input = Input::parameter(&parameter)?;
            match parameter.value["x-credential"] == true && input.place == Place::Query {
                true => api_key = Some(input),
                false => parameters.push(input),
            }
        }
        let body_clause = node.optional::<Citations>("/requestBody/x-clause")?.clause("any");
        let media =
            node.find("/requestBody").map(|body| body.get("/content/application~1json")).transpose()?;
        let body = media.as_ref().map(|media| Input::members(&media.get("/schema")?)).transpose()?;
        let body = body.unwrap_or_default();
        let cited = parameters.iter().chain(&body).flat_map(|input| input.citations.clauses());
        let input_clauses: BTreeSet<_> = cited.chain(body_clause).collect();
        Ok(Self {
            id,
            name: node.read("/operationId")?,
            method: method.to_uppercase(),
            path: path.to_owned(),
            api_key: api_key.ok_or_else(|| node.wrong(TOKEN_MOVED))?,
            parameters,
            body,
            example: media.map(|media| media.optional("/example")).transpose()?.unwrap_or_default(),
            token_clause: Clause::from_id(id.named("token")).unwrap_or(Clause::AllTokenRequired),
            body_clause,
            input_clauses: input_clauses.into_iter().collect(),
            is_safe: node.value["x-retry"] == "safe",
            success,
        })
    }

    pub(super) fn input(&self, name: &str, node: &Node<'_>) -> Result<Input, ContractError> {
        let found = self.parameters.iter().chain(&self.body).find(|input| input.name == name).cloned();
        found.ok_or_else(|| node.wrong(&format!("expected an input `{name}`")))
    }
}

impl Success {
    fn read(operation: &Node<'_>, schemas: &Value) -> Result<Self, ContractError> {
        let responses = operation.get("/responses")?;
        let mut all = responses.members()?.into_iter();
        let (status, response) = all
            .find(|(status, _)| status.starts_with('2'))
            .ok_or_else(|| responses.wrong("expected a 2xx response"))?;
        let media = response.get("/content/application~1json")?;
        let envelope = media.get("/schema/properties")?;
        let identity = operation.optional::<Option<String>>("/x-page/identity")?;
        let list =
            ["/data/properties/items", "/data"].into_iter().find_map(|at| Some((at, envelope.find(at)?)));
        let list = list.and_then(|(at, list)| {
            let required: Vec<String> = list.read("/items/required").ok()?;
            let pointer = if at == "/data" { at } else { "/data/items" };
            Some((pointer, identity.or_else(|| required.into_iter().next())?))
        });
        let schema = ResponseSchema::read(&response, &media, schemas)?;
        let clause = schema.fallback;
        let mut headers = schema.headers.iter();
        let request_id = headers.find(|header| header.name.eq_ignore_ascii_case(REQUEST_ID_HEADER));
        let request_id = request_id.map(|header| [clause, header.clause]);
        let mut clauses = BTreeSet::from([clause]);
        clauses.extend(schema.headers.iter().map(|header| header.clause));
        cited(&response.get("/content")?, &mut clauses)?;
        Ok(Self {
            status: status.parse().map_err(|_| responses.wrong("expected a status of three digits"))?,
            code: envelope.read::<[i64; 1]>("/code/enum")?[0],
            list,
            clause,
            clauses: clauses.into_iter().collect(),
            request_id,
            schema,
        })
    }
}

/// The clauses that a value of the document cites, and those of what it consists of.
fn cited(node: &Node<'_>, clauses: &mut BTreeSet<Clause>) -> Result<(), ContractError> {
    if node.value.is_object() {
        clauses.extend(node.optional::<Citations>("/x-clause")?.clauses());
        let parts =
            node.members()?.into_iter().filter(|(name, _)| !matches!(&**name, "x-clause" | "example"));
        parts.map(|(_, part)| part).try_for_each(|part| cited(&part, clauses))?;
    }
    Ok(())
}
