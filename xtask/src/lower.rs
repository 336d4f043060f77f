//! Writes the document that progenitor generates the client from, out of the contract.
//!
//! progenitor drops parts of an OpenAPI document, generates others incorrectly or panics on them. So it gets a document that holds
//! only what it can do; the comments say why something is left out or written otherwise. The rest is done by the client when it sends and
//! its validation: tokens, rejections, limits and defaults, aliases of parameters.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{
    document::Document,
    model::{self, Contract, Format, Kind, Media, Operation, Schema, field},
};

/// The name of the schema of rejections.
const REJECTION: &str = "Rejection";

const JSON: &str = "application/json";

/// The document for progenitor.
pub(crate) fn lower(document: &Document, contract: &Contract) -> Value {
    let lowering = Lowering { contract, responses: reachable_from_responses(contract) };
    let mut paths = Map::new();
    let mut add = |path: &str, id: &str, operation: &Operation, is_text: bool| {
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[operation.method.to_lowercase()] = lowering.operation(id, operation, is_text);
    };
    for operation in &contract.operations {
        add(&operation.path, &operation.id, operation, false);
    }
    // Of two media types under one status progenitor keeps only JSON: an operation with a text response too is there twice. The second
    // path differs by a fragment, which is never sent.
    for operation in &contract.operations {
        if let [_, text] = &builder_ids(operation)[..] {
            add(&format!("{}#{text}", operation.path), text, operation, true);
        }
    }
    let mut root = json!({
        "openapi": "3.0.3",
        "info": document.root()["info"],
        "paths": paths,
        "components": { "schemas": lowering.schemas() },
    });
    let text = root.to_string();
    if let Some(schemas) = root.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        let is_unused = |schema: &Schema| {
            schema.name.as_ref().is_some_and(|name| !text.contains(&format!("\"{}\"", target(name))))
        };
        for schema in contract.schemas.iter().filter(|schema| is_plain_string(schema) && is_unused(schema)) {
            schema.name.as_ref().map(|name| schemas.shift_remove(name));
        }
    }
    root
}

/// The ids that progenitor makes a builder for: that of the operation, and that of its text variant, if it has one.
pub(crate) fn builder_ids(operation: &Operation) -> Vec<String> {
    let text = (operation.success.content.len() > 1).then(|| format!("{}Text", operation.id));
    std::iter::once(operation.id.clone()).chain(text).collect()
}

/// The names of the schemas that a success response can hold.
pub(crate) fn reachable_from_responses(contract: &Contract) -> BTreeSet<String> {
    let content = contract.operations.iter().flat_map(|operation| &operation.success.content);
    content.flat_map(|media| media.schema.all()).filter_map(|schema| schema.name.clone()).collect()
}

/// The named enums that a response can hold. The emitter writes an open enum for each.
pub(crate) fn opened_enums(contract: &Contract) -> Vec<String> {
    let names = reachable_from_responses(contract);
    let is_enum = |schema: &&Schema| schema.variants.is_some();
    let enums = contract.schemas.iter().filter(is_enum).filter_map(|schema| schema.name.clone());
    let mut enums: Vec<String> = enums.filter(|name| names.contains(name)).collect();
    enums.sort_unstable();
    enums
}

/// The named string schemas that hold an address with an optional port.
pub(crate) fn endpoint_schemas(contract: &Contract) -> Vec<String> {
    let is_endpoint = |schema: &&Schema| schema.endpoint_ports().is_some();
    contract.schemas.iter().filter(is_endpoint).filter_map(|schema| schema.name.clone()).collect()
}

fn target(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

/// Documentation with limits and clauses, which progenitor drops, as one line.
fn sentences(lines: &[String]) -> String {
    lines.iter().filter(|line| !line.is_empty()).cloned().collect::<Vec<_>>().join(" ")
}

/// Whether a schema is an integer that progenitor would make a newtype of no use: limits are validated elsewhere.
fn is_plain_integer(schema: &Schema) -> bool {
    schema.kind == Kind::Integer && schema.variants.is_none()
}

/// Whether a schema is a string that progenitor would make a newtype of, which accepts no `&str`.
fn is_plain_string(schema: &Schema) -> bool {
    let has_format = schema.format.is_some() || schema.endpoint_ports().is_some();
    schema.kind == Kind::String && !has_format && schema.variants.is_none()
}

/// Where a schema stands.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Parameter,
    Body,
    Response,
}

struct Lowering<'a> {
    contract: &'a Contract,
    /// The names of the schemas that a success response can hold.
    responses: BTreeSet<String>,
}

