//! Values in a line, and Markdown as HTML.

use serde_json::Value;

use super::escaped;

/// A JSON value in a line: text without its quotes where it can be read without them.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && !text.contains(char::is_control) => text.clone(),
        other => other.to_string(),
    }
}

/// Paragraphs, which empty lines part.
pub(super) fn paragraphs(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    paragraphs.map(|paragraph| format!("<p>{}</p>", line(paragraph))).collect()
}

/// Text with `code` and **strong**. Anything else stays as it is written.
pub(super) fn line(text: &str) -> String {
    spans(text, "`", "code", |rest| spans(rest, "**", "strong", escaped))
}

/// Puts what stands between two marks into an element. A mark without a partner is text.
fn spans(text: &str, mark: &str, element: &str, around: impl Fn(&str) -> String) -> String {
    let parts: Vec<&str> = text.split(mark).collect();
    if parts.len().is_multiple_of(2) {
        return around(text);
    }
    let span = |(index, part): (usize, &&str)| match index % 2 {
        0 => around(part),
        _ => format!("<{element}>{}</{element}>", escaped(part)),
    };
    parts.iter().enumerate().map(span).collect()
}
