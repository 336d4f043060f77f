//! Edits of requests.

use serde_json::{Map, Value};

use super::walk;

/// progenitor ignores security schemes and would take the token as an argument of every call: the client sends it itself,
/// so the parameters are removed.
pub(super) fn drop_credentials(root: &mut Value) {
    drop_parameters(root, |parameter, _| parameter.get("x-credential") == Some(&Value::Bool(true)));
    walk::operations(root).for_each(|operation| {
        operation.remove("security");
    });
    if let Some(components) = root.get_mut("components").and_then(Value::as_object_mut) {
        components.remove("securitySchemes");
    }
}

/// An alias could have another value than its parameter: the client sends only the parameter.
pub(super) fn drop_aliases(root: &mut Value) {
    drop_parameters(root, |parameter, _| parameter.get("x-alias-of").is_some());
}

/// A header that replaces an absent query parameter is redundant: the client sends the parameter.
pub(super) fn drop_fallback_headers(root: &mut Value) {
    drop_parameters(root, |parameter, all| {
        parameter.get("in").is_some_and(|place| place == "header")
            && all.iter().any(|other| {
                other.get("x-falls-back-to").is_some_and(|name| Some(name) == parameter.get("name"))
            })
    });
}

/// A named string becomes a newtype, which accepts no `&str`: as a parameter, or as an item of one, it is a plain string,
/// whose limits the generated validation checks.
pub(super) fn inline_strings(root: &mut Value) {
    let Some(mut plain) = walk::components(root).cloned() else { return };
    plain.retain(|_, schema| {
        let is = |keyword: &str| schema.get(keyword).is_some();
        schema.get("type").is_some_and(|ty| ty == "string") && !is("enum") && !is("format") && !is("x-format")
    });
    let inline = |parameter: &mut Value| {
        let Some(schema) = parameter.get_mut("schema") else { return };
        let named = |schema: &Value| plain.get(walk::component(schema, "schemas")?).cloned();
        if let Some(named) = named(schema) {
            *schema = named;
        } else if let Some(items) = schema.get_mut("items")
            && let Some(named) = named(items)
        {
            *items = named;
        }
    };
    for operation in walk::operations(root) {
        let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
        parameters.into_iter().flatten().for_each(inline);
    }
    let shared = root.pointer_mut("/components/parameters").and_then(Value::as_object_mut);
    shared.into_iter().flat_map(Map::values_mut).for_each(inline);
    let text = root.to_string();
    let is_used = |name: &String| text.contains(&format!("\"#/components/schemas/{name}\""));
    if let Some(components) = walk::components(root) {
        components.retain(|name, _| !plain.contains_key(name) || is_used(name));
    }
}

/// Removes each parameter for which `unwanted` holds, given the parameter and all those of its operation, with `$ref`s
/// followed.
fn drop_parameters(root: &mut Value, unwanted: impl Fn(&Value, &[Value]) -> bool) {
    let shared =
        root.pointer("/components/parameters").and_then(Value::as_object).cloned().unwrap_or_default();
    for operation in walk::operations(root) {
        let Some(parameters) = operation.get_mut("parameters").and_then(Value::as_array_mut) else {
            continue;
        };
        let resolved: Vec<Value> = parameters.iter().map(|one| resolve(one, &shared)).collect();
        parameters.retain(|one| !unwanted(&resolve(one, &shared), &resolved));
    }
    if let Some(shared) = root.pointer_mut("/components/parameters").and_then(Value::as_object_mut) {
        shared.retain(|_, parameter| !unwanted(parameter, &[]));
    }
}

fn resolve(parameter: &Value, shared: &Map<String, Value>) -> Value {
    walk::component(parameter, "parameters").and_then(|name| shared.get(name)).unwrap_or(parameter).clone()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(root: &Value) -> Vec<&str> {
        let parameters = root.pointer("/paths/~1a/get/parameters").unwrap().as_array().unwrap();
        parameters.iter().map(|one| one["name"].as_str().unwrap()).collect()
    }

    fn document(parameters: Value) -> Value {
        json!({
            "paths": {"/a": {"get": {"security": [], "parameters": parameters, "responses": {}}}},
            "components": {
                "securitySchemes": {},
                "parameters": {"Key": {"name": "key", "in": "query", "x-credential": true}},
            },
        })
    }

    #[test]
    fn credentials_go_shared_ones_as_well() {
        let mut root =
            document(json!([{"$ref": "#/components/parameters/Key"}, {"name": "kept", "in": "query"}]));
        drop_credentials(&mut root);
        assert_eq!(names(&root), ["kept"]);
        assert_eq!(root.pointer("/components"), Some(&json!({"parameters": {}})));
        assert_eq!(root.pointer("/paths/~1a/get/security"), None);
    }

    #[test]
    fn aliases_go() {
        let mut root = document(json!([{"name": "kept"}, {"name": "other", "x-alias-of": "kept"}]));
        drop_aliases(&mut root);
        assert_eq!(names(&root), ["kept"]);
    }

    #[test]
    fn named_strings_are_inlined_in_parameters_alone() {
        let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
        let named = ["Id", "Both", "Choice", "Time"];
        let parameters: Vec<Value> =
            named.iter().map(|name| json!({"name": name, "schema": reference(name)})).collect();
        let mut root = document(json!(parameters));
        root["components"]["schemas"] = json!({
            "Id": {"type": "string", "maxLength": 9},
            "Both": {"type": "string"},
            "Choice": {"type": "string", "enum": ["a"]},
            "Time": {"type": "string", "format": "date-time"},
            "Body": {"properties": {"both": reference("Both")}},
        });
        inline_strings(&mut root);
        let schemas: Vec<&Value> = (0..named.len())
            .map(|index| root.pointer(&format!("/paths/~1a/get/parameters/{index}/schema")).unwrap())
            .collect();
        let expected = [
            json!({"type": "string", "maxLength": 9}),
            json!({"type": "string"}),
            reference("Choice"),
            reference("Time"),
        ];
        assert_eq!(schemas, expected.iter().collect::<Vec<_>>());
        let left: Vec<_> = root["components"]["schemas"].as_object().unwrap().keys().collect();
        assert_eq!(left, ["Both", "Choice", "Time", "Body"]);
    }

    #[test]
    fn only_the_header_that_a_parameter_falls_back_to_goes() {
        let mut root = document(json!([
            {"name": "id", "in": "query", "x-falls-back-to": "X-Id"},
            {"name": "X-Id", "in": "header"},
            {"name": "X-Other", "in": "header"},
        ]));
        drop_fallback_headers(&mut root);
        assert_eq!(names(&root), ["id", "X-Other"]);
    }
}
