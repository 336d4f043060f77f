//! Edits of responses.

use serde_json::{Map, Value, json};

use super::{schema::reachable_from_responses, walk};
use crate::model::Operation;

/// The component that [`merge_rejections`] adds.
const REJECTION: &str = "Rejection";

/// progenitor supports one error type per operation, and loses status and headers of a body of another type; the form of a
/// rejection is largely unspecified. One schema with the fields of all error schemas, none required and each of any type,
/// lets the client read every rejection.
pub(super) fn merge_rejections(root: &mut Value) {
    let mut fields = Map::new();
    for name in error_schemas(root) {
        let schema =
            root.pointer(&format!("/components/schemas/{name}/properties")).and_then(Value::as_object);
        for (field, schema) in schema.into_iter().flatten() {
            let description = schema.get("description").cloned().unwrap_or_default();
            fields.entry(field.clone()).or_insert_with(|| json!({"description": description}));
        }
        if let Some(schemas) = walk::components(root) {
            schemas.remove(&name);
        }
    }
    if let Some(schemas) = walk::components(root) {
        let description = "Fields of a rejection, each optional and of any type.";
        let merged = json!({"type": "object", "description": description, "properties": fields});
        schemas.insert(REJECTION.to_owned(), merged);
    }
}

/// The client handles everything but a success: a `default` response beside a typed 200 makes progenitor panic, and a typed
/// error would lose the status of a body that is not JSON.
pub(super) fn keep_only_success(root: &mut Value) {
    for operation in walk::operations(root) {
        if let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) {
            responses.retain(|status, _| status.starts_with('2'));
        }
    }
    if let Some(components) = root.get_mut("components").and_then(Value::as_object_mut) {
        components.remove("responses");
    }
}

/// Of two media types under one status progenitor keeps only JSON: an operation with a text response too is duplicated into
/// a variant that has only that response. The path of the variant differs by a fragment, which is never sent.
pub(super) fn split_text(root: &mut Value) {
    let Some(paths) = root.get_mut("paths").and_then(Value::as_object_mut) else { return };
    let mut variants = Vec::new();
    for (path, item) in paths.iter_mut() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            let Some(id) = operation.get("operationId").and_then(Value::as_str).map(text_operation_id) else {
                continue;
            };
            let mut variant = operation.clone();
            if !retain_media(operation, |name| name == "application/json") {
                continue;
            }
            retain_media(&mut variant, |name| name != "application/json");
            variant["operationId"] = json!(id);
            variants.push((format!("{path}#{id}"), json!({method: variant})));
        }
    }
    paths.extend(variants);
}

/// With a closed enum one unknown value would lose a whole page, and `enum: [0]` on a code would make "HTTP 200 with code 7" a
/// response that cannot be parsed. Named string enums become the open enums of [`opened_enums`]; enums without a name become
/// plain types, and the client compares the code.
pub(super) fn open_enums(root: &mut Value) {
    in_responses(root, |object| {
        object.remove("enum");
    });
}

/// typify parses `ipv4` into an address type, and one invalid address would lose the response: the client parses it later.
pub(super) fn open_formats(root: &mut Value) {
    in_responses(root, |object| {
        if object.get("format").is_some_and(|format| format == "ipv4") {
            object.remove("format");
        }
    });
}

/// A missing description would lose the data beside it: strings and booleans of an envelope are optional. The business code
/// stays required; the client reads it.
pub(super) fn relax_envelopes(root: &mut Value) {
    let successes = walk::responses(root).filter(|(status, _)| status.starts_with('2'));
    let schemas = successes.filter_map(|(_, success)| success.pointer("/content/application~1json/schema"));
    let names = schemas.filter_map(|schema| walk::component(schema, "schemas")).map(str::to_owned);
    let envelopes: Vec<String> = names.collect();
    for name in envelopes {
        let Some(schema) = walk::components(root).and_then(|schemas| schemas.get_mut(&name)) else {
            continue;
        };
        let properties = schema.get("properties").cloned().unwrap_or_default();
        let is_text = |name: &Value| {
            let kind = name.as_str().and_then(|name| properties.get(name)?.get("type")?.as_str());
            matches!(kind, Some("string" | "boolean"))
        };
        if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| !is_text(name));
        }
    }
}

/// The named string enums that a response can hold. The emitter writes an open enum for each.
pub(crate) fn opened_enums(root: &Value) -> Vec<String> {
    let is_enum = |name: &String| root.pointer(&format!("/components/schemas/{name}/enum")).is_some();
    reachable_from_responses(root).into_iter().filter(is_enum).collect()
}

/// The id of the text variant that [`split_text`] adds for the operation `id`.
fn text_operation_id(id: &str) -> String {
    format!("{id}Text")
}

/// The ids that progenitor makes a builder for: that of the operation, and that of its text variant, if it has one.
pub(crate) fn builder_ids(operation: &Operation) -> Vec<String> {
    let has_text = operation.success.content.len() > 1;
    let text = has_text.then(|| text_operation_id(&operation.id));
    std::iter::once(operation.id.clone()).chain(text).collect()
}

