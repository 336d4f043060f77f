//! Emits the table of constraints of requests, by which the server and the client check them; `table.json.jinja` makes it.

use sallyport_contract::{
    date_time,
    table::{Limit, Operation},
};
use serde_json::{Value, json};

use super::laid_out;
use crate::{
    artifact::Artifact,
    document::Document,
    model::{self, Contract, Format, Kind, Schema},
    problem::Problem,
    template::fill,
};

/// The file that the server and the client read the table from.
pub(super) fn emit(document: &Document, contract: &Contract) -> Result<Artifact, Vec<Problem>> {
    let problem = |(pointer, message): (String, String)| {
        let help = "use another keyword, or add it to the table of constraints in openapi/src/";
        vec![document.problem(pointer, message, help)]
    };
    if let Some(found) = contract.operations.iter().find_map(unsupported) {
        return Err(problem(found));
    }
    let table = operations(contract).map_err(|error| problem(("/paths".to_owned(), error.to_string())))?;
    let contents = laid_out(&json!(table), 0) + "\n";
    Ok(Artifact { path: "openapi/src/generated/table.json", contents })
}

/// The table, as the types of the interpreter read it: a keyword that they do not have is an error.
fn operations(contract: &Contract) -> serde_json::Result<Vec<Operation>> {
    let known = json!({ "operations": contract.operations, "date_time": date_time::EXPECTED });
    serde_json::from_str(&fill(include_str!("table.json.jinja"), &known))
}

/// What the table cannot hold of an operation: the pointer of the definition, and a message.
fn unsupported(operation: &model::Operation) -> Option<(String, String)> {
    let model::Operation { pointer, parameters, credentials, credentials_agree, body, .. } = operation;
    let (carriers, others): (Vec<_>, Vec<_>) = parameters.iter().partition(|parameter| parameter.credential);
    let Some(token) = carriers.first() else {
        return Some((pointer.clone(), "no parameter carries the token".to_owned()));
    };
    let Schema { kind, variants, format, keywords, .. } = &token.schema;
    let is_text = *kind == Kind::String && variants.is_none() && format.is_none();
    // No text is empty.
    let is_free = |keyword: &str, bound: &Value| keyword == "minLength" && bound.as_i64() <= Some(1);
    let mut limits = keywords
        .iter()
        .filter(|(keyword, bound)| Limit::named(keyword).is_some() && !is_free(keyword, bound));
    if !is_text || token.schema.ports.is_some() || limits.next().is_some() {
        return Some((token.pointer.clone(), "the token is not a text without limits".to_owned()));
    }
    if credentials.len() > 1 && credentials_agree.is_none() {
        let message = "a token with several transports has no `x-credentials-agree`";
        return Some((token.pointer.clone(), message.to_owned()));
    }
    let schemas = others.iter().map(|other| &other.schema).chain(body.iter().map(|body| &body.schema));
    schemas.flat_map(Schema::all).find_map(|schema| {
        let has_other_values = schema.variants.is_some() && schema.text_variants().is_none();
        let keyword = if has_other_values { "enum" } else { "format" };
        let is_unsupported = has_other_values || schema.format == Some(Format::Ipv4);
        let message = || format!("unsupported `{keyword}: {}` in a request", schema.keywords[keyword]);
        is_unsupported.then(|| (schema.pointer.clone(), message()))
    })
}

#[cfg(test)]
mod tests;
