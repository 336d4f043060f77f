//! Writes the changes for people, for other programs, for GitHub and for a changelog: the report is one JSON object, and every other
//! form is a template that is filled with it.

use minijinja::{Environment, Error, syntax::SyntaxConfig, value::Serde};
use serde_json::{Value, json};

use super::{
    Change, Diff, SourceValue,
    rules::Verdict,
    version::{Step, VersionAdvice},
    witness::witness,
};
use crate::problem::DOCUMENT;

/// What a report shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenderInput<'a> {
    pub(crate) diff: &'a Diff,
    pub(crate) advice: &'a VersionAdvice,
    /// Name of the older document: a file, or a revision.
    pub(crate) old: &'a str,
    /// Name of the newer document.
    pub(crate) new: &'a str,
    /// Whether each breaking change is shown with a witness.
    pub(crate) has_witnesses: bool,
    /// Remarks on the file of accepted changes.
    pub(crate) notes: &'a [String],
}

/// The form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Lines for a terminal.
    Text,
    /// A page in Markdown, for a review.
    Md,
    /// One JSON object, for other programs.
    Json,
    /// Workflow commands of GitHub Actions, which annotate the lines of the document.
    Github,
    /// A section for CHANGELOG.md.
    #[value(skip)]
    Changelog,
}

/// The report.
#[expect(clippy::expect_used, reason = "the templates are part of this program, and a test renders each")]
pub(crate) fn render(input: RenderInput<'_>, format: Format) -> String {
    let template = match format {
        Format::Text => include_str!("forms/text.txt"),
        Format::Md => include_str!("forms/page.md"),
        Format::Github => include_str!("forms/github.txt"),
        Format::Changelog => include_str!("forms/changelog.md"),
        Format::Json => return format!("{:#}\n", report(input)),
    };
    fill(template, &report(input)).expect("a form of the report")
}

fn fill(template: &str, report: &Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?;
    environment.set_syntax(syntax);
    environment.render_str(template, Serde(report))
}

/// Version of the JSON object; raised when a member changes its meaning or is removed.
const SCHEMA_VERSION: u32 = 1;

fn report(input: RenderInput<'_>) -> Value {
    let RenderInput { diff, advice, .. } = input;
    json!({
        "schema_version": SCHEMA_VERSION,
        "document": DOCUMENT,
        "old": { "name": input.old, "version": diff.versions.0 },
        "new": { "name": input.new, "version": diff.versions.1 },
        "worst": diff.worst().map(Verdict::name),
        "counts": counts(diff),
        "step": advice.step.to_string(),
        "required": required(input),
        "asked": {
            "document": advice.document.as_ref().map(ToString::to_string),
            "crates": advice.crates.as_ref().map(ToString::to_string),
            "is_met": advice.is_met,
        },
        "notes": input.notes,
        "changes": diff.changes.iter().map(|change| row(input, change)).collect::<Vec<_>>(),
    })
}

fn row(input: RenderInput<'_>, change: &Change) -> Value {
    let Change { rule, operation, direction, at, keyword, old, new, clauses, accepted } = change;
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
        "keyword": keyword,
        "summary": change.summary(),
        "places": places.collect::<Vec<_>>().join(" → "),
        "old": old,
        "new": new,
        "clauses": clauses,
        "services_may_fail": rule.services_may_fail,
        "services": if rule.services_may_fail { "may fail the new suite" } else { "not affected" },
        "means": rule.means,
        "advice": rule.advice,
        "witness": if input.has_witnesses { witness(change) } else { None },
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
    let VersionAdvice { step, document, crates, is_met } = input.advice;
    let (old, new) = &input.diff.versions;
    let document = match document {
        None => format!("`info.version` must be three numbers, found `{old}`"),
        Some(version) if *is_met => format!("`info.version` {version} or higher; as it is `{new}`"),
        Some(version) => format!("`info.version` {version} or higher; it is still `{new}`"),
    };
    let crates =
        crates.as_ref().map(|version| format!("; crates {version}, if the present version is published"));
    (*step != Step::None).then(|| format!("{step} step: {document}{}", crates.unwrap_or_default()))
}
