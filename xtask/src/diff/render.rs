//! Writes the changes for people, for other programs, for GitHub and for a changelog.
//!
//! Errors of `write!` are dropped, because writing to a string cannot fail.

use std::{collections::HashSet, fmt::Write};

use serde_json::{Value, json};

use super::{
    Change, Diff, SourceValue,
    rules::{Section, Verdict},
    version::{Step, VersionAdvice},
    witness::{Witness, witness},
};
use crate::problem::DOCUMENT;

/// What the renderers show.
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
}

/// The report.
pub(crate) fn render(input: RenderInput<'_>, format: Format) -> String {
    match format {
        Format::Text => text(input),
        Format::Md => markdown(input),
        Format::Json => json(input),
        Format::Github => github(input),
    }
}

impl RenderInput<'_> {
    /// `old:12 → new:14`, or only one of them.
    fn places(&self, change: &Change) -> String {
        let place = |name: &str, found: &Option<SourceValue>| {
            found.as_ref().map(|found| format!("{name}:{}", found.line))
        };
        let both = [place(self.old, &change.old), place(self.new, &change.new)];
        both.into_iter().flatten().collect::<Vec<_>>().join(" → ")
    }

    /// The witness of a change, where witnesses are wanted and there is one.
    fn witness(&self, change: &Change) -> Option<Witness> {
        if self.has_witnesses { witness(change) } else { None }
    }

    /// The operations of the changes, each once, in their order; `None` for the document as a whole.
    fn operations(&self) -> Vec<Option<&str>> {
        let mut seen = HashSet::new();
        let all = self.diff.changes.iter().map(|change| change.operation.as_deref());
        all.filter(|operation| seen.insert(*operation)).collect()
    }

    /// The changes that nobody has accepted.
    fn open(&self) -> impl Iterator<Item = &Change> {
        self.diff.changes.iter().filter(|change| change.accepted.is_none())
    }

    /// Number of changes by verdict, and of accepted ones.
    fn verdict(&self) -> String {
        let count = |verdict| self.open().filter(|change| change.rule.verdict == verdict).count();
        let counts: Vec<String> = Verdict::ALL
            .iter()
            .map(|verdict| (count(*verdict), verdict.name()))
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        let counts = if counts.is_empty() { "no changes".to_owned() } else { counts.join(", ") };
        match self.diff.changes.len() - self.open().count() {
            0 => counts,
            accepted => format!("{counts}, and {accepted} accepted"),
        }
    }

    /// The version step that the changes require; `None` without one.
    fn step(&self) -> Option<String> {
        let advice = self.advice;
        if advice.step == Step::None {
            return None;
        }
        let found = &self.diff.versions.1;
        let document = advice.document.map_or_else(
            || format!("`info.version` must be three numbers, found `{}`", self.diff.versions.0),
            |version| {
                let met = if advice.is_met { "as it is" } else { "it is still" };
                format!("`info.version` {version} or higher; {met} `{found}`")
            },
        );
        let crates =
            advice.crates.map(|version| format!("; crates {version}, if the present version is published"));
        Some(format!("{} step: {document}{}", advice.step, crates.unwrap_or_default()))
    }
}

/// What the change means for services that conformed.
fn services(change: &Change) -> &'static str {
    if change.rule.services_may_fail { "may fail the new suite" } else { "not affected" }
}

/// Lines for a terminal. Accepted changes are only counted, so that those of an edit are found among them.
fn text(input: RenderInput<'_>) -> String {
    let mut text = String::new();
    for operation in input.operations() {
        let changes: Vec<&Change> =
            input.open().filter(|change| change.operation.as_deref() == operation).collect();
        if changes.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{}", operation.unwrap_or("the document as a whole"));
        for change in changes {
            let _ = writeln!(
                text,
                "  {} [{}] {}, {}: {}",
                change.rule.verdict.name(),
                change.rule.id,
                change.direction,
                change.at,
                change.summary()
            );
            let mut row = |name: &str, value: &str| {
                let _ = writeln!(text, "      {name:<12} {value}");
            };
            row("means", change.rule.means);
            row("at", &input.places(change));
            if !change.clauses.is_empty() {
                row("clauses", &change.clauses.join(", "));
            }
            if let Some(witness) = input.witness(change) {
                row("witness", &witness.text);
            }
            row("services", services(change));
            row("to do", change.rule.advice);
            row("fingerprint", &change.fingerprint());
        }
        text.push('\n');
    }
    for note in input.notes {
        let _ = writeln!(text, "accepted changes, {note}");
    }
    let _ = writeln!(text, "{}", input.verdict());
    if let Some(step) = input.step() {
        let _ = writeln!(text, "{step}");
    }
    text
}