impl Lowering<'_> {
    /// An operation without the parameters that carry a token, which would be arguments of every call, and without rejections: a
    /// `default` response beside a typed success makes progenitor panic, and a typed error would lose the status of a body that is no
    /// JSON.
    fn operation(&self, id: &str, operation: &Operation, is_text: bool) -> Value {
        let parameters: Vec<Value> = operation
            .distinct_parameters()
            .map(|parameter| {
                json!({
                    "name": parameter.name,
                    "in": parameter.location.to_string(),
                    "required": parameter.required,
                    "description": sentences(&field::parameter(parameter)),
                    "schema": self.schema(&parameter.schema, Side::Parameter),
                })
            })
            .collect();
        let is_only = operation.success.content.len() == 1;
        let content =
            operation.success.content.iter().filter(|media| is_only || (media.name != JSON) == is_text);
        let content: Map<String, Value> = content
            .map(|Media { name, schema }| {
                (name.clone(), json!({ "schema": self.schema(schema, Side::Response) }))
            })
            .collect();
        let mut lowered = json!({
            "operationId": id,
            "tags": operation.tags,
            "summary": operation.summary,
            "description": operation.description,
            "parameters": parameters,
            "responses": { operation.success.status.as_str(): { "description": "", "content": content } },
        });
        if let Some(body) = &operation.body {
            lowered["requestBody"] = json!({
                "required": body.required,
                "description": sentences(&field::body(body)),
                "content": { JSON: { "schema": self.schema(&body.schema, Side::Body) } },
            });
        }
        lowered
    }

    /// The named schemas. progenitor supports one error type per operation, and the form of a rejection is largely unspecified: one
    /// schema with the fields of all error schemas, none required and each of any type, lets the client read every rejection.
    fn schemas(&self) -> Map<String, Value> {
        let errors = self.contract.operations.iter().flat_map(|operation| &operation.errors);
        let errors: Vec<&Schema> = errors.filter_map(|response| response.json()).collect();
        let fields = errors.iter().flat_map(|schema| schema.properties());
        let mut properties = Map::new();
        for field in fields {
            let lowered = json!({ "description": field.schema.description });
            properties.entry(&field.name).or_insert(lowered);
        }
        let is_error = |schema: &Schema| errors.iter().any(|error| error.pointer == schema.pointer);
        let named = self.contract.schemas.iter().filter_map(|schema| Some((schema.name.clone()?, schema)));
        let named = named.filter(|(_, schema)| !is_error(schema) && !is_plain_integer(schema));
        let rejection = json!({
            "type": "object",
            "description": "Fields of a rejection, each optional and of any type.",
            "properties": properties,
        });
        let lowered = named.map(|(name, schema)| {
            let side = if self.responses.contains(&name) { Side::Response } else { Side::Body };
            let definition = self.definition(schema, side);
            (name, definition)
        });
        lowered.chain([(REJECTION.to_owned(), rejection)]).collect()
    }

    fn schema(&self, schema: &Schema, side: Side) -> Value {
        let is_inline = is_plain_integer(schema) || side == Side::Parameter && is_plain_string(schema);
        match &schema.name {
            Some(name) if !is_inline => json!({ "$ref": target(name) }),
            _ => self.definition(schema, side),
        }
    }

    /// A schema without limits, of which typify applies some in part, and without its default, which services apply.
    fn definition(&self, schema: &Schema, side: Side) -> Value {
        let is_response = side == Side::Response;
        let mut lowered = json!({ "type": schema.kind });
        if let Some(description) = &schema.description {
            lowered["description"] = json!(description);
        }
        if schema.nullable {
            lowered["nullable"] = json!(true);
        }
        // With a closed enum one unknown value would lose a whole page, and `enum: [0]` on a code would make "HTTP 200 with code 7" a
        // response that cannot be parsed. The named ones become the open enums of `opened_enums`.
        if let Some(values) = schema.variants.as_ref().filter(|_| !is_response || schema.name.is_some()) {
            lowered["enum"] = json!(values);
        }
        // typify parses an IPv4 address into its own type, and one invalid address would lose the response.
        if let Some(format) = schema.format.filter(|format| *format != Format::Ipv4 || !is_response) {
            lowered["format"] = json!(<&str>::from(format));
        }
        if let Some(items) = schema.items() {
            lowered["items"] = self.schema(items, side);
        }
        if schema.kind == Kind::Object {
            let properties = schema.properties();
            let of = if is_response { model::Side::Response } else { model::Side::Request };
            let inner = properties.iter().map(|one| {
                let mut inner = self.schema(&one.schema, side);
                // A reference has no words of its own.
                if inner.get("$ref").is_some() {
                    inner = json!({ "allOf": [inner] });
                }
                inner["description"] = json!(sentences(&field::property(one, of)));
                (one.name.clone(), inner)
            });
            lowered["properties"] = inner.collect();
            // A missing description would lose the data beside it. The business code stays required; the client reads it.
            let is_optional = |schema: &Schema| {
                schema.name.is_none() && matches!(schema.kind, Kind::String | Kind::Boolean)
            };
            let is_envelope = self.is_envelope(schema);
            let required = properties.iter().filter(|one| one.required);
            let required = required.filter(|one| !(is_envelope && is_optional(&one.schema)));
            lowered["required"] = required.map(|one| json!(one.name)).collect();
        }
        lowered
    }

    fn is_envelope(&self, schema: &Schema) -> bool {
        let mut successes = self.contract.operations.iter().filter_map(|operation| operation.success.json());
        schema.name.is_some() && successes.any(|success| success.pointer == schema.pointer)
    }
}
