//! Writes the changes for a terminal, and for a changelog: the report is one JSON object with which a template is filled.

use serde_json::{Value, json};

use super::{
    Change, Diff,
    rules::Verdict,
    version::{Step, VersionAdvice, advise},
    witness::witness,
};
use crate::template::fill;

/// The report, or a section for CHANGELOG.md. `names` are those of the older and of the newer document, each a file or a revision;
/// `notes` are remarks on the file of accepted changes.
pub(crate) fn render(diff: &Diff, names: [&str; 2], notes: &[String], is_changelog: bool) -> String {
    let template =
        if is_changelog { include_str!("forms/changelog.md") } else { include_str!("forms/text.txt") };
    let changes: Vec<_> = diff.changes.iter().map(|change| row(names, change)).collect();
    let report =
        json!({ "counts": counts(diff), "required": required(diff), "notes": notes, "changes": changes });
    fill(template, &report)
}

fn row(names: [&str; 2], change: &Change) -> Value {
    let Change { rule, operation, direction, at, old, new, clauses, accepted, .. } = change;
    let places = names
        .into_iter()
        .zip([old, new])
        .filter_map(|(name, said)| said.as_ref().map(|said| format!("{name}:{}", said.line)));
    json!({
        "rule": rule.id,
        "verdict": rule.verdict.name(),
        "severity": Verdict::ALL.iter().position(|verdict| *verdict == rule.verdict),
        "section": rule.section(),
        "operation": operation,
        "direction": direction.to_string(),
        "at": at,
        "summary": change.summary(),
        "places": places.collect::<Vec<_>>().join(" → "),
        "clauses": clauses,
        "services": if rule.services_may_fail { "may fail the new suite" } else { "not affected" },
        "means": rule.means,
        "advice": rule.advice,
        "witness": witness(change),
        "fingerprint": change.fingerprint(),
        "accepted": accepted,
    })
}

/// Number of changes by verdict, and of accepted ones.
fn counts(diff: &Diff) -> String {
    let open = || diff.changes.iter().filter(|change| change.accepted.is_none());
    let count = |verdict: &Verdict| open().filter(|change| change.rule.verdict == *verdict).count();
    let counts =
        Verdict::ALL.iter().map(|verdict| (count(verdict), verdict.name())).filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, name)| format!("{count} {name}")).collect();
    let counts = if counts.is_empty() { "no changes".to_owned() } else { counts.join(", ") };
    match diff.changes.len() - open().count() {
        0 => counts,
        accepted => format!("{counts}, and {accepted} accepted"),
    }
}

/// The version step that the changes require; `None` without one.
fn required(diff: &Diff) -> Option<String> {
    let VersionAdvice { step, document, is_met } = advise(diff);
    let (old, new) = &diff.versions;
    let document = match document {
        None => format!("`info.version` must be three numbers, found `{old}`"),
        Some(version) if is_met => format!("`info.version` {version} or higher; as it is `{new}`"),
        Some(version) => format!("`info.version` {version} or higher; it is still `{new}`"),
    };
    (step != Step::None).then(|| format!("{step} step: {document}"))
}
