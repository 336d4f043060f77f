//! Emits the server's API: plain types for requests and responses, and the list of operations; `server.rs.jinja` makes them.
//!
//! What a request must be is no part of it: the server checks requests by the table of `sallyport-contract`.

use std::collections::HashSet;

use serde_json::json;

use super::rust_text;
use crate::{
    artifact::Artifact,
    document::Document,
    model::{Contract, Kind, Response, Schema},
    problem::Problem,
    template::fill,
};

const PATH: &str = "server/src/api/generated.rs";

/// The files that the server is built from.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let contract = Contract::read(document)?;
    let mut problems: Vec<_> = unnamed(&contract)
        .map(|pointer| {
            let help = "give it a name under components/schemas";
            document.problem(pointer, "unsupported: an object or an enum without a name", help)
        })
        .collect();
    if !problems.is_empty() {
        Problem::sort(&mut problems);
        problems.dedup();
        return Err(problems);
    }
    let Contract { operations, schemas, .. } = &contract;
    let bodies = operations.iter().filter_map(|operation| operation.body.as_ref());
    let requests: HashSet<_> =
        bodies.flat_map(|body| body.schema.all()).map(|schema| &schema.pointer).collect();
    let errors = operations.iter().flat_map(|operation| &operation.errors).filter_map(Response::json);
    let errors: HashSet<_> = errors.map(|schema| &schema.pointer).collect();
    let known =
        json!({ "operations": operations, "schemas": schemas, "requests": requests, "errors": errors });
    Ok(vec![rust_text(document, PATH, &fill(include_str!("server.rs.jinja"), &known))?])
}

/// The objects and enums of texts for which there is no type. A header that always has the same value needs none.
fn unnamed(contract: &Contract) -> impl Iterator<Item = &str> {
    let of_operations = contract.operations.iter().flat_map(|operation| {
        let parameters = operation.distinct_parameters().map(|parameter| &parameter.schema);
        let headers = operation.success.headers.iter().filter(|header| !header.is_constant());
        let answers = operation.responses().filter_map(Response::json);
        let body = operation.body.iter().map(|body| &body.schema);
        parameters.chain(body).chain(headers.map(|header| &header.schema)).chain(answers)
    });
    let has_type = |schema: &&Schema| schema.kind == Kind::Object || schema.text_variants().is_some();
    let all = of_operations.chain(&contract.schemas).flat_map(Schema::all);
    all.filter(has_type).filter(|schema| schema.name.is_none()).map(|schema| &*schema.pointer)
}
