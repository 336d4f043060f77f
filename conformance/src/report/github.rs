//! Workflow commands of GitHub Actions, and the summary of a job.

use super::markdown::markdown_within;
use super::plain_lines;
use crate::run::Report;

/// Maximum size of a job summary in bytes. GitHub rejects more than 1 MiB.
const MAX_SUMMARY_BYTES: usize = 1_000_000;

/// The report in Markdown, within the size that GitHub takes.
///
/// # Errors
/// When it can't be rendered, which would be a bug of the suite.
pub fn job_summary(report: &Report) -> Result<String, minijinja::Error> {
    markdown_within(report, MAX_SUMMARY_BYTES)
}

/// Two commands that keep text between them from being taken for commands: what a service says may look like one. `token` is a
/// word that the service cannot guess.
#[must_use]
pub fn without_commands(token: &str) -> (String, String) {
    (format!("::stop-commands::{token}\n"), format!("::{token}::\n"))
}

/// The text of a command: percent signs and line breaks would end or change it.
pub(super) fn command_text(text: &str) -> String {
    plain_lines(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command, which also ends at a comma or colon.
pub(super) fn property(text: &str) -> String {
    command_text(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use minijinja::{Value, context};

    use super::*;
    use crate::report::template::{render, template};

    #[test]
    fn text_cannot_end_a_command_or_begin_one() {
        assert_eq!(property("a:b,c%\n::x"), "a%3Ab%2Cc%25%0A%3A%3Ax");
        assert_eq!(command_text("1%\r\n::error::2\u{1b}"), "1%25\\u{d}%0A::error::2\\u{1b}");
    }

    #[test]
    fn what_github_would_drop_is_counted() {
        let shown = |count: usize| -> Vec<String> {
            let one = |number: usize| context! { word => "error", checks => [number], line => "m" };
            let (none, open) = (Vec::<Value>::new(), (0..count).map(one).collect::<Vec<_>>());
            let view = context! {
                report => context! { checks => &none }, said => context! {}, causes => &none, findings => &none, inconclusive => open,
            };
            let text = render(template!("templates/annotations.github"), view).expect("annotations");
            text.lines().filter(|line| line.starts_with("::warning ")).map(str::to_owned).collect()
        };
        assert_eq!(shown(10).len(), 10);
        assert_eq!(shown(12).len(), 10);
        let last = "::warning title=more findings::3 more; see the job summary or the report";
        assert_eq!(shown(12).last().map(String::as_str), Some(last));
    }
}
