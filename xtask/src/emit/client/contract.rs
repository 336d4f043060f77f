//! Emits what the document names: operations, enum values, separators, limits, headers; `contract.rs.jinja` makes them.

use serde_json::{Value, json};

use crate::{
    artifact::Artifact,
    document::Document,
    emit::rust_text,
    lower,
    model::{Contract, Operation},
    problem::Problem,
    template::fill,
};

/// What the hand-written code of the client takes from the document.
pub(super) fn emit(document: &Document, contract: &Contract) -> Result<Artifact, Vec<Problem>> {
    let Contract { operations, schemas, .. } = contract;
    let parameters = operations.iter().flat_map(|operation| &operation.parameters);
    let known = json!({
        "operations": operations, "schemas": schemas, "opened": lower::opened_enums(contract),
        "request_id_header": parameters.filter_map(|parameter| parameter.falls_back_to.as_ref()).next(),
        "path_prefix": path_prefix(contract), "address": address(contract),
    });
    rust_text(document, "client/src/contract/generated.rs", &fill(include_str!("contract.rs.jinja"), &known))
}

/// The segments with which the paths of all operations begin. The last segment of a path is never part of it.
fn path_prefix(contract: &Contract) -> String {
    let folder = |operation: &Operation| {
        let mut segments: Vec<String> = operation.path.split('/').map(str::to_owned).collect();
        segments.pop();
        segments
    };
    let common = |before: Vec<String>, next: Vec<String>| {
        before.into_iter().zip(next).take_while(|(one, other)| one == other).map(|(one, _)| one).collect()
    };
    contract.operations.iter().map(folder).reduce(common).unwrap_or_default().join("/")
}

/// The bounds of a port in an address, and the clauses of both.
fn address(contract: &Contract) -> Option<Value> {
    let bodies = contract.operations.iter().filter_map(|operation| operation.body.as_ref());
    let schemas = bodies.flat_map(|body| body.schema.all());
    let (schema, ports) = schemas.filter_map(|schema| Some((schema, schema.endpoint_ports()?))).next()?;
    Some(
        json!({ "ports": ports, "item": schema.citation.clauses("x-format"), "port": schema.citation.clauses("x-port") }),
    )
}
