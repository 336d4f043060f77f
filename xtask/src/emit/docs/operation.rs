//! Operations: what is sent, what comes back.

use serde::Serialize;
use serde_json::Value;

use super::{
    curl,
    field::{self, Field, FieldContext},
    words::{self, Type},
};
use crate::{
    document::{Document, join},
    model::{Contract, Credential, Deprecation, Media, Operation, Response, Retry},
};

/// One operation.
#[derive(Serialize)]
pub(super) struct OperationView<'a> {
    id: &'a str,
    method: String,
    path: &'a str,
    summary: Option<&'a str>,
    description: Option<&'a str>,
    /// Whether it is deprecated, and whether it may be repeated.
    notices: Vec<String>,
    clauses: Vec<&'a str>,
    /// Ways to send the token.
    credentials: Vec<String>,
    /// The clause that wants one value in all of them.
    credentials_agree: Option<&'a str>,
    rules: Vec<RuleView<'a>>,
    curl: String,
    parameters: Vec<Field<'a>>,
    body: Option<BodyView<'a>>,
    responses: Vec<ResponseView<'a>>,
}

#[derive(Serialize)]
struct RuleView<'a> {
    field: &'a str,
    words: String,
    clause: &'a str,
}

/// A body, as it is sent or as it comes back.
#[derive(Serialize)]
struct BodyView<'a> {
    anchor: String,
    /// What it is the body of.
    of: String,
    media: &'a str,
    required: bool,
    description: Option<&'a str>,
    kind: Type<'a>,
    clauses: Vec<&'a str>,
    /// The properties, where the schema is not shown by its name or the reader should not have to look it up.
    fields: Vec<Field<'a>>,
    example: Option<String>,
}

#[derive(Serialize)]
struct ResponseView<'a> {
    anchor: String,
    /// The status, or what stands for all the others.
    name: String,
    description: Option<&'a str>,
    clauses: Vec<&'a str>,
    headers: Vec<Field<'a>>,
    bodies: Vec<BodyView<'a>>,
}

/// How a way to send the token is written.
pub(super) fn credential(credential: &Credential) -> String {
    match credential {
        Credential::Query { name } => format!("query parameter `{name}`"),
        Credential::Header { name } => format!("header `{name}`"),
        Credential::Bearer => "header `Authorization: Bearer …`".to_owned(),
    }
}

/// Everything about one operation.
pub(super) fn view<'a>(
    document: &'a Document,
    contract: &'a Contract,
    base: &str,
    operation: &'a Operation,
) -> OperationView<'a> {
    let parameters = operation.parameters.iter();
    let rule =
        |rule| RuleView { field: words::bound(rule), words: words::rule(rule), clause: field::clause(rule) };
    let sent = body_example(document, operation);
    let responses = std::iter::once(&operation.success).chain(&operation.errors);
    OperationView {
        id: &operation.id,
        method: operation.method.to_string(),
        path: &operation.path,
        summary: operation.summary.as_deref(),
        description: operation.description.as_deref(),
        notices: notices(operation),
        clauses: operation.citation.all().collect(),
        credentials: operation.credentials.iter().map(credential).collect(),
        credentials_agree: operation.credentials_agree.as_deref(),
        rules: operation.rules.iter().map(rule).collect(),
        curl: curl::command(base, operation, sent),
        parameters: parameters.map(|it| field::parameter(contract, operation, it)).collect(),
        body: body(contract, operation, sent),
        responses: responses.map(|it| response(document, contract, operation, it)).collect(),
    }
}

/// Sentences about the life of an operation and about its repetition.
fn notices(operation: &Operation) -> Vec<String> {
    let deprecation = operation.deprecation.as_ref().map(|Deprecation { since, sunset, replaced_by }| {
        let instead = replaced_by.as_ref().map(|id| format!(" Use `{id}` instead.")).unwrap_or_default();
        format!("Deprecated since {since}; it ends on {sunset}.{instead}")
    });
    let retry = operation.retry.map(|retry| match retry {
        Retry::Safe => "Repeating a call changes nothing.",
        Retry::IdempotencyKey => {
            "A call that was interrupted may be repeated with the same request id: it is then the same call."
        }
        Retry::Never => "A call whose outcome is unknown must not be repeated.",
    });
    deprecation.into_iter().chain(retry.map(str::to_owned)).collect()
}

/// The one media type that a request body may have.
const JSON: &str = "application/json";

fn body_example<'a>(document: &'a Document, operation: &Operation) -> Option<&'a Value> {
    let body = operation.body.as_ref()?;
    example(document, &body.pointer, JSON)
}

fn body<'a>(contract: &'a Contract, operation: &'a Operation, sent: Option<&Value>) -> Option<BodyView<'a>> {
    let body = operation.body.as_ref()?;
    let (anchor, of) = (format!("{}-body", operation.id), format!("the body of {}", operation.id));
    let home = FieldContext { anchor: &anchor, of: &of, operation: Some(operation) };
    Some(BodyView {
        media: JSON,
        required: body.required,
        description: body.description.as_deref(),
        kind: Type::new(&body.schema),
        clauses: field::once(body.citation.all().collect()),
        fields: field::properties(contract, home, &body.schema),
        example: sent.map(|example| laid_out(JSON, example)),
        anchor,
        of,
    })
}

fn response<'a>(
    document: &'a Document,
    contract: &'a Contract,
    operation: &'a Operation,
    response: &'a Response,
) -> ResponseView<'a> {
    let anchor = format!("{}-{}", operation.id, response.status);
    let name = match response.status.as_str() {
        "default" => "any other status".to_owned(),
        status => format!("status {status}"),
    };
    let of = format!("{}, {name}", operation.id);
    let headers = response.headers.iter().map(|header| {
        let example = document.get(&join(&header.pointer, "example"));
        field::header(contract, FieldContext { anchor: &anchor, of: &of, operation: None }, header, example)
    });
    let bodies = response.content.iter().map(|media| {
        let Media { name, schema } = media;
        let (anchor, of) = (format!("{anchor}-{name}"), format!("the body of {of}"));
        let home = FieldContext { anchor: &anchor, of: &of, operation: None };
        let unnamed = schema.name.is_none();
        BodyView {
            media: name,
            required: true,
            description: None,
            kind: Type::new(schema),
            clauses: Vec::new(),
            fields: if unnamed { field::properties(contract, home, schema) } else { Vec::new() },
            example: example(document, &response.pointer, name).map(|example| laid_out(name, example)),
            anchor,
            of,
        }
    });
    ResponseView {
        name,
        description: response.description.as_deref(),
        clauses: field::once(response.citation.all().collect()),
        headers: headers.collect(),
        bodies: bodies.collect(),
        anchor,
    }
}

/// The example of a body at `pointer`.
fn example<'a>(document: &'a Document, pointer: &str, media: &str) -> Option<&'a Value> {
    document.get(&join(&join(&join(pointer, "content"), media), "example"))
}

/// An example as it would be sent, but for the blanks that make JSON readable.
fn laid_out(media: &str, example: &Value) -> String {
    match example {
        Value::String(text) if media != JSON => text.clone(),
        other => format!("{other:#}"),
    }
}
