//! Which constraints the client enforces.

use crate::model::{Constraint, LIMITS, Side};

/// Whether the client enforces the constraint. The table of `sallyport-contract` checks each request before it is sent; the client
/// sends the token itself, one name of a parameter, and one transport, and omits an absent value.
pub(crate) fn enforces(constraint: &Constraint) -> bool {
    const CHECKED: [&str; 10] = [
        "required", "type", "enum", "format", "nullable", "content", "default", "x-format", "x-port",
        "x-rules",
    ];
    const SENT: [&str; 5] =
        ["x-separators", "x-credentials-agree", "x-alias-of", "x-aliases-agree", "x-falls-back-to"];
    match constraint.side {
        Side::Request => {
            constraint.credential || [&LIMITS[..], &CHECKED, &SENT].concat().contains(&constraint.keyword)
        }
        Side::Response => reads(constraint),
    }
}

/// Whether the client reads the part of a response as the constraint says. Responses are read leniently, so that one invalid value
/// does not lose a page; the suite checks the rest.
fn reads(constraint: &Constraint) -> bool {
    let Constraint { keyword, at, value, .. } = constraint;
    // Such as `body data.items[]`; none for a rejection.
    let part = at.strip_prefix('2').and_then(|rest| rest.split_once(' ')).map(|(_, part)| part);
    let is_body = part.is_some_and(|part| part.starts_with("body"));
    // The texts and flags beside the data are optional to the client; see `lower::relax_envelopes`.
    let is_beside_data =
        matches!(constraint.property_type, Some("string" | "boolean")) && !at.contains(['.', '[']);
    match *keyword {
        "enum" => at.ends_with(" code"),
        "required" if is_body => !is_beside_data,
        "type" | "nullable" if is_body => true,
        "format" => *value == "date-time" || (*value == "int64" && is_body),
        "content" | "type" if matches!(part, Some("body" | "text")) => true,
        "type" if part.is_some_and(|part| part.starts_with("header ")) => true,
        "required" | "type" => at.ends_with("header Retry-After"),
        _ => false,
    }
}
