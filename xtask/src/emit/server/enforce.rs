//! Which constraints the server enforces. A test of this folder changes each and requires the generated code to change.

use crate::model::{Constraint, LIMITS, Side};

/// Whether the server enforces the constraint: it rejects a request that breaks it, or has a type that cannot.
pub(crate) fn enforces(constraint: &Constraint) -> bool {
    let Constraint { keyword, at, .. } = constraint;
    match constraint.side {
        Side::Request => {
            let credential = ["security", "x-credential", "x-credentials-agree"];
            let rules = ["x-rules", "x-alias-of", "x-aliases-agree", "x-separators", "x-falls-back-to"];
            let values = [
                "content", "required", "type", "nullable", "default", "enum", "format", "x-format", "x-port",
            ];
            [&credential[..], &rules, &values, &LIMITS].concat().contains(keyword)
        }
        Side::Response => {
            let is_text = at.split(' ').nth(1) == Some("text");
            is_text
                || ["content", "minimum", "maximum", "required", "type", "enum", "format", "nullable"]
                    .contains(keyword)
        }
    }
}
