//! Constraints in words, and Markdown as HTML. Backquotes mark code in both.

use serde_json::Value;

use super::{escaped, resolved};

/// Every constraint of a schema except its type, each as a phrase.
pub(super) fn limits(root: &Value, schema: &Value) -> Vec<String> {
    let schema = resolved(root, schema);
    let mut limits = Vec::new();
    limits.extend(range(schema, "minimum", "maximum", ""));
    limits.extend(match (schema["format"].as_str(), schema["x-format"].as_str()) {
        (Some("date-time"), _) => Some("RFC 3339 with a time zone".to_owned()),
        (Some("ipv4"), _) => Some("an IPv4 address in dotted decimal".to_owned()),
        (Some("int64"), _) => Some("64 bits wide".to_owned()),
        (_, Some("ip-endpoint")) => Some("`IPv4`, `IPv6`, `IPv4:port` or `[IPv6]:port`".to_owned()),
        (format, _) => format.map(str::to_owned),
    });
    limits.extend(range(&schema["x-port"], "minimum", "maximum", "").map(|ports| format!("port {ports}")));
    limits.extend(match (schema["minLength"].as_u64(), schema.get("maxLength")) {
        (Some(1), None) => Some("not empty".to_owned()),
        _ => range(schema, "minLength", "maxLength", " characters"),
    });
    limits.extend(range(schema, "", "x-max-utf8-bytes", " bytes of UTF-8"));
    limits.extend(range(schema, "minItems", "maxItems", " items"));
    limits.extend(range(schema, "", "x-max-distinct", " distinct items"));
    if schema["items"]["$ref"].is_null() && schema["type"] == "array" {
        let each = self::limits(root, &schema["items"]);
        limits.extend(each.into_iter().map(|limit| format!("each item: {limit}")));
    }
    limits.extend(match schema["enum"].as_array().map(Vec::as_slice) {
        None => None,
        Some([only]) => Some(format!("always `{}`", value(only))),
        Some(values) => {
            let values: Vec<_> = values.iter().map(|value| choice(schema, value)).collect();
            Some(format!("one of {}", values.join(", ")))
        }
    });
    limits
}

fn range(schema: &Value, min: &str, max: &str, unit: &str) -> Option<String> {
    match (schema.get(min), schema.get(max)) {
        (Some(min), Some(max)) if min == max => Some(format!("exactly {min}{unit}")),
        (Some(min), Some(max)) => Some(format!("from {min} to {max}{unit}")),
        (Some(min), None) => Some(format!("at least {min}{unit}")),
        (None, Some(max)) => Some(format!("at most {max}{unit}")),
        (None, None) => None,
    }
}

/// A value of an enum, with the text that it stands for (`x-separators`).
fn choice(schema: &Value, choice: &Value) -> String {
    let choice = value(choice);
    match &schema["x-separators"][&choice] {
        Value::Null => format!("`{choice}`"),
        text => format!("`{choice}` (`{text}`)"),
    }
}

/// A rule between two fields (`x-rules`), as a phrase about the field that it binds.
pub(super) fn rule(rule: &Value) -> String {
    let text = |pointer| rule.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match text("/rule") {
        "required-when" => {
            format!(
                "required, and not empty, when `{}` is `{}`",
                text("/when/parameter"),
                text("/when/equals")
            )
        }
        "not-before" => format!("not earlier than `{}`", text("/bound")),
        other => other.to_owned(),
    }
}

/// The field that a rule binds.
pub(super) fn bound(rule: &Value) -> &str {
    rule["parameter"].as_str().or(rule["property"].as_str()).unwrap_or_default()
}

/// What a property of a search finds (`x-filter`), or how it divides the result into pages (`x-page`).
pub(super) fn meaning(operation: &Value, name: &str) -> Vec<String> {
    let (page, filter) = (&operation["x-page"], &operation["x-filter"][name]);
    let text = |keyword: &str| filter[keyword].as_str().unwrap_or_default();
    let field = text("field");
    let found = match text("match") {
        "equal" if filter["hidden"] == true => {
            "finds items with this value, which they do not show".to_owned()
        }
        "equal" => format!("finds items whose `{field}` is equal to it"),
        "contains" => format!("finds items whose `{field}` contains it"),
        "at-least" => format!("finds items whose `{field}` is at least this value"),
        "at-most" => format!("finds items whose `{field}` is at most this value"),
        "address" => format!("finds items by `{field}`, and by `{}` where it has one", text("port")),
        _ => String::new(),
    };
    let null = filter.get("finds-null").map(|value| format!("`{value}` finds items whose `{field}` is null"));
    let all = filter.get("when-null").map(|_| "null finds what an absent one finds".to_owned());
    let paging = [("number", "the number of a page of the items"), ("size", "the items on a page")];
    let paging = paging.into_iter().filter(|(keyword, _)| page[keyword] == name).map(|(keyword, what)| {
        let echo = page["echo"][keyword].as_str().unwrap_or_default();
        format!("{what}, which `{echo}` of the response repeats")
    });
    std::iter::once(found).filter(|found| !found.is_empty()).chain(null).chain(all).chain(paging).collect()
}

/// How the result of a search is divided into pages (`x-page`).
pub(super) fn paging(page: &Value) -> String {
    let text = |keyword: &str| page[keyword].as_str().unwrap_or_default();
    let order = match text("order") {
        "ascending" => format!("in ascending order of `{}`", text("identity")),
        _ => "in any order, which is the same in each response".to_owned(),
    };
    format!(
        "The items are in `{}`, {order}. `{}` identifies an item. `{}` counts the items on all pages.",
        text("items"),
        text("identity"),
        text("total")
    )
}

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
