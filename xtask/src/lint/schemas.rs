//! Rules about single schemas: limits, defaults, examples, enums and types.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde_json::Value;

use super::{Lint, Node, Part, keywords::suggestion};
use crate::document::Document;

/// The types that the generators support.
const TYPES: [&str; 5] = ["string", "integer", "boolean", "array", "object"];

const PAIRS: [(&str, &str); 4] = [
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("x-max-distinct", "maxItems"),
];

/// Bounds that no value can satisfy.
pub(super) fn bounds(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema).into_iter().chain(lint.parts(Part::Ports)) {
        for (low, high) in PAIRS {
            let number = |keyword| node.value.get(keyword).and_then(Value::as_f64);
            let (Some(lower), Some(upper)) = (number(low), number(high)) else { continue };
            if lower > upper {
                let message = format!("`{low}: {lower}` is above `{high}: {upper}`");
                lint.report(&node, node.at(low), message, format!("lower `{low}` or raise `{high}`"));
            }
        }
    }
}

pub(super) fn defaults(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let Some(default) = node.value.get("default") else { continue };
        if let Some(reason) = misfit(lint.document, node.value, default) {
            let message = format!("the default does not match its schema: {reason}");
            lint.report(&node, node.at("default"), message, "change the default or the schema");
        }
    }
}

pub(super) fn enums(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let Some(list) = node.value.get("enum") else { continue };
        let at = node.at("enum");
        let Some(values) = list.as_array().filter(|values| !values.is_empty()) else {
            lint.report(&node, at, "`enum` must be a list of at least one value", "add its values");
            continue;
        };
        for (index, value) in values.iter().enumerate() {
            let at = format!("{at}/{index}");
            if values[..index].contains(value) {
                lint.report(&node, at, format!("duplicate value `{value}` in `enum`"), "remove one of them");
            } else if !of_type(node.text("type"), value) {
                let message = format!(
                    "`enum`: expected a value of type {}, found `{value}`",
                    node.text("type").unwrap_or("?")
                );
                let help = "quote strings that look like numbers; use `nullable` for null";
                lint.report(&node, at, message, help);
            }
        }
    }
}

/// Whether the value has a type that the generators support in an enum; another rule rejects an absent type.
fn of_type(kind: Option<&str>, value: &Value) -> bool {
    match kind {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some(_) => false,
        None => true,
    }
}

/// Readers copy examples, so that they must be valid.
pub(super) fn examples(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        let schema = match node.part {
            Part::Schema => Some(node.value),
            Part::Parameter | Part::Header | Part::Media => node.value.get("schema"),
            _ => None,
        };
        let (Some(schema), Some(example)) = (schema, node.value.get("example")) else { continue };
        if let Some(reason) = misfit(lint.document, schema, example) {
            let message = format!("the example does not match its schema: {reason}");
            lint.report(&node, node.at("example"), message, "change the example or the schema");
        }
    }
}

const EXACT: u64 = 1 << 53;

/// Dropshot emits integers through floating point.
pub(super) fn large_integers(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        for (keyword, value) in node.members().filter(|(keyword, _)| *keyword != "example") {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for number in values.iter().filter(|value| value.is_number()) {
                if number.as_i64().is_none_or(|whole| whole.unsigned_abs() > EXACT) && !number.is_f64() {
                    let message = format!("`{keyword}`: {number} would be rounded in the server's document");
                    let help = format!("stay within ±{EXACT}; int64 needs no bound of its own");
                    lint.report(&node, node.at(keyword), message, help);
                }
            }
        }
    }
}

const BELONGS: [(&str, &[&str]); 16] = [
    ("enum", &["string", "integer", "boolean"]),
    ("format", &["string", "integer"]),
    ("items", &["array"]),
    ("maxItems", &["array"]),
    ("maxLength", &["string"]),
    ("maximum", &["integer"]),
    ("minItems", &["array"]),
    ("minLength", &["string"]),
    ("minimum", &["integer"]),
    ("properties", &["object"]),
    ("required", &["object"]),
    ("x-deprecated-values", &["string"]),
    ("x-format", &["string"]),
    ("x-max-distinct", &["array"]),
    ("x-max-utf8-bytes", &["string"]),
    ("x-separators", &["string"]),
];

