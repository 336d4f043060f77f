//! The items of the server that enforce constraints, for the ledger.

use super::names;
use crate::model::{Constraint, Side};

/// The item of the server that enforces a constraint; `None` when the server does not. A test of this folder changes each
/// constraint that is declared here and requires the generated code to change.
pub(crate) fn enforces(constraint: &Constraint) -> Option<String> {
    let operation = names::pascal(&constraint.operation);
    match constraint.side {
        Side::Request => Some(format!("`{operation}::read` by `edge::{}`", reader(constraint)?)),
        Side::Response => writer(constraint, &operation),
    }
}

/// The module of the edge that rejects what breaks a constraint of a request.
fn reader(constraint: &Constraint) -> Option<&'static str> {
    let place = constraint.at.split(' ').next().unwrap_or_default();
    Some(match constraint.keyword {
        "security" | "x-credential" | "x-credentials-agree" => "reading::credential",
        "required" | "type" | "minLength" if constraint.credential => "reading::credential",
        "x-rules" | "x-alias-of" | "x-aliases-agree" | "x-separators" => "reading::rules",
        "content" => "reading::body",
        "required" | "type" if place == "path" => "reading::path",
        "required" | "type" | "nullable" | "default" if place == "query" => "reading::query",
        "required" | "type" | "nullable" | "default" | "x-falls-back-to" if place == "header" => {
            "reading::headers"
        }
        "x-falls-back-to" => "reading::headers",
        "required" | "type" | "nullable" | "default" => "reading::fields",
        "enum" => "types::value",
        "minimum" | "maximum" => "types::integer",
        "minLength" | "maxLength" | "x-max-utf8-bytes" => "types::text",
        "minItems" | "maxItems" | "x-max-distinct" => "types::list",
        "format" => "types::time",
        "x-format" | "x-port" => "types::address",
        _ => return None,
    })
}

/// The type that a response must have, so that it cannot break the constraint.
fn writer(constraint: &Constraint, operation: &str) -> Option<String> {
    let mut parts = constraint.at.split(' ');
    let (status, part) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    Some(match (status, part, constraint.keyword) {
        (_, "header", "required" | "type") if !status.starts_with('2') => {
            "`edge::responding::response::OperationResponse`".to_owned()
        }
        (_, "text", _) => "`edge::responding::response::Content::Text`".to_owned(),
        (_, _, "content") => "`edge::responding::response::Content`".to_owned(),
        (_, _, "minimum" | "maximum") => "`edge::types::integer::BoundedInteger`".to_owned(),
        (_, "header", "required" | "type" | "enum" | "format" | "nullable") => {
            format!("`{operation}Headers`")
        }
        (_, "body", "required" | "type" | "enum" | "format" | "nullable") => {
            let body = if status.starts_with('2') { "Success" } else { "Error" };
            format!("`<{operation} as Responses>::{body}`")
        }
        _ => return None,
    })
}
