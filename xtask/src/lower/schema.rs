//! Edits on schemas wherever they stand, and what the emitter must know of schemas before the edits.

use std::collections::BTreeSet;

use serde_json::Value;

use super::walk;

/// Keywords that typify loses or keeps by half: `minimum: 1` becomes a non-zero number and `maximum` nothing.
const BOUNDS: [&str; 8] =
    ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "default", "pattern"];

/// Half a bound misleads: every bound is checked by the generated checks of the client instead, all of them in one
/// place. A default is the service's to apply, so an absent value is not sent.
pub(super) fn drop_bounds_and_defaults(root: &mut Value) {
    for place in ["/paths", "/components"] {
        let Some(part) = root.pointer_mut(place) else { continue };
        walk::objects(part, &mut |object| {
            if object.get("type").is_some_and(Value::is_string) {
                object.retain(|key, _| !BOUNDS.contains(&key.as_str()));
            }
        });
    }
}

/// Extensions mean nothing to progenitor, save those that it would take for its own.
pub(super) fn strip_extensions(root: &mut Value) {
    walk::objects(root, &mut |object| object.retain(|key, _| !key.starts_with("x-") || is_header(key)));
}

/// The named schemas that a success answer can hold, by name.
pub(crate) fn reachable_from_answers(root: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in root["paths"].as_object().into_iter().flat_map(|paths| paths.values()) {
        for operation in path.as_object().into_iter().flat_map(|path| path.values()) {
            if let Some(success) = operation.pointer("/responses/200") {
                collect(root, success, &mut found);
            }
        }
    }
    found
}

/// The named string schemas that hold an address with an optional port.
pub(crate) fn endpoint_schemas(root: &Value) -> Vec<String> {
    let schemas = root.pointer("/components/schemas").and_then(Value::as_object);
    let is_endpoint = |schema: &Value| schema.get("x-format").is_some_and(|format| format == "ip-endpoint");
    schemas
        .into_iter()
        .flatten()
        .filter(|(_, schema)| is_endpoint(schema))
        .map(|(name, _)| name.clone())
        .collect()
}

fn collect(root: &Value, value: &Value, found: &mut BTreeSet<String>) {
    if let Some(name) = walk::component(value, "schemas") {
        if found.insert(name.to_owned())
            && let Some(schema) = root.pointer(&format!("/components/schemas/{name}"))
        {
            collect(root, schema, found);
        }
        return;
    }
    match value {
        Value::Object(object) => object.values().for_each(|member| collect(root, member, found)),
        Value::Array(items) => items.iter().for_each(|item| collect(root, item, found)),
        _ => {}
    }
}

/// Header names are keys of the `headers` map and may begin with `X-`; extensions begin with a small letter.
fn is_header(key: &str) -> bool {
    key.starts_with('X')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bounds_and_defaults_go_and_properties_of_that_name_stay() {
        let mut root = json!({"components": {"schemas": {"A": {"type": "object", "properties": {
            "default": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3, "format": "int64"},
        }}}}});
        drop_bounds_and_defaults(&mut root);
        assert_eq!(
            root.pointer("/components/schemas/A/properties/default"),
            Some(&json!({"type": "integer", "format": "int64"}))
        );
    }

    #[test]
    fn extensions_go_and_headers_stay() {
        let mut root =
            json!({"x-clauses": [], "a": {"headers": {"X-Request-Id": {"x-clause": "c", "schema": {}}}}});
        strip_extensions(&mut root);
        assert_eq!(root, json!({"a": {"headers": {"X-Request-Id": {"schema": {}}}}}));
    }

    #[test]
    fn answers_reach_through_references_and_requests_do_not_count() {
        let root = json!({
            "paths": {"/a": {"post": {
                "requestBody": {"schema": {"$ref": "#/components/schemas/Asked"}},
                "responses": {"200": {"schema": {"$ref": "#/components/schemas/Outer"}}},
            }}},
            "components": {"schemas": {
                "Asked": {}, "Outer": {"items": {"$ref": "#/components/schemas/Inner"}},
                "Inner": {"x-format": "ip-endpoint"},
            }},
        });
        assert_eq!(Vec::from_iter(reachable_from_answers(&root)), ["Inner", "Outer"]);
        assert_eq!(endpoint_schemas(&root), ["Inner"]);
    }
}
