//! Writes the changes for a terminal, and for a changelog: the report is one JSON object with which a template is filled.

use serde_json::{Value, json};

use super::{
    Change, Diff,
    rules::Verdict,
    version::{Step, VersionAdvice},
    witness::witness,
};
use crate::{table::SourceValue, template::fill};

/// What a report shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenderInput<'a> {
    pub(crate) diff: &'a Diff,
    pub(crate) advice: &'a VersionAdvice,
    /// Name of the older document: a file, or a revision.
    pub(crate) old: &'a str,
    /// Name of the newer document.
    pub(crate) new: &'a str,
    /// Remarks on the file of accepted changes.
    pub(crate) notes: &'a [String],
}

/// The report, or a section for CHANGELOG.md.
pub(crate) fn render(input: RenderInput<'_>, is_changelog: bool) -> String {
    let template =
        if is_changelog { include_str!("forms/changelog.md") } else { include_str!("forms/text.txt") };
    fill(template, &report(input))
}

fn report(input: RenderInput<'_>) -> Value {
    json!({
        "counts": counts(input.diff),
        "required": required(input),
        "notes": input.notes,
        "changes": input.diff.changes.iter().map(|change| row(input, change)).collect::<Vec<_>>(),
    })
}

fn row(input: RenderInput<'_>, change: &Change) -> Value {
    let Change { rule, operation, direction, at, old, new, clauses, accepted, .. } = change;
    let place = |name: &str, found: &Option<SourceValue>| {
        found.as_ref().map(|found| format!("{name}:{}", found.line))
    };
    let places = [place(input.old, old), place(input.new, new)].into_iter().flatten();
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
fn required(input: RenderInput<'_>) -> Option<String> {
    let VersionAdvice { step, document, is_met } = input.advice;
    let (old, new) = &input.diff.versions;
    let document = match document {
        None => format!("`info.version` must be three numbers, found `{old}`"),
        Some(version) if *is_met => format!("`info.version` {version} or higher; as it is `{new}`"),
        Some(version) => format!("`info.version` {version} or higher; it is still `{new}`"),
    };
    (*step != Step::None).then(|| format!("{step} step: {document}"))
}
