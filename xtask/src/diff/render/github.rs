//! Workflow commands of GitHub Actions: one annotation for each change.

use super::{RenderInput, services};
use crate::{diff::Verdict, problem::DOCUMENT};

pub(super) fn render(shown: RenderInput<'_>) -> String {
    let mut text = String::new();
    for change in &shown.diff.changes {
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
            shown.places(change),
            change.fingerprint(),
        );
        text.push_str(&format!(
            "::{level} file={DOCUMENT}{line},title={}::{}\n",
            property(&title),
            escaped(&message)
        ));
    }
    text.push_str(&format!("::notice title=contract::{}\n", escaped(&shown.verdict())));
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
