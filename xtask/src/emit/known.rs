//! What the templates know: the contract, and what follows from it for server, client and suite.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::calls;
use crate::{
    document::Document,
    model::{Contract, Kind, Operation, Response, Schema},
    problem::Problem,
};

/// Fails with the objects and enums of texts that have no name, so that there could be no type of them, and with calls of the client
/// that cannot be made.
pub(crate) fn gather(document: &Document, contract: &Contract) -> Result<Value, Vec<Problem>> {
    let mut problems: Vec<_> = unnamed(contract)
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
    let Contract { operations, schemas, clauses, unspecified } = contract;
    let parameters = operations.iter().flat_map(|operation| &operation.parameters);
    let bodies = || operations.iter().filter_map(|operation| Some(&operation.body.as_ref()?.schema));
    let requests: BTreeSet<_> = bodies().flat_map(Schema::all).map(|schema| &schema.pointer).collect();
    let envelopes = operations.iter().filter_map(|operation| Some(&operation.success.json()?.pointer));
    let errors = operations.iter().flat_map(|operation| &operation.errors).filter_map(Response::json);
    // The schemas that a success response can hold.
    let content = operations.iter().flat_map(|operation| &operation.success.content);
    let responses = content.flat_map(|media| media.schema.all()).filter_map(|schema| schema.name.as_ref());
    let responses: BTreeSet<_> = responses.collect();
    let is_opened = |schema: &&Schema| {
        schema.variants.is_some() && schema.name.as_ref().is_some_and(|name| responses.contains(name))
    };
    // The bounds of a port in an address, and the clauses of both.
    let address = bodies().flat_map(Schema::all).find_map(|schema| {
        let [item, port] = ["x-format", "x-port"].map(|keyword| schema.citation.clauses(keyword));
        Some(json!({ "ports": schema.ports?, "item": item, "port": port }))
    });
    let id = |operation: &Operation| json!({ "id": operation.prefix(), "text": operation.id });
    Ok(json!({
        "info": document.root["info"], "operations": operations, "schemas": schemas, "clauses": clauses,
        "unspecified": unspecified,
        "operation_ids": operations.iter().map(id).collect::<Vec<_>>(),
        "bodies": bodies().filter_map(|schema| schema.name.as_ref()).collect::<Vec<_>>(),
        "requests": requests,
        "envelopes": envelopes.collect::<Vec<_>>(),
        "errors": errors.collect::<Vec<_>>(),
        "responses": responses,
        // The named enums that a response can hold: with a closed one, a single unknown value would lose a whole page.
        "opened": schemas.iter().filter(is_opened).map(|schema| &schema.name).collect::<Vec<_>>(),
        "request_id_header": parameters.filter_map(|parameter| parameter.falls_back_to.as_ref()).next(),
        "path_prefix": path_prefix(contract),
        "address": address,
        "calls": calls::gather(document, contract)?,
        "search": operations.iter().find(|operation| operation.page.is_some()),
    }))
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

/// The segments with which the paths of all operations begin. The last segment of a path is never part of it.
fn path_prefix(contract: &Contract) -> String {
    let folders = contract.operations.iter().map(|operation| {
        let folder = operation.path.rsplit_once('/').unwrap_or_default().0;
        folder.split('/').collect::<Vec<_>>()
    });
    let common = |before: Vec<_>, next: Vec<_>| {
        before.into_iter().zip(next).take_while(|(one, other)| one == other).map(|(one, _)| one).collect()
    };
    folders.reduce(common).unwrap_or_default().join("/")
}