/// Keywords that validators ignore because of the type, such as `minimum` on a string.
pub(super) fn misplaced_keywords(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        // Another rule rejects other types.
        let Some(kind) = node.text("type").filter(|kind| TYPES.contains(kind)) else { continue };
        for (keyword, types) in BELONGS {
            if node.has(keyword) && !types.contains(&kind) {
                let message = format!("`{keyword}` has no effect on the type {kind}");
                let help = format!("remove it, or change the type to {}", types.join(" or "));
                lint.report(&node, node.at(keyword), message, help);
            }
        }
    }
}

pub(super) fn nullables(lint: &mut Lint<'_>) {
    for schema in lint.parts(Part::Schema) {
        if !schema.is_true("nullable") {
            continue;
        }
        let why = if schema.has("enum") {
            Some("nullable enums are not supported")
        } else if schema.text("type") == Some("object") {
            Some("nullable objects are not supported")
        } else if !is_property(lint, &schema) {
            Some("only a property can be nullable")
        } else {
            None
        };
        if let Some(why) = why {
            let message = format!("`nullable` is not supported here: {why}");
            let help = "leave it out, or make the property optional";
            lint.report(&schema, schema.at("nullable"), message, help);
        }
    }
}

/// Whether the schema stands as a property, or is a component that only properties refer to.
fn is_property(lint: &Lint<'_>, schema: &Node<'_>) -> bool {
    let stands =
        |pointer: &str| pointer.rsplit_once('/').is_some_and(|(around, _)| around.ends_with("/properties"));
    if !schema.pointer.starts_with("/components/schemas/") || schema.pointer.matches('/').count() > 3 {
        return stands(&schema.pointer);
    }
    let target = format!("#{}", schema.pointer);
    let refers = |node: &&Node<'_>| node.value.get("$ref").and_then(Value::as_str) == Some(target.as_str());
    lint.nodes.iter().filter(refers).all(|node| stands(&node.pointer))
}

pub(super) fn required(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let names = node.items("required");
        for (index, name) in names.iter().enumerate() {
            let Some(text) = name.as_str() else { continue };
            let at = format!("{}/{index}", node.at("required"));
            if names[..index].contains(name) {
                lint.report(&node, at, format!("duplicate `{text}` in `required`"), "remove one of them");
            } else if node.value.get("properties").and_then(|properties| properties.get(text)).is_none() {
                let message = format!("unknown property `{text}` in `required`");
                let properties = node.entries("properties").map(|(name, _)| name);
                let help = suggestion(text, properties, "define it under `properties`, or remove it here");
                lint.report(&node, at, message, help);
            }
        }
    }
}

pub(super) fn untyped(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let help = "write one of: string, integer, boolean, array, object; `nullable: true` allows null";
        match node.value.get("type").map(|kind| kind.as_str().filter(|kind| TYPES.contains(kind))) {
            None => lint.report(&node, node.pointer.clone(), "missing `type`", help),
            Some(None) => {
                let message = format!("unsupported type {}", node.value["type"]);
                lint.report(&node, node.at("type"), message, help);
            }
            Some(Some("array")) if !node.has("items") => {
                lint.report(&node, node.pointer.clone(), "missing `items` of an array", "add `items: …`");
            }
            Some(_) => {}
        }
    }
}

/// How deep an example may nest.
const MAX_DEPTH: usize = 32;

/// Why `value` does not match `schema`; `None` when it does.
fn misfit(document: &Document, schema: &Value, value: &Value) -> Option<String> {
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
        "ip-endpoint" => text.parse::<IpAddr>().is_ok() || text.parse::<SocketAddr>().is_ok(),
        _ => true,
    }
}
