//! Lowers schemas from OpenAPI 3.0 to JSON Schema draft 2020-12.

use serde_json::{Map, Value, json};

/// The component schemas as `$defs`, every `$ref` pointing into them.
///
/// `nullable` becomes a second type (and a value of the enum, where there is one), `format: int64` becomes bounds, and
/// examples go. `x-` keys stay: validators ignore them, and `x-clause` leads from a broken constraint to its clause.
pub fn definitions(schemas: Option<&Value>) -> Map<String, Value> {
    let members = schemas.and_then(Value::as_object).into_iter().flatten();
    members.map(|(name, schema)| (name.clone(), lower(schema))).collect()
}

/// One schema, lowered.
pub fn lower(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    if let Some(target) = members.get("$ref").and_then(Value::as_str) {
        return json!({ "$ref": target.replace("#/components/schemas/", "#/$defs/") });
    }
    let nullable = members.get("nullable") == Some(&Value::Bool(true));
    let mut lowered = Map::new();
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("nullable" | "example", _) => {}
            ("type", kind) if nullable => {
                lowered.insert("type".to_owned(), json!([kind, "null"]));
            }
            ("enum", Value::Array(values)) if nullable && !values.contains(&Value::Null) => {
                let values: Vec<_> = values.iter().cloned().chain([Value::Null]).collect();
                lowered.insert("enum".to_owned(), Value::Array(values));
            }
            ("format", Value::String(format)) if format == "int64" => {
                for (bound, widest) in [("minimum", i64::MIN), ("maximum", i64::MAX)] {
                    lowered.insert(
                        bound.to_owned(),
                        members.get(bound).cloned().unwrap_or_else(|| json!(widest)),
                    );
                }
            }
            ("properties", Value::Object(properties)) => {
                let properties =
                    properties.iter().map(|(name, inner)| (name.clone(), lower(inner))).collect();
                lowered.insert(keyword.clone(), Value::Object(properties));
            }
            ("items", items) => {
                lowered.insert(keyword.clone(), lower(items));
            }
            _ => {
                lowered.insert(keyword.clone(), value.clone());
            }
        }
    }
    Value::Object(lowered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nullable_becomes_a_type_and_a_value_of_the_enum() {
        assert_eq!(
            lower(&json!({"type": "string", "nullable": true, "enum": ["a"], "example": "a"})),
            json!({"type": ["string", "null"], "enum": ["a", null]})
        );
    }
}