/// A page in Markdown.
fn markdown(input: RenderInput<'_>) -> String {
    let mut page = format!(
        "# Changes of the contract\n\nFrom `{}` to `{}`: {}.\n",
        input.old,
        input.new,
        input.verdict()
    );
    if let Some(step) = input.step() {
        let _ = writeln!(page, "\nThe changes require a {step}.");
    }
    for operation in input.operations() {
        let title = operation.map_or_else(|| "The document as a whole".to_owned(), |id| format!("`{id}`"));
        let _ = write!(
            page,
            "\n## {title}\n\n| verdict | where | change | clauses | services | what to do | lines | fingerprint |\n\
             |---|---|---|---|---|---|---|---|\n"
        );
        for change in input.diff.changes.iter().filter(|change| change.operation.as_deref() == operation) {
            let accepted = change.accepted.as_ref().map(|reason| format!(" (accepted: {reason})"));
            let witness = input.witness(change).map(|witness| format!(" Witness: {}", witness.text));
            let clauses: Vec<String> = change.clauses.iter().map(|clause| format!("`{clause}`")).collect();
            let cells = [
                format!("**{}**{}", change.rule.verdict.name(), accepted.unwrap_or_default()),
                format!("{}, `{}`", change.direction, change.at),
                format!("{} ({}){}", change.summary(), change.rule.means, witness.unwrap_or_default()),
                clauses.join(" "),
                services(change).to_owned(),
                change.rule.advice.to_owned(),
                input.places(change),
                format!("`{}`", change.fingerprint()),
            ];
            let cells = cells.map(|cell| cell.replace('|', "\\|").replace(['\r', '\n'], " "));
            let _ = writeln!(page, "| {} |", cells.join(" | "));
        }
    }
    for note in input.notes {
        let _ = writeln!(page, "\nAccepted changes, {note}.");
    }
    page
}

/// Version of the JSON object; raised when a member changes its meaning or is removed.
const SCHEMA_VERSION: u32 = 1;

fn json(input: RenderInput<'_>) -> String {
    let row = |change: &Change| {
        json!({
            "rule": change.rule.id,
            "verdict": change.rule.verdict.name(),
            "operation": change.operation,
            "direction": change.direction.to_string(),
            "at": change.at,
            "keyword": change.keyword,
            "old": change.old,
            "new": change.new,
            "clauses": change.clauses,
            "services_may_fail": change.rule.services_may_fail,
            "means": change.rule.means,
            "advice": change.rule.advice,
            "witness": input.witness(change),
            "fingerprint": change.fingerprint(),
            "accepted": change.accepted,
        })
    };
    let changes: Vec<Value> = input.diff.changes.iter().map(row).collect();
    let report = json!({
        "schema_version": SCHEMA_VERSION,
        "old": { "name": input.old, "version": input.diff.versions.0 },
        "new": { "name": input.new, "version": input.diff.versions.1 },
        "worst": input.diff.worst().map(Verdict::name),
        "step": input.advice.step.to_string(),
        "asked": {
            "document": input.advice.document.map(|version| version.to_string()),
            "crates": input.advice.crates.map(|version| version.to_string()),
            "is_met": input.advice.is_met,
        },
        "notes": input.notes,
        "changes": changes,
    });
    format!("{report:#}\n")
}

/// Workflow commands of GitHub Actions: one annotation for each change.
fn github(input: RenderInput<'_>) -> String {
    let mut text = String::new();
    for change in &input.diff.changes {
        let level = match change.rule.verdict {
            _ if change.accepted.is_some() => "notice",
            Verdict::Breaking => "error",
            Verdict::Decision => "warning",
            Verdict::Compatible | Verdict::Documentation => "notice",
        };
        // An annotation stands in the newer document; what is gone has no line there.
        let line = change.new.as_ref().map(|found| format!(",line={}", found.line)).unwrap_or_default();
        let title = format!("{}: {}", change.rule.verdict.name(), change.rule.id);
        let operation = change.operation.as_deref().unwrap_or("document");
        let message = format!(
            "{operation}, {}, {}: {}\n{}\nServices: {}. To do: {}\n{} ({})",
            change.direction,
            change.at,
            change.summary(),
            change.rule.means,
            services(change),
            change.rule.advice,
            input.places(change),
            change.fingerprint(),
        );
        text.push_str(&format!(
            "::{level} file={DOCUMENT}{line},title={}::{}\n",
            property(&title),
            escaped(&message)
        ));
    }
    text.push_str(&format!("::notice title=contract::{}\n", escaped(&input.verdict())));
    text
}

/// A message: percent signs and line breaks would end or change the command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property: it also ends at a comma or colon.
fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

/// The changes that callers or services notice, in the sections of Keep a Changelog.
pub(crate) fn changelog(diff: &Diff) -> String {
    let mut text = String::new();
    for section in Section::ALL {
        let mut changes: Vec<_> = diff
            .changes
            .iter()
            .filter(|change| change.rule.section() == section && change.rule.verdict > Verdict::Documentation)
            .collect();
        if changes.is_empty() {
            continue;
        }
        changes.sort_by_key(|change| std::cmp::Reverse(change.rule.verdict));
        let _ = writeln!(text, "### {section:?}");
        for change in changes {
            let operation = change.operation.as_ref().map(|id| format!("`{id}`, ")).unwrap_or_default();
            let breaking = if change.rule.verdict == Verdict::Breaking { "**Breaking.** " } else { "" };
            let _ = writeln!(
                text,
                "- Contract: {breaking}{operation}{} `{}`: {}. {}.",
                change.direction,
                change.at,
                change.summary(),
                sentence(change.rule.means)
            );
        }
        text.push('\n');
    }
    if text.is_empty() {
        text.push_str("No change of the contract concerns callers or services.\n");
    }
    text
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}
