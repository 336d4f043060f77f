//! Edits of all schemas, and what the emitter needs to know about schemas before the edits.

use std::collections::BTreeSet;

use serde_json::Value;

use super::walk;
use crate::{document::values, model::LIMITS};

/// typify drops bounds or applies them in part (`minimum: 1` becomes a non-zero number, `maximum` is ignored): the generated
/// validation of the client checks all of them instead. Defaults are applied by the service, so an absent value is not sent.
pub(super) fn drop_bounds_and_defaults(root: &mut Value) {
    for place in ["/paths", "/components"] {
        let Some(part) = root.pointer_mut(place) else { continue };
        walk::objects(part, &mut |object| {
            if object.get("type").is_some_and(Value::is_string) {
                let is_dropped = |key: &str| {
                    LIMITS.contains(&key) || matches!(key, "default" | "pattern" | "additionalProperties")
                };
                object.retain(|key, _| !is_dropped(key));
            }
        });
    }
}

/// progenitor would take some extensions for its own.
pub(super) fn strip_extensions(root: &mut Value) {
    walk::objects(root, &mut |object| object.retain(|key, _| !key.starts_with("x-") || is_header(key)));
}

/// The names of the schemas that a success response can hold.
pub(crate) fn reachable_from_responses(root: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, success) in walk::responses(root).filter(|(status, _)| status.starts_with('2')) {
        collect(root, success, &mut found);
    }
    found
}

/// A named integer becomes a newtype of no use, because its bounds are validated elsewhere: it is a plain integer.
pub(super) fn inline_integers(root: &mut Value) {
    let Some(mut integers) = walk::components(root).cloned() else { return };
    integers.retain(|_, schema| {
        schema.get("type").is_some_and(|kind| kind == "integer") && schema.get("enum").is_none()
    });
    walk::objects(root, &mut |object| {
        let target = object.get("$ref").and_then(Value::as_str);
        let name = target.and_then(|target| target.strip_prefix("#/components/schemas/"));
        if let Some(Value::Object(integer)) = name.and_then(|name| integers.get(name)) {
            object.clone_from(integer);
        }
    });
    if let Some(schemas) = walk::components(root) {
        schemas.retain(|name, _| !integers.contains_key(name));
    }
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
    for name in values(value).into_iter().filter_map(|value| walk::component(value, "schemas")) {
        if found.insert(name.to_owned())
            && let Some(schema) = root.pointer(&format!("/components/schemas/{name}"))
        {
            collect(root, schema, found);
        }
    }
}

/// Header names are keys of the `headers` map and may start with `X-`; extensions start with a lower-case letter.
fn is_header(key: &str) -> bool {
    key.starts_with('X')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bounds_and_defaults_are_dropped_and_properties_of_that_name_kept() {
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
    fn named_integers_are_inlined() {
        let mut root = json!({"components": {"schemas": {
            "Id": {"type": "integer", "nullable": true},
            "A": {"properties": {"id": {"$ref": "#/components/schemas/Id"}}},
        }}});
        inline_integers(&mut root);
        let expected = json!({"A": {"properties": {"id": {"type": "integer", "nullable": true}}}});
        assert_eq!(root.pointer("/components/schemas"), Some(&expected));
    }

    #[test]
    fn extensions_are_dropped_and_headers_kept() {
        let mut root =
            json!({"x-clauses": [], "a": {"headers": {"X-Request-Id": {"x-clause": "c", "schema": {}}}}});
        strip_extensions(&mut root);
        assert_eq!(root, json!({"a": {"headers": {"X-Request-Id": {"schema": {}}}}}));
    }

    #[test]
    fn response_schemas_include_referenced_ones_and_not_those_of_requests() {
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
        assert_eq!(Vec::from_iter(reachable_from_responses(&root)), ["Inner", "Outer"]);
        assert_eq!(endpoint_schemas(&root), ["Inner"]);
    }
}
