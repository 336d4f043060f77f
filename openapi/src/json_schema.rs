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
    let is_long = members.get("format").is_some_and(|format| format == "int64");
    let mut lowered = members.clone();
    lowered.retain(|keyword, _| {
        !(matches!(&**keyword, "nullable" | "example") || keyword == "format" && is_long)
    });
    if members.get("nullable") == Some(&Value::Bool(true)) {
        lowered.entry("type").and_modify(|kind| *kind = json!([kind, "null"]));
        if let Some(Value::Array(values)) = lowered.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
    for (bound, widest) in [("minimum", i64::MIN), ("maximum", i64::MAX)] {
        if is_long {
            lowered.entry(bound).or_insert_with(|| widest.into());
        }
    }
    if let Some(Value::Object(properties)) = lowered.get_mut("properties") {
        properties.values_mut().for_each(|inner| *inner = lower(inner));
    }
    if let Some(items) = lowered.get_mut("items") {
        *items = lower(items);
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
