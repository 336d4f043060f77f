//! Writes the changes for people, for other programs, for GitHub and for a changelog.

mod changelog;
mod github;
mod json;
mod markdown;
mod text;

pub(crate) use changelog::changelog;

use super::{
    Change, Diff, SourceValue,
    version::VersionAdvice,
    witness::{Witness, witness},
};

/// What the renderers show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenderInput<'a> {
    pub(crate) diff: &'a Diff,
    pub(crate) asked: &'a VersionAdvice,
    /// What the older document is called: a file, or a revision.
    pub(crate) old: &'a str,
    /// What the newer document is called.
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
pub(crate) fn render(shown: RenderInput<'_>, format: Format) -> String {
    match format {
        Format::Text => text::render(shown),
        Format::Md => markdown::render(shown),
        Format::Json => json::render(shown),
        Format::Github => github::render(shown),
    }
}

impl RenderInput<'_> {
    /// `old:12 → new:14`, or the one that there is.
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
        let mut found = Vec::new();
        for change in &self.diff.changes {
            let operation = change.operation.as_deref();
            if !found.contains(&operation) {
                found.push(operation);
            }
        }
        found
    }

    /// How many changes there are, and what they ask for.
    fn verdict(&self) -> String {
        let count =
            |verdict| self.diff.changes.iter().filter(|change| change.rule.verdict == verdict).count();
        let counts: Vec<String> = super::Verdict::ALL
            .iter()
            .map(|verdict| (count(*verdict), verdict.name()))
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        let accepted = self.diff.changes.iter().filter(|change| change.accepted.is_some()).count();
        let accepted = if accepted > 0 { format!(", {accepted} of them accepted") } else { String::new() };
        if counts.is_empty() { "no changes".to_owned() } else { format!("{}{accepted}", counts.join(", ")) }
    }

    /// The version step that the changes ask for; `None` without one.
    fn step(&self) -> Option<String> {
        let asked = self.asked;
        if asked.step == super::version::Step::None {
            return None;
        }
        let found = &self.diff.versions.1;
        let document = asked.document.map_or_else(
            || format!("`info.version` must be three numbers, found `{}`", self.diff.versions.0),
            |version| {
                let met = if asked.is_met { "as it is" } else { "it is still" };
                format!("`info.version` {version} or higher; {met} `{found}`")
            },
        );
        let crates =
            asked.crates.map(|version| format!("; crates {version}, if the present version is published"));
        Some(format!("{} step: {document}{}", asked.step.name(), crates.unwrap_or_default()))
    }
}

/// What the change means for services that conformed.
fn services(change: &Change) -> &'static str {
    if change.rule.services_may_fail { "may fail the new suite" } else { "not affected" }
}
