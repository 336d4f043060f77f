//! Projects the contract to what Dropshot can emit: each edit removes or rewrites something that Dropshot cannot express or
//! expresses otherwise. The result must equal what the server emits, which `compare` checks.
//!
//! No edit hides a constraint of a request: generated code enforces those that Dropshot drops, and the ledger lists them.

use serde_json::{Map, Value, json};

use crate::document::{Document, reference};

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// The edits, in order.
const EDITS: [fn(&mut Value, &Value); 9] = [
    inline_parts,
    drop_extensions,
    drop_deployment,
    drop_part_examples,
    drop_deprecated_parameters,
    keep_json_alone,
    drop_body_description,
    items_of_queries,
    merge_errors,
];

/// The document that the server should emit.
pub(crate) fn project(document: &Document) -> Value {
    let mut projected = document.root().clone();
    for edit in EDITS {
        edit(&mut projected, document.root());
    }
    projected
}

/// Dropshot inlines parameters, headers and success responses.
fn inline_parts(projected: &mut Value, root: &Value) {
    let definition = |value: &Value| {
        let target = reference(value).filter(|target| !target.starts_with("/components/schemas/"));
        target.and_then(|target| root.pointer(target)).cloned()
    };
    walk(projected, &mut |value| {
        while let Some(definition) = definition(value) {
            *value = definition;
        }
    });
    if let Some(components) = projected.get_mut("components").and_then(Value::as_object_mut) {
        components.retain(|kind, _| kind == "schemas" || kind == "securitySchemes");
    }
}

/// Extensions are for the generators and the suite; Dropshot does not emit them.
fn drop_extensions(projected: &mut Value, _: &Value) {
    walk(projected, &mut |value| {
        if let Value::Object(map) = value {
            map.retain(|key, _| !key.starts_with("x-"));
        }
    });
}

/// Dropshot emits neither servers nor security schemes.
fn drop_deployment(projected: &mut Value, _: &Value) {
    remove(projected, &["servers", "security"]);
    if let Some(components) = projected.get_mut("components").and_then(Value::as_object_mut) {
        components.remove("securitySchemes");
    }
    each_operation(projected, |operation| remove(operation, &["security"]));
}

/// Dropshot keeps the examples of schemas, but not those of parameters, headers and media types.
fn drop_part_examples(projected: &mut Value, _: &Value) {
    each_operation(projected, |operation| {
        for parameter in items(operation.get_mut("parameters")) {
            remove(parameter, &["example", "examples"]);
        }
        for media in members(operation.pointer_mut("/requestBody/content")) {
            remove(media, &["example", "examples"]);
        }
        for response in members(operation.get_mut("responses")) {
            for part in ["headers", "content"] {
                for part in members(response.get_mut(part)) {
                    remove(part, &["example", "examples"]);
                }
            }
        }
    });
}

/// Dropshot says of operations and schemas that they are deprecated, but not of parameters.
fn drop_deprecated_parameters(projected: &mut Value, _: &Value) {
    each_operation(projected, |operation| {
        items(operation.get_mut("parameters")).for_each(|parameter| remove(parameter, &["deprecated"]));
    });
}

/// Of several media types of a response Dropshot emits only JSON.
fn keep_json_alone(projected: &mut Value, _: &Value) {
    each_operation(projected, |operation| {
        for response in members(operation.get_mut("responses")) {
            let content = response.get_mut("content").and_then(Value::as_object_mut);
            if let Some(content) = content.filter(|content| content.contains_key("application/json")) {
                content.retain(|media, _| media == "application/json");
            }
        }
    });
}

/// Dropshot emits no description of a request body.
fn drop_body_description(projected: &mut Value, _: &Value) {
    each_operation(projected, |operation| {
        if let Some(body) = operation.get_mut("requestBody") {
            remove(body, &["description"]);
        }
    });
}

/// Dropshot documents only scalars in a query: of an array the server gives it the schema of an item.
fn items_of_queries(projected: &mut Value, root: &Value) {
    each_operation(projected, |operation| {
        for schema in
            items(operation.get_mut("parameters")).filter_map(|parameter| parameter.get_mut("schema"))
        {
            let resolved = reference(schema).and_then(|target| root.pointer(target)).unwrap_or(schema);
            if let Some(item) = resolved.get("items").cloned() {
                *schema = item;
            }
        }
    });
}

/// Dropshot emits one error body per operation, for all of 4XX and 5XX, without headers, as a response with the name of its
/// schema.
fn merge_errors(projected: &mut Value, _: &Value) {
    let mut named = Map::new();
    each_operation(projected, |operation| {
        let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else { return };
        let errors: Vec<Value> = responses
            .iter()
            .filter(|(status, _)| !status.starts_with('2'))
            .filter_map(|(_, response)| response.pointer("/content/application~1json/schema").cloned())
            .collect();
        responses.retain(|status, _| status.starts_with('2'));
        for schema in errors {
            let name = reference(&schema)
                .and_then(|target| target.rsplit('/').next())
                .unwrap_or_default()
                .to_owned();
            for class in ["4XX", "5XX"] {
                responses.insert(class.to_owned(), json!({"$ref": format!("#/components/responses/{name}")}));
            }
            let content = json!({"application/json": {"schema": schema}});
            named.insert(name.clone(), json!({"description": name, "content": content}));
        }
    });
    if let Some(components) = projected.get_mut("components").and_then(Value::as_object_mut) {
        components.insert("responses".to_owned(), Value::Object(named));
    }
}

