use serde_json::{Value, json};

use super::schema::{Kind, Schema};

/// A value at or just beyond a constraint of the document.
#[derive(Debug, Clone, PartialEq)]
pub struct Boundary {
    /// The value; a query parameter has its text.
    pub value: Value,
    /// Whether the contract allows it.
    pub allowed: bool,
    /// The keyword of the constraint, to find its clause.
    pub keyword: &'static str,
    /// Why the value was chosen.
    pub reason: &'static str,
}

/// The values at, just inside and just outside the constraints of a schema, and those of another type.
///
/// Left out is what is unspecified: whole numbers as fractions, null, empty texts, another letter case, numbers as strings.
pub fn boundaries(schema: &Schema) -> Vec<Boundary> {
    let mut cases = Vec::new();
    let add = &mut |value, allowed, keyword, reason| {
        cases.push(Boundary { value, allowed, keyword, reason });
    };
    match schema.kind {
        Kind::Integer => integers(schema, add),
        Kind::String if schema.format.as_deref() == Some("date-time") => instants(add),
        Kind::String => strings(schema, add),
        Kind::Boolean | Kind::Array | Kind::Object => {}
    }
    cases
}

impl Boundary {
    /// The value as the text of a query parameter.
    pub fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

type Add<'a> = dyn FnMut(Value, bool, &'static str, &'static str) + 'a;

fn integers(schema: &Schema, add: &mut Add<'_>) {
    if let Some(minimum) = schema.minimum {
        add(json!(minimum), true, "minimum", "the smallest value");
        if let Some(below) = minimum.checked_sub(1) {
            add(json!(below), false, "minimum", "one below the smallest value");
        }
    }
    if let Some(maximum) = schema.maximum {
        add(json!(maximum), true, "maximum", "the largest value");
        if let Some(above) = maximum.checked_add(1) {
            add(json!(above), false, "maximum", "one above the largest value");
        }
        add(json!(i64::MAX), false, "maximum", "the largest number of 64 bits");
        add(json!(1e30), false, "maximum", "a number beyond 64 bits");
    }
    let inside = schema.minimum.unwrap_or(0);
    add(json!(inside as f64 + 0.5), false, "type", "not a whole number");
    add(json!("many"), false, "type", "not a number");
}

fn strings(schema: &Schema, add: &mut Add<'_>) {
    for value in &schema.values {
        add(value.clone(), true, "enum", "a listed value");
    }
    let unlisted = schema.values.iter().filter_map(Value::as_str).map(|value| json!(format!("{value}x")));
    for value in unlisted.filter(|value| !schema.values.contains(value)) {
        add(value, false, "enum", "not a listed value");
    }
    if let Some(length) = schema.max_length {
        let text = |length: usize| json!("-".repeat(length));
        add(text(length), true, "maxLength", "the longest value");
        let too_long = text(length.saturating_add(1));
        add(too_long, false, "maxLength", "one character longer than the longest value");
    }
    if let Some(bytes) = schema.max_utf8_bytes {
        const KEYWORD: &str = "x-max-utf8-bytes";
        let wide = wide_text(bytes);
        add(json!("-".repeat(bytes)), true, KEYWORD, "the longest value, one byte a character");
        add(json!("-".repeat(bytes + 1)), false, KEYWORD, "one byte too long");
        let too_long = json!(format!("{wide}-"));
        add(json!(wide), true, KEYWORD, "the longest value in bytes, of characters of several bytes");
        let reason = "one byte too long, though fewer characters than bytes allowed";
        add(too_long, false, KEYWORD, reason);
    }
}

fn instants(add: &mut Add<'_>) {
    for (text, allowed, reason) in [
        ("2026-03-01T12:00:00Z", true, "an instant in UTC"),
        ("2026-03-01T12:00:00.123456789Z", true, "an instant with nanoseconds"),
        ("2026-03-01T12:00:00+05:30", true, "an instant with an offset of half an hour"),
        ("2025-12-31T23:59:59-11:00", true, "an instant with a negative offset across the year's end"),
        ("2026-03-01T12:00:00", false, "no time zone"),
        ("2026-03-01", false, "a date without a time"),
        ("2026-02-30T12:00:00Z", false, "a day that does not exist"),
        ("2026-03-01T25:00:00Z", false, "an hour that does not exist"),
        ("yesterday", false, "not a date at all"),
    ] {
        add(json!(text), allowed, "format", reason);
    }
}

/// A text of exactly `bytes` bytes of UTF-8, of three-byte characters as far as possible.
fn wide_text(bytes: usize) -> String {
    "\u{20ac}".repeat(bytes / 3) + &"-".repeat(bytes % 3)
}