/// The named schemas of the error responses.
fn error_schemas(root: &Value) -> Vec<String> {
    let shared = root.pointer("/components/responses");
    let mut found = Vec::new();
    for (_, response) in walk::responses(root).filter(|(status, _)| !status.starts_with('2')) {
        let named = walk::component(response, "responses").and_then(|name| shared?.get(name));
        let schema = named.unwrap_or(response).pointer("/content/application~1json/schema");
        if let Some(name) = schema.and_then(|schema| walk::component(schema, "schemas"))
            && !found.iter().any(|known| known == name)
        {
            found.push(name.to_owned());
        }
    }
    found
}

/// Keeps the media types of the success responses for which `wanted` holds; returns whether any was removed.
fn retain_media(operation: &mut Value, wanted: impl Fn(&str) -> bool) -> bool {
    let mut changed = false;
    for response in operation.get_mut("responses").and_then(Value::as_object_mut).into_iter().flatten() {
        if let Some(content) = response.1.get_mut("content").and_then(Value::as_object_mut) {
            let before = content.len();
            content.retain(|name, _| wanted(name));
            changed |= content.len() != before;
        }
    }
    changed
}

/// Calls `edit` for each object of the schemas that responses can hold, except named enums.
fn in_responses(root: &mut Value, mut edit: impl FnMut(&mut Map<String, Value>)) {
    let enums = opened_enums(root);
    for name in reachable_from_responses(root) {
        if enums.contains(&name) {
            continue;
        }
        if let Some(schema) = walk::components(root).and_then(|schemas| schemas.get_mut(&name)) {
            walk::objects(schema, &mut edit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Value {
        let json = |name: &str| json!({"application/json": {"schema": {"$ref": format!("#/components/schemas/{name}")}}});
        let mut two_forms = json("Good");
        two_forms["text/plain"] = json!({"schema": {"type": "string"}});
        json!({
            "paths": {"/a": {"get": {"operationId": "list", "responses": {
                "200": {"content": two_forms},
                "429": {"content": json("Bad")},
                "default": {"$ref": "#/components/responses/Worse"},
            }}}},
            "components": {
                "responses": {"Worse": {"content": json("Worse")}},
                "schemas": {
                    "Good": {"type": "object", "properties": {
                        "code": {"type": "integer", "enum": [0]},
                        "kind": {"type": "string", "enum": ["a"]},
                        "state": {"$ref": "#/components/schemas/State"},
                        "from": {"type": "string", "format": "ipv4"},
                        "at": {"type": "string", "format": "date-time"},
                    }},
                    "State": {"type": "string", "enum": ["on", "off"]},
                    "Bad": {"type": "object", "required": ["code"], "properties": {"code": {"type": "integer"}}},
                    "Worse": {"type": "object", "properties": {"requestId": {"type": "string"}}},
                },
            },
        })
    }

    #[test]
    fn rejections_become_one_schema_without_required_fields() {
        let mut root = document();
        merge_rejections(&mut root);
        let schemas = &root["components"]["schemas"];
        assert_eq!(schemas.get("Bad").or(schemas.get("Worse")), None);
        let merged = &schemas[REJECTION];
        assert_eq!(merged.get("required"), None);
        let fields: Vec<_> = merged["properties"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["code", "requestId"]);
        assert_eq!(merged["properties"]["code"].get("type"), None);
    }

    #[test]
    fn only_successes_stay() {
        let mut root = document();
        keep_only_success(&mut root);
        let responses = root["paths"]["/a"]["get"]["responses"].as_object().unwrap();
        assert_eq!(responses.keys().collect::<Vec<_>>(), ["200"]);
        assert_eq!(root["components"].get("responses"), None);
    }

    #[test]
    fn an_operation_with_two_media_types_becomes_two_operations() {
        let mut root = document();
        split_text(&mut root);
        let media = |path: &str| {
            let content = &root["paths"][path]["get"]["responses"]["200"]["content"];
            content.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(media("/a"), ["application/json"]);
        assert_eq!(media("/a#listText"), ["text/plain"]);
        assert_eq!(root["paths"]["/a#listText"]["get"]["operationId"], "listText");
    }

    #[test]
    fn texts_of_an_envelope_become_optional_and_data_stays_required() {
        let mut root = document();
        root["components"]["schemas"]["Good"]["required"] = json!(["code", "kind", "state", "from"]);
        relax_envelopes(&mut root);
        assert_eq!(root["components"]["schemas"]["Good"]["required"], json!(["code", "state"]));
    }

    #[test]
    fn constants_and_inline_enums_open_and_named_ones_are_listed() {
        let mut root = document();
        open_enums(&mut root);
        let properties = &root["components"]["schemas"]["Good"]["properties"];
        assert_eq!(properties["code"], json!({"type": "integer"}));
        assert_eq!(properties["kind"], json!({"type": "string"}));
        assert_eq!(opened_enums(&root), ["State"]);
    }

    #[test]
    fn address_formats_open_and_times_stay() {
        let mut root = document();
        open_formats(&mut root);
        let properties = &root["components"]["schemas"]["Good"]["properties"];
        assert_eq!(properties["from"].get("format"), None);
        assert_eq!(properties["at"]["format"], "date-time");
    }
}
