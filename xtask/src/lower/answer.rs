//! Edits on what comes back.

use serde_json::{Map, Value, json};

use super::{schema::reachable_from_answers, walk};

/// The component that [`merge_rejections`] adds.
const REJECTION: &str = "Rejection";

/// progenitor takes one error type an operation, and loses status and headers of a body that is not of that type; what a
/// rejection looks like is largely open. One schema with every field that any error schema has, none required and each of
/// any type, lets the hooks read as much as there is.
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
        let description = "What a rejection may say, read as far as it can be.";
        let merged = json!({"type": "object", "description": description, "properties": fields});
        schemas.insert(REJECTION.to_owned(), merged);
    }
}

/// The hooks judge everything but a success, by status, headers and raw body: a `default` beside a typed 200 makes
/// progenitor panic, and a typed error would lose the status of a body that is not JSON.
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

/// Of two media types under one status progenitor silently keeps the JSON one: an operation that also answers in another
/// form is given a twin that answers in that form alone. The twin's path differs by a fragment, which is never sent.
pub(super) fn split_text(root: &mut Value) {
    let Some(paths) = root.get_mut("paths").and_then(Value::as_object_mut) else { return };
    let mut twins = Vec::new();
    for (path, item) in paths.iter_mut() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            let Some(id) = operation.get("operationId").and_then(Value::as_str).map(text_operation_id) else {
                continue;
            };
            let mut twin = operation.clone();
            if !retain_media(operation, |name| name == "application/json") {
                continue;
            }
            retain_media(&mut twin, |name| name != "application/json");
            twin["operationId"] = json!(id);
            twins.push((format!("{path}#{id}"), json!({method: twin})));
        }
    }
    paths.extend(twins);
}

/// `enum: [0]` on a code turns "HTTP 200 with code 7" into an answer that cannot be read: the hooks compare the code with
/// the one that the document names, so the type is open.
pub(super) fn open_constants(root: &mut Value) {
    in_answers(root, |object| {
        let is_text = object.get("type").is_some_and(|kind| kind == "string");
        if object.get("enum").is_some() && !is_text {
            object.remove("enum");
        }
    });
}

/// A closed enum lets one value that is not known yet fail a whole page. Named string enums become the open enums of
/// [`opened_enums`]; those without a name become plain strings.
pub(super) fn open_inline_enums(root: &mut Value) {
    in_answers(root, |object| {
        object.remove("enum");
    });
}

/// typify reads `ipv4` into an address type, and one odd spelling would fail the answer: the face reads it instead.
pub(super) fn open_formats(root: &mut Value) {
    in_answers(root, |object| {
        if object.get("format").is_some_and(|format| format == "ipv4") {
            object.remove("format");
        }
    });
}

/// The named string enums that an answer can hold. The emitter writes an open enum for each.
pub(crate) fn opened_enums(root: &Value) -> Vec<String> {
    let is_enum = |name: &String| root.pointer(&format!("/components/schemas/{name}/enum")).is_some();
    reachable_from_answers(root).into_iter().filter(is_enum).collect()
}

/// The id of the twin that [`split_text`] gives to the operation `id`.
pub(crate) fn text_operation_id(id: &str) -> String {
    format!("{id}Text")
}

/// The named schemas of the responses that are no success.
fn error_schemas(root: &Value) -> Vec<String> {
    let shared = root.pointer("/components/responses");
    let mut found = Vec::new();
    for path in root["paths"].as_object().into_iter().flat_map(Map::values) {
        for operation in path.as_object().into_iter().flat_map(Map::values) {
            let responses = operation.get("responses").and_then(Value::as_object);
            for (_, response) in
                responses.into_iter().flatten().filter(|(status, _)| !status.starts_with('2'))
            {
                let named = walk::component(response, "responses").and_then(|name| shared?.get(name));
                let schema = named.unwrap_or(response).pointer("/content/application~1json/schema");
                if let Some(name) = schema.and_then(|schema| walk::component(schema, "schemas"))
                    && !found.iter().any(|known| known == name)
                {
                    found.push(name.to_owned());
                }
            }
        }
    }
    found
}

/// Keeps the media types of the success answers for which `wanted` holds; whether that took any away.
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

/// Calls `edit` for each object of the schemas that answers can hold, named enums excepted.
fn in_answers(root: &mut Value, mut edit: impl FnMut(&mut Map<String, Value>)) {
    let enums = opened_enums(root);
    for name in reachable_from_answers(root) {
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
    fn rejections_become_one_schema_without_demands() {
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
    fn an_operation_of_two_forms_becomes_two_operations() {
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
    fn constants_open() {
        let mut root = document();
        open_constants(&mut root);
        assert_eq!(root["components"]["schemas"]["Good"]["properties"]["code"], json!({"type": "integer"}));
    }

    #[test]
    fn inline_enums_open_and_named_ones_are_listed() {
        let mut root = document();
        open_inline_enums(&mut root);
        assert_eq!(root["components"]["schemas"]["Good"]["properties"]["kind"], json!({"type": "string"}));
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
