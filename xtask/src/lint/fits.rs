//! Validates defaults and examples against their schemas.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::Value;

use crate::document::Document;

/// How deep an example may nest.
const MAX_DEPTH: usize = 32;

/// Why `value` does not match `schema`; `None` when it does.
pub(super) fn misfit(document: &Document, schema: &Value, value: &Value) -> Option<String> {
    inner(document, schema, value, 0).map(|(path, reason)| {
        if path.is_empty() { reason } else { format!("`{}`: {reason}", path.trim_start_matches('.')) }
    })
}

fn inner(document: &Document, schema: &Value, value: &Value, depth: usize) -> Option<(String, String)> {
    let schema = document.resolve(schema);
    if depth > MAX_DEPTH || (value.is_null() && schema.get("nullable") == Some(&Value::Bool(true))) {
        return None;
    }
    let own = type_misfit(schema, value).or_else(|| keyword_misfit(schema, value));
    if let Some(reason) = own {
        return Some((String::new(), reason));
    }
    match value {
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let (path, reason) = inner(document, schema.get("items")?, item, depth + 1)?;
            Some((format!("[{index}]{path}"), reason))
        }),
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            let Some(property) = schema.get("properties")?.get(name) else {
                return Some((String::new(), format!("unknown property `{name}`")));
            };
            let (path, reason) = inner(document, property, member, depth + 1)?;
            Some((format!(".{name}{path}"), reason))
        }),
        _ => None,
    }
}

fn type_misfit(schema: &Value, value: &Value) -> Option<String> {
    let wanted = schema.get("type").and_then(Value::as_str)?;
    let fits = match wanted {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    (!fits).then(|| format!("expected a value of type {wanted}, found `{value}`"))
}

fn keyword_misfit(schema: &Value, value: &Value) -> Option<String> {
    for (keyword, bound) in schema.as_object()? {
        let size = match keyword.as_str() {
            "minimum" | "maximum" => value.as_f64(),
            "minLength" | "maxLength" => value.as_str().map(|text| text.chars().count() as f64),
            "x-max-utf8-bytes" => value.as_str().map(|text| text.len() as f64),
            "minItems" | "maxItems" | "x-max-distinct" => value.as_array().map(|items| items.len() as f64),
            _ => None,
        };
        let fits = match (size.zip(bound.as_f64()), keyword.as_str()) {
            (Some((size, bound)), _) if keyword.starts_with("min") => size >= bound,
            (Some((size, bound)), _) => size <= bound,
            (None, "enum") => bound.as_array().is_none_or(|values| values.contains(value)),
            (None, "required") => bound.as_array().is_none_or(|names| {
                names.iter().filter_map(Value::as_str).all(|name| value.get(name).is_some())
            }),
            (None, "format" | "x-format") => has_format(bound.as_str().unwrap_or_default(), value),
            _ => true,
        };
        if !fits {
            return Some(format!("`{value}` violates `{keyword}: {bound}`"));
        }
    }
    None
}

fn has_format(format: &str, value: &Value) -> bool {
    let Some(text) = value.as_str() else { return true };
    match format {
        "date-time" => text.parse::<jiff::Timestamp>().is_ok(),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ip-endpoint" => text.parse::<IpAddr>().is_ok() || text.parse::<std::net::SocketAddr>().is_ok(),
        _ => true,
    }
}
