use serde_json::{Value, json};

use super::schema::{Kind, Schema};

/// A value at or just beyond a constraint of the document.
#[derive(Debug, Clone, PartialEq)]
pub struct Boundary {
    /// The value; a query parameter has its text.
    pub value: Value,
    /// Whether the contract allows it.
    pub allowed: bool,
    /// The keyword that decides, for the clause to cite.
    pub keyword: &'static str,
    /// Why the value was chosen.
    pub reason: &'static str,
}

/// The values at, just inside and just outside the constraints of a schema, and those of another type.
///
/// Unspecified behaviour is not among them: a whole number written as a fraction, null, an empty text, another
/// letter case, a number sent as a string.
#[must_use]
pub fn boundaries(schema: &Schema) -> Vec<Boundary> {
    let mut cases = Vec::new();
    match schema.kind {
        Kind::Integer => integers(schema, &mut cases),
        Kind::String if schema.format.as_deref() == Some("date-time") => instants(&mut cases),
        Kind::String => strings(schema, &mut cases),
        Kind::Boolean | Kind::Array | Kind::Object => {}
    }
    cases
}

impl Boundary {
    /// The value as the text of a query parameter.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

fn integers(schema: &Schema, cases: &mut Vec<Boundary>) {
    let mut add = |value: Value, allowed, keyword, reason| {
        cases.push(Boundary { value, allowed, keyword, reason });
    };
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

fn strings(schema: &Schema, cases: &mut Vec<Boundary>) {
    for value in &schema.values {
        cases.push(Boundary {
            value: value.clone(),
            allowed: true,
            keyword: "enum",
            reason: "a listed value",
        });
    }
    let unlisted = schema.values.iter().filter_map(Value::as_str).map(|value| format!("{value}x"));
    for value in unlisted.filter(|value| !schema.values.contains(&json!(value))) {
        cases.push(Boundary {
            value: json!(value),
            allowed: false,
            keyword: "enum",
            reason: "not a listed value",
        });
    }
    if let Some(length) = schema.max_length {
        let mut add = |length: usize, allowed, reason| {
            cases.push(Boundary { value: json!("-".repeat(length)), allowed, keyword: "maxLength", reason });
        };
        add(length, true, "the longest value");
        add(length.saturating_add(1), false, "one character longer than the longest value");
    }
    if let Some(bytes) = schema.max_utf8_bytes {
        let mut add = |value: String, allowed, reason| {
            cases.push(Boundary { value: json!(value), allowed, keyword: "x-max-utf8-bytes", reason });
        };
        add("-".repeat(bytes), true, "the longest value, one byte a character");
        add("-".repeat(bytes + 1), false, "one byte too long");
        add(wide_text(bytes), true, "the longest value in bytes, of characters of several bytes");
        add(wide_text(bytes) + "-", false, "one byte too long, though fewer characters than bytes allowed");
    }
}

fn instants(cases: &mut Vec<Boundary>) {
    let mut add = |value: &str, allowed, reason| {
        cases.push(Boundary { value: json!(value), allowed, keyword: "format", reason });
    };
    add("2026-03-01T12:00:00Z", true, "an instant in UTC");
    add("2026-03-01T12:00:00.123456789Z", true, "an instant with nanoseconds");
    add("2026-03-01T12:00:00+05:30", true, "an instant with an offset of half an hour");
    add("2025-12-31T23:59:59-11:00", true, "an instant with a negative offset across the year's end");
    add("2026-03-01T12:00:00", false, "no time zone");
    add("2026-03-01", false, "a date without a time");
    add("2026-02-30T12:00:00Z", false, "a day that does not exist");
    add("2026-03-01T25:00:00Z", false, "an hour that does not exist");
    add("yesterday", false, "not a date at all");
}

/// Exactly `bytes` bytes of UTF-8 in as few characters as three bytes each allow.
fn wide_text(bytes: usize) -> String {
    let mut text = "\u{20ac}".repeat(bytes / 3);
    text.push_str(&"-".repeat(bytes % 3));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Contract;

    #[test]
    fn byte_limits_count_bytes_and_not_characters() {
        let contract = Contract::embedded().expect("contract");
        let limit = contract.extract.separator_bytes;
        for case in boundaries(&contract.extract.sb.schema) {
            let text = case.text();
            assert_eq!(text.len() <= limit, case.allowed, "{text}");
            assert!(text.chars().count() <= limit + 1);
        }
    }

    #[test]
    fn both_sides_of_each_bound_are_there() {
        let contract = Contract::embedded().expect("contract");
        let cases = boundaries(&contract.search.page_size.schema);
        let range = &contract.search.page_sizes;
        let allowed =
            |value: i64| cases.iter().find(|case| case.value == json!(value)).map(|case| case.allowed);
        assert_eq!(allowed(*range.start()), Some(true));
        assert_eq!(allowed(range.start() - 1), Some(false));
        assert_eq!(allowed(*range.end()), Some(true));
        assert_eq!(allowed(range.end() + 1), Some(false));
    }
}
