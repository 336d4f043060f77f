//! A concrete request or response that the older contract allows and the newer one does not, for each breaking change.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Verdict,
    change::{Change, Direction, shown},
};

/// What shows that a change breaks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Witness {
    /// What is sent, or what comes back: `query num=51`.
    pub(crate) text: String,
    /// The value that stands at the place of the change; `None` where it is left out.
    pub(crate) value: Option<Value>,
}

/// The witness of a breaking change; `None` for other changes, and where no value can be derived from the two constraints.
pub(crate) fn witness(change: &Change) -> Option<Witness> {
    if change.rule.verdict != Verdict::Breaking {
        return None;
    }
    let old = change.old.as_ref().map(|found| &found.value);
    let new = change.new.as_ref().map(|found| &found.value);
    let at = &change.at;
    let value = match change.rule.id {
        "request-limit-narrowed" => Some(beyond(&change.keyword, new?)?),
        // Callers that follow the older document cannot expect what only the newer one allows.
        "response-limit-widened" => Some(match new {
            Some(limit) => limited(&change.keyword, limit.as_i64()?),
            None => beyond(&change.keyword, old?)?,
        }),
        "request-enum-value-removed" if new.is_none() => Some(old?.clone()),
        "request-enum-value-removed" => Some(json!("another value")),
        "request-null-removed" | "response-null-added" => Some(Value::Null),
        "request-type-narrowed" | "response-type-widened" => Some(json!("a text without the format")),
        "request-type-changed" | "response-type-changed" => Some(sample(old?)?),
        "parameter-removed" | "alias-removed" | "request-property-removed" => Some(sample(old?)?),
        "request-object-closed" | "response-object-opened" => Some(json!({ "further": 1 })),
        "parameter-added-required"
        | "parameter-became-required"
        | "request-property-added-required"
        | "request-property-became-required"
        | "request-body-added-required"
        | "request-body-became-required"
        | "response-header-became-optional"
        | "response-header-removed-required"
        | "response-property-became-optional"
        | "response-property-removed-required" => None,
        "operation-removed" | "operation-moved" => {
            return Some(Witness { text: format!("{} without its response", old?.as_str()?), value: None });
        }
        "credential-removed" => {
            return Some(Witness { text: format!("the token as {}", old?.as_str()?), value: None });
        }
        "aliases-must-agree" | "credentials-must-agree" => {
            return Some(Witness { text: format!("{at} with two different values"), value: None });
        }
        _ => return None,
    };
    let text = match (&value, change.direction) {
        (None, Direction::Response) => format!("a response without {at}"),
        (None, _) => format!("a request without {at}"),
        (Some(value), Direction::Response) => {
            format!("a response with {at} = {}", shown(value))
        }
        (Some(value), _) => format!("a request with {at} = {}", shown(value)),
    };
    Some(Witness { text, value })
}

/// The value next to a limit that it excludes.
fn beyond(keyword: &str, limit: &Value) -> Option<Value> {
    let limit = limit.as_i64()?;
    let is_lower = keyword.starts_with("min") || keyword.ends_with(" minimum");
    Some(limited(keyword, if is_lower { limit.checked_sub(1)? } else { limit.checked_add(1)? }))
}

/// Maximum length of a text or list that is written out.
const MAX_WRITTEN_OUT: i64 = 64;

/// A value whose number, length or count is `size`.
fn limited(keyword: &str, size: i64) -> Value {
    match keyword {
        "minimum" | "maximum" => json!(size),
        "minLength" | "maxLength" | "x-max-utf8-bytes" if (0..=MAX_WRITTEN_OUT).contains(&size) => {
            json!("x".repeat(usize::try_from(size).unwrap_or_default()))
        }
        "minLength" | "maxLength" => json!(format!("a text of {size} characters")),
        "x-max-utf8-bytes" => json!(format!("a text of {size} bytes")),
        "minItems" | "maxItems" => json!(format!("a list of {size} items")),
        "x-max-distinct" => json!(format!("a list of {size} distinct items")),
        // The port of an address.
        _ => json!(format!("192.0.2.1:{size}")),
    }
}

/// A value of a type.
fn sample(kind: &Value) -> Option<Value> {
    match kind.as_str()? {
        "string" => Some(json!("text")),
        "integer" => Some(json!(1)),
        "boolean" => Some(json!(true)),
        "array" => Some(json!([])),
        "object" => Some(json!({})),
        "date-time" => Some(json!("2026-01-01T00:00:00Z")),
        "ipv4" => Some(json!("192.0.2.1")),
        "ip-endpoint" => Some(json!("192.0.2.1:8080")),
        _ => None,
    }
}
