//! Emits the server's API: plain types for requests and responses, and the list of operations. `server.rs.jinja` is how they look.
//!
//! What a request must be is no part of it: the server checks requests by the table of `sallyport-contract`. What the table cannot
//! hold, or the types cannot express, is a [`Problem`].

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{name, rust_text};
use crate::{
    artifact::Artifact,
    document::Document,
    model::{
        Contract, Filter, Format, Header, Kind, Limit, Match, Operation, Property, Response, Schema, Side,
        field,
    },
    problem::Problem,
    template::fill,
};

const PATH: &str = "server/src/api/generated.rs";

/// The files that the server is built from.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let contract = Contract::read(document)?;
    let mut emitter = Emitter { document, contract: &contract, problems: Vec::new(), is_stored: false };
    let operations: Vec<_> =
        contract.operations.iter().map(|operation| emitter.operation(operation)).collect();
    let types = emitter.named_types();
    if !emitter.problems.is_empty() {
        Problem::sort(&mut emitter.problems);
        return Err(emitter.problems);
    }
    let text = fill(include_str!("server.rs.jinja"), &json!({ "operations": operations, "types": types }));
    Ok(vec![rust_text(document, PATH, &text)?])
}

/// The document while its code is written.
struct Emitter<'a> {
    document: &'a Document,
    contract: &'a Contract,
    problems: Vec<Problem>,
    /// Whether the fields are of an object that is stored as it is sent.
    is_stored: bool,
}

