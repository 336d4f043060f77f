//! Traverses a document that may be malformed: parts of another shape are skipped, because the lint reports them.

use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// Every operation of the document.
pub(super) fn operations(root: &mut Value) -> impl Iterator<Item = &mut Object> {
    root.get_mut("paths")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flat_map(Map::values_mut)
        .filter_map(Value::as_object_mut)
        .flat_map(Map::values_mut)
        .filter_map(Value::as_object_mut)
        .filter(|operation| operation.contains_key("responses"))
}

/// The responses of every operation, with their statuses.
pub(super) fn responses(root: &Value) -> impl Iterator<Item = (&str, &Value)> {
    fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
        value.as_object().into_iter().flatten().map(|(name, member)| (name.as_str(), member))
    }
    let operations = members(&root["paths"]).flat_map(|(_, path)| members(path));
    operations.flat_map(|(_, operation)| members(&operation["responses"]))
}

/// The schemas under `components`, by name.
pub(super) fn components(root: &mut Value) -> Option<&mut Object> {
    root.pointer_mut("/components/schemas")?.as_object_mut()
}

/// Calls `visit` for `value` and every object inside it, outer objects first. Examples and extensions are skipped.
pub(super) fn objects(value: &mut Value, visit: &mut impl FnMut(&mut Object)) {
    match value {
        Value::Object(object) => {
            visit(object);
            for (key, member) in object {
                if key != "example" && !key.starts_with("x-") {
                    objects(member, visit);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| objects(item, visit)),
        _ => {}
    }
}

/// The name of the component under `components/{kind}` that a `$ref` in `value` references.
pub(super) fn component<'a>(value: &'a Value, kind: &str) -> Option<&'a str> {
    value.get("$ref")?.as_str()?.strip_prefix("#/components/")?.strip_prefix(kind)?.strip_prefix('/')
}
