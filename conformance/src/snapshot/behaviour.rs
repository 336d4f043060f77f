use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use crate::report::plain;
use crate::wire::{Exchange, Redactor, Response, headers, password};

/// Headers that do not describe the behaviour of the service, or that depend on its data.
const IGNORED: [&str; 5] = ["date", "content-length", "connection", "keep-alive", "server-timing"];

/// Maximum number of lines of a body in a recording, several times as many as the contract has members.
const MAX_LINES: usize = 500;

/// What two responses to the same request have in common: status, headers and the shape of the body, with the values that are
/// the same in both and are not data.
pub(super) fn behaviour(first: &Exchange, second: &Exchange, redactor: &Redactor) -> String {
    for response in [first, second].into_iter().filter_map(|exchange| exchange.result.as_ref().ok()) {
        response.reveal_passwords(redactor);
    }
    let text = match (&first.result, &second.result) {
        (Ok(first), Ok(second)) => responses(first, second, redactor),
        (Err(failure), _) | (_, Err(failure)) => format!("no response: {:?}\n", failure.kind),
    };
    redactor.redact(&text)
}

fn responses(first: &Response, second: &Response, redactor: &Redactor) -> String {
    let mut text = format!("status: {}\n", constant(&first.status.to_string(), &second.status.to_string()));
    let (left, right) = (headers(first), headers(second));
    let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for name in names {
        let value = match (left.get(name), right.get(name)) {
            (Some(first), Some(second)) => constant(first, second),
            _ => "<comes and goes>".to_owned(),
        };
        let _ = writeln!(text, "header {name}: {}", plain(&value));
    }
    if let (Some(header), Some(body)) = (first.header("X-Request-Id"), first.at("/requestId")) {
        let same = if body.as_str() == Some(header.as_str()) { "the same" } else { "different" };
        let _ = writeln!(text, "request ids of header and body: {same}");
    }
    match (without_passwords(first), without_passwords(second)) {
        (Some(first), Some(second)) => {
            let mut shape = Shape::new();
            walk(&first, Some(&second), "", redactor, &mut shape);
            for (pointer, values) in shape {
                let pointer = if pointer.is_empty() { "/" } else { &pointer };
                let _ = writeln!(text, "body {pointer}: {}", Vec::from_iter(values).join(" or "));
            }
        }
        _ if first.body().is_empty() => text.push_str("body: empty\n"),
        _ => {
            let _ = writeln!(text, "body: text like {}", outline(&first.text()));
        }
    }
    text
}

/// The body, when it is JSON.
fn without_passwords(response: &Response) -> Option<Cow<'_, Value>> {
    let masked = password::masked(response.body()).and_then(|body| serde_json::from_slice(&body).ok());
    masked.map(Cow::Owned).or_else(|| response.json().map(Cow::Borrowed))
}

fn headers(response: &Response) -> BTreeMap<String, String> {
    let names = response.headers().iter().map(|(name, _)| name.to_ascii_lowercase());
    let shown = |name: String| {
        let values = response.header_values(&name);
        let values: Vec<_> = values.iter().map(|value| headers::masked(&name, value)).collect();
        (name, values.join(", "))
    };
    names.filter(|name| !IGNORED.contains(&name.as_str())).map(shown).collect()
}

fn constant(first: &str, second: &str) -> String {
    if first == second { first.to_owned() } else { "<changes>".to_owned() }
}

type Shape = BTreeMap<String, BTreeSet<String>>;

/// Every pointer with the kinds of its values. Elements of a list are data: their values are never shown, and all of them
/// share one pointer.
fn walk(value: &Value, again: Option<&Value>, pointer: &str, redactor: &Redactor, shape: &mut Shape) {
    // Bounds the memory that a target can use. A longer recording would be of no use for comparisons.
    if shape.len() >= MAX_LINES && !shape.contains_key(pointer) {
        shape.entry("/…".to_owned()).or_default().insert("more than a recording keeps".to_owned());
        return;
    }
    let entry = shape.entry(pointer.to_owned()).or_default();
    match value {
        Value::Object(members) => {
            entry.insert("object".to_owned());
            for (name, member) in members {
                let again = again.and_then(|again| again.get(name));
                walk(member, again, &format!("{pointer}/{}", excerpt(name, redactor)), redactor, shape);
            }
        }
        Value::Array(items) => {
            entry.insert(if items.is_empty() { "an empty list" } else { "a list" }.to_owned());
            for item in items {
                walk(item, None, &format!("{pointer}/*"), redactor, shape);
            }
        }
        scalar => {
            let shown = match again {
                Some(again) if again == scalar => excerpt(&scalar.to_string(), redactor),
                _ => kind(scalar).to_owned(),
            };
            entry.insert(shown);
        }
    }
}

/// A name or a value of the target in one line. Secrets are removed before it is cut, because a part of one is not recognised.
fn excerpt(text: &str, redactor: &Redactor) -> String {
    const MAX_CHARACTERS: usize = 200;
    plain(&redactor.excerpt(text, MAX_CHARACTERS)).into_owned()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "fraction",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "a list",
        Value::Object(_) => "object",
    }
}

/// The text with each run of letters and digits as one `x`: its punctuation and separators are what matters.
fn outline(text: &str) -> String {
    const MAX_CHARACTERS: usize = 120;
    let mut outline = String::new();
    for c in text.chars() {
        if outline.chars().count() > MAX_CHARACTERS {
            break;
        }
        let c = if c.is_alphanumeric() { 'x' } else { c };
        if c != 'x' || !outline.ends_with('x') {
            outline.push(c);
        }
    }
    format!("{:?}", outline.chars().take(MAX_CHARACTERS).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_outlined() {
        assert_eq!(outline("gw1.invalid:80\r\ngw2.invalid:81"), r#""x.x:x\r\nx.x:x""#);
    }

    #[test]
    fn no_part_of_a_token_is_left_where_a_value_is_cut() {
        const TOKEN: &str = "sally_api_0123456789abcdef";
        let redactor = Redactor::new([crate::Secret::new("API_KEY", TOKEN)]).unwrap();
        for offset in 150..=200 {
            let body = format!(r#"{{"message": "{}{TOKEN}"}}"#, "x".repeat(offset));
            let found = Response::new(200, Vec::new(), body.into());
            let text = responses(&found, &found, &redactor);
            assert!(!text.contains(&TOKEN[..8]), "{offset}: {text}");
        }
    }
}