/// Visits every value, outer ones first, except maps whose keys are names of the document (`properties`, `headers` …): there
/// only the members are visited, so that no name is taken for a keyword.
fn walk(value: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    visit(value);
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                match (key.as_str(), inner) {
                    ("example" | "default" | "enum", _) => {}
                    (
                        "properties" | "headers" | "schemas" | "responses" | "content" | "paths",
                        Value::Object(named),
                    ) => {
                        named.values_mut().for_each(|named| walk(named, visit));
                    }
                    (_, inner) => walk(inner, visit),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|item| walk(item, visit)),
        _ => {}
    }
}

fn each_operation(root: &mut Value, mut edit: impl FnMut(&mut Value)) {
    for path in members(root.get_mut("paths")) {
        if let Value::Object(methods) = path {
            methods
                .iter_mut()
                .filter(|(key, _)| METHODS.contains(&key.as_str()))
                .for_each(|(_, value)| edit(value));
        }
    }
}

fn members(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
}

fn items(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_array_mut).into_iter().flatten()
}

fn remove(value: &mut Value, keys: &[&str]) {
    if let Value::Object(map) = value {
        map.retain(|key, _| !keys.contains(&key.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(edit: fn(&mut Value, &Value), root: Value) -> Value {
        let mut projected = root.clone();
        edit(&mut projected, &root);
        projected
    }

    fn operation(operation: Value) -> Value {
        json!({"paths": {"/a": {"get": operation}}})
    }

    #[test]
    fn parts_stand_where_they_are_used_and_schemas_keep_their_names() {
        let schema = json!({"$ref": "#/components/schemas/S"});
        let mut root = operation(json!({"parameters": [{"$ref": "#/components/parameters/P"}]}));
        root["components"] =
            json!({"parameters": {"P": {"name": "p", "schema": schema}}, "schemas": {"S": {}}});
        let projected = edited(inline_parts, root);
        assert_eq!(projected["paths"]["/a"]["get"]["parameters"], json!([{"name": "p", "schema": schema}]));
        assert_eq!(projected["components"], json!({"schemas": {"S": {}}}));
    }

    #[test]
    fn extensions_go_and_names_that_look_like_them_stay() {
        let root =
            json!({"x-clauses": [], "a": {"x-b": 1, "properties": {"x-name": {"x-c": 1, "type": "string"}}}});
        assert_eq!(
            edited(drop_extensions, root),
            json!({"a": {"properties": {"x-name": {"type": "string"}}}})
        );
    }

    #[test]
    fn deployment_goes() {
        let mut root = operation(json!({"security": [], "summary": "s"}));
        root["servers"] = json!([]);
        root["components"] = json!({"securitySchemes": {}, "schemas": {}});
        let mut left = operation(json!({"summary": "s"}));
        left["components"] = json!({"schemas": {}});
        assert_eq!(edited(drop_deployment, root), left);
    }

    #[test]
    fn examples_of_schemas_stay_and_those_of_other_parts_go() {
        let with = |part: Value| {
            operation(json!({
                "parameters": [part], "requestBody": {"content": {"application/json": part}},
                "responses": {"200": {"headers": {"H": part}, "content": {"application/json": part}}},
            }))
        };
        let schema = json!({"type": "string", "example": "a"});
        let root = with(json!({"example": 1, "schema": schema}));
        assert_eq!(edited(drop_part_examples, root), with(json!({"schema": schema})));
    }

    #[test]
    fn text_goes_where_there_is_json() {
        let root = |content: Value| operation(json!({"responses": {"200": {"content": content}}}));
        let both = root(json!({"application/json": {}, "text/plain": {}}));
        assert_eq!(edited(keep_json_alone, both), root(json!({"application/json": {}})));
        let text = root(json!({"text/plain": {}}));
        assert_eq!(edited(keep_json_alone, text.clone()), text, "a lone text is a difference");
    }

    #[test]
    fn a_body_loses_its_description_alone() {
        let root = operation(json!({"requestBody": {"description": "d", "required": true}}));
        assert_eq!(
            edited(drop_body_description, root),
            operation(json!({"requestBody": {"required": true}}))
        );
    }

    #[test]
    fn an_array_in_a_query_is_its_item() {
        let root = |schema: Value| operation(json!({"parameters": [{"in": "query", "schema": schema}]}));
        let array = root(json!({"type": "array", "maxItems": 3, "items": {"type": "string"}}));
        assert_eq!(edited(items_of_queries, array), root(json!({"type": "string"})));
    }

    #[test]
    fn errors_become_two_classes() {
        let response = json!({"headers": {}, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/E"}}}});
        let mut root = operation(json!({"responses": {"200": {}, "429": response, "default": response}}));
        root["components"] = json!({});
        let projected = edited(merge_errors, root);
        let reference = json!({"$ref": "#/components/responses/E"});
        let responses = json!({"200": {}, "4XX": reference, "5XX": reference});
        assert_eq!(projected["paths"]["/a"]["get"]["responses"], responses);
        assert_eq!(projected["components"]["responses"]["E"]["description"], "E");
    }
}
