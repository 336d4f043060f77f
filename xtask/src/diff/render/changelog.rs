//! A section for CHANGELOG.md.

use std::fmt::Write;

use crate::diff::{Diff, Verdict, rules::Section};

/// The changes that callers or services notice, in the sections of Keep a Changelog.
pub(crate) fn changelog(diff: &Diff) -> String {
    let mut text = String::new();
    for section in Section::ALL {
        let mut changes: Vec<_> = diff
            .changes
            .iter()
            .filter(|change| change.rule.section == section && change.rule.verdict > Verdict::Documentation)
            .collect();
        if changes.is_empty() {
            continue;
        }
        changes.sort_by_key(|change| std::cmp::Reverse(change.rule.verdict));
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "### {}", section.name());
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
