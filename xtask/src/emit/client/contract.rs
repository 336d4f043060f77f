//! Emits what the document names: operations, enum values, separators, limits, headers. `contract.rs.jinja` is how they look.

use sallyport_contract::table::Transport;
use serde_json::{Value, json};

use crate::{
    artifact::Artifact,
    document::Document,
    emit::{name, rust_text},
    lower,
    model::{Contract, Kind, Operation, Response, Schema},
    problem::Problem,
    template::fill,
};

/// What the hand-written code of the client takes from the document.
pub(super) fn emit(document: &Document, contract: &Contract) -> Result<Artifact, Vec<Problem>> {
    let opened = lower::opened_enums(contract);
    let (open, closed): (Vec<_>, Vec<_>) = contract
        .schemas
        .iter()
        .filter_map(text_enum)
        .partition(|schema| opened.iter().any(|name| schema["name"] == **name));
    let parameters = contract.operations.iter().flat_map(|operation| &operation.parameters);
    let known = json!({
        "operations": contract.operations.iter().flat_map(operations).collect::<Vec<_>>(),
        "request_id_header": parameters.filter_map(|parameter| parameter.falls_back_to.as_ref()).next(),
        "path_prefix": path_prefix(contract),
        "separators": contract.schemas.iter().find(|schema| schema.separators.is_some()).and_then(text_enum),
        "headers": contract.operations.iter().filter_map(headers).collect::<Vec<_>>(),
        "limits": contract.operations.iter().map(limits).collect::<Vec<_>>(),
        "address": address(contract),
        "open": opened.iter().filter_map(|name| open.iter().find(|one| one["name"] == **name)).collect::<Vec<_>>(),
        "closed": closed,
    });
    rust_text(document, "client/src/contract/generated.rs", &fill(include_str!("contract.rs.jinja"), &known))
}

/// An operation, and its variant with a text response, each named as the builder that progenitor makes for it.
fn operations(operation: &Operation) -> Vec<Value> {
    let Operation { id, path, success, errors, .. } = operation;
    let shortage = errors.iter().any(|response| response.status == "default" && has_retry_after(response));
    let (code_field, code) = business_code(success).unwrap_or_default();
    let request_id = operation.parameters.iter().find(|parameter| parameter.falls_back_to.is_some());
    let described = lower::builder_ids(operation).into_iter().zip([false, true]).map(|(builder, is_text)| {
        json!({
            "builder": builder, "id": id, "method": operation.method, "path": path, "status": success.status,
            // Without a statement nobody may rely on it.
            "retry": operation.retry.map_or("never", Into::into),
            "request_id": request_id.map(|parameter| &parameter.name),
            "code_field": code_field, "code": code, "credential": credential(operation), "shortage": shortage, "text": is_text,
        })
    });
    described.collect()
}

/// The property that distinguishes success from rejection, and its value for success; `None` where a success has no body.
fn business_code(success: &Response) -> Option<(&str, i64)> {
    success.json()?.properties().iter().find_map(|property| match property.schema.variants.as_deref()? {
        [value] => Some((property.name.as_str(), value.as_i64()?)),
        _ => None,
    })
}

/// The transport of the token: a header where there is a choice, because URLs are logged on the way.
fn credential(operation: &Operation) -> Option<&Transport> {
    operation.credentials.iter().min_by_key(|transport| match transport {
        Transport::Header(_) => 0,
        Transport::Bearer => 1,
        Transport::Query(_) => 2,
    })
}

/// Whether rejections other than throttling have `Retry-After`, which means a shortage.
fn has_retry_after(response: &Response) -> bool {
    response.headers.iter().any(|header| header.name.eq_ignore_ascii_case("retry-after"))
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

/// A named enum of texts.
fn text_enum(schema: &Schema) -> Option<Value> {
    let Schema { name, description, separators, .. } = schema;
    let (name, values) = (name.as_ref()?, schema.text_variants()?);
    let about = name::sentence(description.as_ref().unwrap_or(name));
    Some(json!({ "name": name, "values": values, "about": about, "separators": separators }))
}

/// The headers of a success that has any.
fn headers(operation: &Operation) -> Option<Value> {
    let headers = &operation.success.headers;
    let header = headers.iter().map(|header| {
        let about = name::sentence(header.description.as_ref().unwrap_or(&header.name));
        json!({ "name": header.name, "about": about, "is_integer": header.schema.kind == Kind::Integer })
    });
    (!headers.is_empty()).then(|| json!({ "operation": operation.id, "headers": header.collect::<Vec<_>>() }))
}

/// Each limit of a request, by the name of its part and its keyword.
fn limits(operation: &Operation) -> Value {
    let parameters = operation.distinct_parameters().map(|parameter| (&parameter.name, &parameter.schema));
    let properties = operation.body.iter().flat_map(|body| body.schema.properties());
    let parts = parameters.chain(properties.map(|property| (&property.name, &property.schema)));
    let limits = parts.flat_map(|(part, schema)| {
        schema.limits().map(move |(_, keyword, bound)| {
            let ty = if schema.kind == Kind::Integer { "i64" } else { "usize" };
            let clauses = schema.citation.clauses_for(keyword).join("`, `");
            json!({ "part": part, "keyword": keyword, "bound": bound, "type": ty, "clauses": clauses })
        })
    });
    json!({ "operation": operation.id, "limits": limits.collect::<Vec<_>>() })
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
