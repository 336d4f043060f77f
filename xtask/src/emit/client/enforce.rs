//! What the client enforces, for the ledger.

use super::name;
use crate::model::{Constraint, Side};

/// The generated item that enforces the constraint; `None` when the client does not. A test of this folder changes each
/// limit that is declared here as validated and requires the emitted validation to change.
pub(crate) fn enforces(constraint: &Constraint) -> Option<String> {
    match constraint.side {
        Side::Request => request(constraint),
        Side::Response => response(constraint),
    }
}

fn request(constraint: &Constraint) -> Option<String> {
    let input = name::pascal(&constraint.operation);
    if constraint.credential {
        // The client builder rejects an empty token; where it is sent is generated.
        return Some("contract::operation (credential)".to_owned());
    }
    match constraint.keyword {
        "minimum" | "maximum" | "minLength" | "maxLength" | "x-max-utf8-bytes" | "minItems" | "maxItems"
        | "x-max-distinct" | "x-rules" => Some(format!("contract::{input}::validate")),
        "x-format" | "x-port" => Some("Address (contract::ADDRESS_PORTS)".to_owned()),
        "x-separators" => Some("contract::Separator".to_owned()),
        "required" | "type" | "enum" | "format" | "nullable" | "content" => {
            Some(format!("contract::{input} (types)"))
        }
        "x-credentials-agree" => Some("contract::operation (sends one transport)".to_owned()),
        "x-alias-of" | "x-aliases-agree" | "x-falls-back-to" => {
            Some(format!("contract::{input} (sends one name)"))
        }
        // The service applies defaults: the client omits an absent value.
        "default" => Some(format!("contract::{input} (omitted)")),
        _ => None,
    }
}

fn response(constraint: &Constraint) -> Option<String> {
    // Responses are read leniently, so that one invalid value does not lose a page; the suite checks the rest.
    let part = success_part(&constraint.at);
    let body = part.is_some_and(|part| part.starts_with("body"));
    match constraint.keyword {
        "enum" if constraint.at.ends_with(" code") => Some("contract::operation (success code)".to_owned()),
        // The text fields of an envelope are optional to the client; see `lower::relax_envelopes`.
        "required" if body && is_envelope_text(constraint) => None,
        "required" | "type" | "nullable" if body => Some("generated::types".to_owned()),
        "format" if constraint.value == "date-time" => Some("generated::types".to_owned()),
        "format" if constraint.value == "int64" && body => Some("generated::types (i64)".to_owned()),
        "content" | "type" if matches!(part, Some("body" | "text")) => {
            Some("contract::operation (text or JSON)".to_owned())
        }
        "type" if part.is_some_and(|part| part.starts_with("header ")) => {
            Some(format!("contract::{}Headers", name::pascal(&constraint.operation)))
        }
        "required" | "type" if constraint.at.ends_with("header Retry-After") => {
            Some("retry::retry_after".to_owned())
        }
        _ => None,
    }
}

/// The part of a success that `at` is in, such as `body data.items[]`; `None` for a rejection.
fn success_part(at: &str) -> Option<&str> {
    at.strip_prefix('2')?.split_once(' ').map(|(_, part)| part)
}

/// Whether the constraint requires a text or a flag beside the data of a response.
fn is_envelope_text(constraint: &Constraint) -> bool {
    matches!(constraint.property_type, Some("string" | "boolean")) && !constraint.at.contains(['.', '['])
}
