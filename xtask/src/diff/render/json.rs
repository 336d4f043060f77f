//! One JSON object.

use serde_json::{Value, json};

use super::{RenderInput, SourceValue};

/// Version of the form of the object; raised when a member changes its meaning or goes.
const SCHEMA_VERSION: u32 = 1;

pub(super) fn render(shown: RenderInput<'_>) -> String {
    let changes: Vec<Value> = shown
        .diff
        .changes
        .iter()
        .map(|change| {
            json!({
                "rule": change.rule.id,
                "verdict": change.rule.verdict.name(),
                "operation": change.operation,
                "direction": change.direction.name(),
                "at": change.at,
                "keyword": change.keyword,
                "old": found(&change.old),
                "new": found(&change.new),
                "clauses": change.clauses,
                "services_may_fail": change.rule.services_may_fail,
                "means": change.rule.means,
                "advice": change.rule.advice,
                "witness": shown.witness(change).map(|witness| json!({ "text": witness.text, "value": witness.value })),
                "fingerprint": change.fingerprint(),
                "accepted": change.accepted,
            })
        })
        .collect();
    let report = json!({
        "schema_version": SCHEMA_VERSION,
        "old": { "name": shown.old, "version": shown.diff.versions.0 },
        "new": { "name": shown.new, "version": shown.diff.versions.1 },
        "worst": shown.diff.worst().map(super::super::Verdict::name),
        "step": shown.asked.step.name(),
        "asked": {
            "document": shown.asked.document.map(|version| version.to_string()),
            "crates": shown.asked.crates.map(|version| version.to_string()),
            "is_met": shown.asked.is_met,
        },
        "notes": shown.notes,
        "changes": changes,
    });
    format!("{report:#}\n")
}

fn found(found: &Option<SourceValue>) -> Value {
    found.as_ref().map_or(
        Value::Null,
        |found| json!({ "value": found.value, "line": found.line, "pointer": found.pointer }),
    )
}
