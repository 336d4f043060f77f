//! A concrete request or response that the older contract allows and the newer one does not, for each breaking change: a value
//! next to the bound of the row that changed.

use serde_json::{Value, json};

use super::{
    Verdict,
    change::{Change, shown},
};
use crate::table::Direction;

/// The witness of a breaking change, such as `a request with query num = 51`; `None` for other changes, and where no value can be derived from the two documents.
pub(crate) fn witness(change: &Change) -> Option<String> {
    if change.rule.verdict != Verdict::Breaking {
        return None;
    }
    let [old, new] = [&change.old, &change.new].map(|found| found.as_ref().map(|found| &found.value));
    let (at, is_response) = (&change.at, change.direction == Direction::Response);
    let value = match change.keyword.as_str() {
        "" if change.rule.id.starts_with("operation-") => {
            return Some(format!("{} without its response", old?.as_str()?));
        }
        "security" => return Some(format!("the token as {}", old?.as_str()?)),
        "x-aliases-agree" | "x-credentials-agree" => return Some(format!("{at} with two different values")),
        // A part, which must be there now, or is not there any more.
        "" if change.rule.id.ends_with("-required") => None,
        "" if is_response => return None,
        "" | "x-alias-of" => Some(sample(old?)?),
        "required" => None,
        "enum" if new.is_none() => Some(old?.clone()),
        "enum" => Some(json!("another value")),
        "nullable" => Some(Value::Null),
        "additionalProperties" => Some(json!({ "further": 1 })),
        "format" | "x-format" if old.is_none() || new.is_none() => Some(json!("a text without the format")),
        "type" | "format" | "x-format" => Some(sample(old?)?),
        // Callers that follow the older document cannot expect what only the newer one allows.
        keyword => match (is_response, new) {
            (true, Some(limit)) => Some(limited(keyword, limit.as_i64()?)?),
            (true, None) => Some(beyond(keyword, old?)?),
            (false, _) => Some(beyond(keyword, new?)?),
        },
    };
    let kind = if is_response { "response" } else { "request" };
    Some(match &value {
        None => format!("a {kind} without {at}"),
        Some(value) => format!("a {kind} with {at} = {}", shown(value)),
    })
}

/// The value next to a limit that it excludes.
fn beyond(keyword: &str, limit: &Value) -> Option<Value> {
    let limit = limit.as_i64()?;
    limited(keyword, if keyword.contains("min") { limit.checked_sub(1)? } else { limit.checked_add(1)? })
}

/// Maximum length of a text that is written out.
const MAX_WRITTEN_OUT: i64 = 64;

/// A value whose number, length or count is `size`; `None` for a keyword that is no limit.
fn limited(keyword: &str, size: i64) -> Option<Value> {
    Some(match keyword {
        "minimum" | "maximum" => json!(size),
        "minLength" | "maxLength" | "x-max-utf8-bytes" if (0..=MAX_WRITTEN_OUT).contains(&size) => {
            json!("x".repeat(usize::try_from(size).unwrap_or_default()))
        }
        "minLength" | "maxLength" => json!(format!("a text of {size} characters")),
        "x-max-utf8-bytes" => json!(format!("a text of {size} bytes")),
        "minItems" | "maxItems" => json!(format!("a list of {size} items")),
        "x-max-distinct" => json!(format!("a list of {size} distinct items")),
        _ if keyword.starts_with("x-port ") => json!(format!("192.0.2.1:{size}")),
        _ => return None,
    })
}

/// A value of a type or format.
fn sample(kind: &Value) -> Option<Value> {
    Some(match kind.as_str()? {
        "string" => json!("text"),
        "integer" => json!(1),
        "boolean" => json!(true),
        "array" => json!([]),
        "object" => json!({}),
        "date-time" => json!("2026-01-01T00:00:00Z"),
        "ipv4" => json!("192.0.2.1"),
        "ip-endpoint" => json!("192.0.2.1:8080"),
        _ => return None,
    })
}
