//! Types, constraints and rules in words. Backquotes mark code, as in descriptions.

use serde_json::Value;

use crate::model::{Condition, Contract, Format, Parameter, Rule, Schema};

/// Every constraint of a schema except its type, each as a phrase.
pub(super) fn limits(contract: &Contract, schema: &Schema) -> Vec<String> {
    let mut limits: Vec<String> = match schema.format {
        Some(Format::DateTime) => vec!["RFC 3339 with a time zone".to_owned()],
        Some(Format::Ipv4) => vec!["an IPv4 address in dotted decimal".to_owned()],
        Some(Format::Int64) | None => Vec::new(),
    };
    if let Some((min, max)) = schema.endpoint_ports() {
        limits.push("`IPv4`, `IPv6`, `IPv4:port` or `[IPv6]:port`".to_owned());
        limits.push(format!("port from {min} to {max}"));
    }
    match (schema.min_length, schema.max_length) {
        (Some(1), None) => limits.push("not empty".to_owned()),
        (min, max) => limits.extend(range(min, max, " characters")),
    }
    limits.extend(schema.max_utf8_bytes.map(|max| format!("at most {max} bytes of UTF-8")));
    limits.extend(range(schema.minimum, schema.maximum, ""));
    limits.extend((schema.format == Some(Format::Int64)).then(|| "64 bits wide".to_owned()));
    limits.extend(range(schema.min_items, schema.max_items, " items"));
    limits.extend(schema.max_distinct.map(|max| format!("at most {max} distinct items")));
    if let Some(items) = schema.items().filter(|items| items.name.is_none()) {
        limits.extend(self::limits(contract, items).into_iter().map(|each| format!("each item: {each}")));
    }
    match schema.variants.as_deref() {
        None => {}
        Some([only]) => limits.push(format!("always `{}`", value(only))),
        Some(variants) => {
            let values: Vec<_> = variants.iter().map(|variant| choice(contract, schema, variant)).collect();
            limits.push(format!("one of {}", values.join(", ")));
        }
    }
    limits
}

/// Constraints of a parameter outside of its schema.
pub(super) fn extensions(parameter: &Parameter) -> Vec<String> {
    let mut limits = Vec::new();
    if let Some(other) = &parameter.alias_of {
        let equal =
            if parameter.aliases_agree.is_some() { ", and equal to it where both are sent" } else { "" };
        limits.push(format!("another name for `{other}`{equal}"));
    }
    if let Some(header) = &parameter.falls_back_to {
        limits.push(format!("when absent, the header `{header}` is read"));
    }
    if parameter.credential {
        limits.push("holds the account's token".to_owned());
    }
    limits
}

/// A rule between two fields, as a phrase about the field that it binds.
pub(super) fn rule(rule: &Rule) -> String {
    match rule {
        Rule::RequiredWhen { when: Condition { parameter: condition, equals }, .. } => {
            format!("required, and not empty, when `{condition}` is `{equals}`")
        }
        Rule::NotBefore { bound, .. } => format!("not earlier than `{bound}`"),
    }
}

/// The field that a rule binds.
pub(super) fn bound(rule: &Rule) -> &str {
    match rule {
        Rule::RequiredWhen { parameter: own, .. } | Rule::NotBefore { property: own, .. } => own,
    }
}

/// A JSON value in a line: text without its quotes where it can be read without them.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && !text.contains(char::is_control) => text.clone(),
        other => other.to_string(),
    }
}

fn range(min: Option<i64>, max: Option<i64>, unit: &str) -> Option<String> {
    match (min, max) {
        (Some(min), Some(max)) if min == max => Some(format!("exactly {min}{unit}")),
        (Some(min), Some(max)) => Some(format!("from {min} to {max}{unit}")),
        (Some(min), None) => Some(format!("at least {min}{unit}")),
        (None, Some(max)) => Some(format!("at most {max}{unit}")),
        (None, None) => None,
    }
}

/// A value of an enum, with the text that it stands for.
pub(super) fn choice(contract: &Contract, schema: &Schema, variant: &Value) -> String {
    let value = value(variant);
    if schema.separators.is_none() {
        return format!("`{value}`");
    }
    let meaning = match schema.separator(&value) {
        Some("\r\n") => "CRLF".to_owned(),
        Some("\r") => "CR".to_owned(),
        Some("\n") => "LF".to_owned(),
        Some("\t") => "TAB".to_owned(),
        Some(text) => format!("the text `{text}`"),
        None => match own_text(contract, schema, &value) {
            Some(parameter) => format!("the value of `{parameter}`"),
            None => "a text of its own".to_owned(),
        },
    };
    format!("`{value}` ({meaning})")
}

/// The parameter that a rule requires with this value of an enum.
fn own_text<'a>(contract: &'a Contract, schema: &Schema, value: &str) -> Option<&'a str> {
    contract.operations.iter().find_map(|operation| {
        operation.rules.iter().find_map(|rule| match rule {
            Rule::RequiredWhen { parameter, when, .. } if when.equals == value => {
                let chosen = operation.parameters.iter().find(|it| it.name == when.parameter)?;
                (chosen.schema.pointer == schema.pointer).then_some(parameter.as_str())
            }
            _ => None,
        })
    })
}