impl Emitter<'_> {
    /// The types of an operation and how they belong together.
    fn operation(&mut self, operation: &Operation) -> Value {
        let Operation { id, path, method, success, .. } = operation;
        let parameters = operation.distinct_parameters();
        let defaults: Vec<_> = parameters
            .filter(|one| {
                one.schema.variants.is_none() && one.schema.default.as_ref().is_some_and(Value::is_string)
            })
            .map(|one| json!({ "name": one.name, "value": one.schema.default }))
            .collect();
        let parameters = operation.distinct_parameters();
        let mut fields: Vec<_> = parameters
            .map(|one| {
                self.field(&one.name, one.required, &one.schema, Side::Request, &field::parameter(one))
            })
            .collect();
        if let Some(body) = &operation.body {
            fields.push(self.field("body", true, &body.schema, Side::Request, &field::body(body)));
        }
        // The lint requires one schema for all errors.
        let error = operation.errors.iter().find_map(Response::json);
        let methods = self.contract.operations.iter().filter(|other| other.path == *path);
        json!({
            "id": id,
            "method": method,
            "path": path,
            "fields": fields,
            "defaults": defaults,
            "headers": success.headers.iter().map(|header| self.header(header)).collect::<Vec<_>>(),
            "allow": methods.map(|other| other.method.as_str()).collect::<Vec<_>>().join(", "),
            "status": success.status,
            "has_text": success.content.iter().any(|media| media.name == "text/plain"),
            "success": success.json().map_or("NoContent".to_owned(), |schema| self.rust_type(schema, Side::Response)),
            "error": error.map(|schema| self.rust_type(schema, Side::Response)).unwrap_or_default(),
        })
    }

    /// A header of a success. One with a single value has no field.
    fn header(&mut self, header: &Header) -> Value {
        let Header { name, required, description, schema, .. } = header;
        if let (Some([Value::String(only)]), true) = (schema.variants.as_deref(), *required) {
            return json!({ "name": name, "only": only, "type": null });
        }
        let ty = self.rust_type(schema, Side::Response);
        let ty = if *required { ty } else { format!("Option<{ty}>") };
        json!({ "name": name, "type": ty, "doc": description.as_deref().unwrap_or(name) })
    }

    /// Every named schema that is a type of its own: enums and objects.
    fn named_types(&mut self) -> Vec<Value> {
        let operations = &self.contract.operations;
        let bodies = operations.iter().filter_map(|operation| Some(&operation.body.as_ref()?.schema));
        let requests: HashSet<&str> = bodies.flat_map(Schema::all).map(|schema| &*schema.pointer).collect();
        let errors = operations.iter().flat_map(|operation| &operation.errors);
        let errors: HashSet<&str> = errors.filter_map(|response| Some(&*response.json()?.pointer)).collect();
        let mut types = Vec::new();
        for schema in &self.contract.schemas {
            let Schema { name, kind, pointer, description, separators, .. } = schema;
            let doc = description.clone().or_else(|| Some(name::pascal(name.as_ref()?).to_string()));
            if let (Kind::String, Some(values)) = (kind, schema.text_variants()) {
                types.push(json!({ "name": name, "doc": doc, "values": values, "separators": separators }));
            }
            if *kind != Kind::Object {
                continue;
            }
            let is_request = requests.contains(pointer.as_str());
            let is_error = !is_request && errors.contains(pointer.as_str());
            let side = if is_request { Side::Request } else { Side::Response };
            // An object that may be empty, such as capabilities, is stored as it is sent.
            let is_optional = schema.properties().iter().all(|property| !property.required);
            self.is_stored = !is_request && !is_error && is_optional;
            let fields = schema.properties().iter().map(|one| {
                self.field(&one.name, one.required, &one.schema, side, &field::property(one, side))
            });
            types.push(json!({
                "name": name, "doc": doc, "fields": fields.collect::<Vec<_>>(), "is_request": is_request, "is_error": is_error,
                "is_stored": self.is_stored, "filters": if is_request { self.filters(schema) } else { Vec::new() },
            }));
            self.is_stored = false;
        }
        types
    }

    /// A field of a struct. An absent value that has a default is filled in before a request is read.
    fn field(&mut self, name: &str, required: bool, schema: &Schema, side: Side, doc: &[String]) -> Value {
        let ty = self.rust_type(schema, side);
        let is_present = required || (side == Side::Request && schema.default.is_some());
        let (attribute, ty) = match (is_present, schema.nullable, side) {
            (true, false, _) => ("", ty),
            (true, true, _) | (false, false, Side::Request) => ("", format!("Option<{ty}>")),
            (false, true, Side::Request) => (
                r#", default, deserialize_with = "crate::edge::reading::nullable""#,
                format!("Option<Option<{ty}>>"),
            ),
            (false, _, Side::Response) => {
                (r#", skip_serializing_if = "Option::is_none""#, format!("Option<{ty}>"))
            }
        };
        let doc = doc.join("\n");
        json!({ "name": name, "required": required, "type": ty, "attribute": attribute, "doc": doc })
    }

    /// The type of a value of `schema`.
    fn rust_type(&mut self, schema: &Schema, side: Side) -> String {
        let Schema { name, kind, variants, pointer, .. } = schema;
        let is_response = side == Side::Response;
        let ty = match (kind, variants.as_deref()) {
            (Kind::Object, _) | (Kind::String, Some(_)) => match name {
                Some(name) => return name::pascal(name).to_string(),
                None => {
                    let message = "unsupported: an object or an enum without a name";
                    let help = "give it a name under components/schemas";
                    self.problems.push(self.document.problem(pointer, message, help));
                    "()"
                }
            },
            (Kind::String, None) => match schema.format {
                Some(Format::DateTime) if is_response => "Timestamp",
                Some(Format::DateTime) => "DateTime",
                Some(Format::Ipv4) => "std::net::Ipv4Addr",
                _ if schema.endpoint_ports().is_some() => "Address",
                _ if is_response => "SmolStr",
                _ => "String",
            },
            (Kind::Integer, Some([Value::Number(number)])) => return format!("Constant<{number}>"),
            (Kind::Integer, None) => match (schema.limit(Limit::Minimum), schema.limit(Limit::Maximum)) {
                (Some(0..), Some(0..=0xffff_ffff)) => "u32",
                // Days and counts, of which imports take no others.
                _ if self.is_stored && schema.format.is_none() => "u32",
                _ => "i64",
            },
            (Kind::Integer, _) => "i64",
            (Kind::Boolean, Some([Value::Bool(value)])) => return format!("ConstantBool<{value}>"),
            (Kind::Boolean, _) => "bool",
            (Kind::Array, _) => {
                let item = schema.items().map(|items| self.rust_type(items, side)).unwrap_or_default();
                return format!("Vec<{item}>");
            }
        };
        ty.to_owned()
    }

    /// The filters of the operation whose body has this schema; none of addresses, which are no conditions on a single field.
    fn filters(&self, body: &Schema) -> Vec<Value> {
        let is_body =
            |one: &&Operation| one.body.as_ref().is_some_and(|it| it.schema.pointer == body.pointer);
        let filters = self.contract.operations.iter().find(is_body).into_iter().flat_map(|one| &one.filters);
        let filters = filters.filter(|filter| filter.r#match != Match::Address).filter_map(|filter| {
            let Filter { name, field, r#match, finds_null, .. } = filter;
            let Property { required, schema, .. } = body.properties().iter().find(|one| one.name == *name)?;
            // What items do not show is stored under the name of the property.
            Some(json!({
                "property": name, "field": field.as_ref().unwrap_or(name), "condition": <&str>::from(r#match), "null": finds_null,
                "is_present": *required || schema.default.is_some(), "is_nullable": schema.nullable,
                "is_enum": schema.kind == Kind::String && schema.variants.is_some(),
            }))
        });
        filters.collect()
    }
}
