use std::fmt::Write as _;

use super::cause::{Cause, causes, consequences, folded, headlines, without_cause};
use super::words::{changes, evidence_command, inferred_from, not_judged, not_noticed, rests_on, run_lines};
use super::{curl, plain, plain_lines, quantity};
use crate::check::Finding;
use crate::run::{CheckResult, ExpectationState, FindingChange, Report, Unresolved};

/// Maximum length of a pull request comment on GitHub (65,536 characters), less some for what CI adds to it.
const MAX_COMMENT_CHARACTERS: usize = 65_000;

/// Maximum size of a command in a text of limited length. A longer one would leave no room for its finding.
const MAX_COMMAND_BYTES: usize = 4_000;

/// The report as a summary in Markdown, for instance for a pull request.
#[must_use]
pub fn markdown(report: &Report) -> String {
    Page::new(report, usize::MAX).text
}

/// The same, cut to the length of a pull request comment.
#[must_use]
pub fn comment(report: &Report) -> String {
    markdown_within(report, MAX_COMMENT_CHARACTERS)
}

/// The same, cut to `max_bytes`.
pub(super) fn markdown_within(report: &Report, max_bytes: usize) -> String {
    Page::new(report, MAX_COMMAND_BYTES).within(max_bytes)
}

/// A text and the places where it can be cut.
#[derive(Debug, Default)]
struct Page {
    text: String,
    cuts: Vec<Cut>,
    /// Findings so far.
    findings: usize,
    /// Whether a `<details>` element is open.
    is_folded: bool,
    /// Maximum size of a command that is shown, in bytes.
    max_command_bytes: usize,
}

/// A place before a finding, a heading or a list item, where no code block is open.
#[derive(Debug, Clone, Copy)]
struct Cut {
    at: usize,
    findings: usize,
    is_folded: bool,
}

impl Page {
    fn new(report: &Report, max_command_bytes: usize) -> Self {
        let mut page = Self { text: head(report), max_command_bytes, ..Self::default() };
        page.cut();
        let causes = causes(report);
        if !causes.is_empty() {
            page.text.push_str("\n## Likely causes\n");
        }
        for cause in causes {
            page.cause(report, &cause);
        }
        let without_cause = without_cause(report);
        if !without_cause.is_empty() {
            page.cut();
            page.text.push_str("\n## Findings\n");
        }
        for (result, findings) in without_cause {
            page.cut();
            heading(&mut page.text, report, result);
            for (number, finding) in findings.iter().enumerate() {
                // The cut of the first one is before the heading.
                if number > 0 {
                    page.cut();
                }
                page.finding(report, result, finding);
            }
        }
        page.cut();
        let changed =
            changes(report, &[FindingChange::New, FindingChange::Fixed, FindingChange::NotReproduced]);
        page.list("Changes", changed.into_iter().map(item).collect());
        page.cut();
        expectations(&mut page.text, report);
        page.list("Without a result", grouped(Unresolved::inconclusive(&report.checks)));
        page.cut();
        page.text.push_str("\n## The run\n\n");
        write_lines(&mut page.text, run_lines(report));
        page.folded("Not judged", not_judged(report).map(item).collect());
        page.folded("Not noticed", not_noticed(report).map(item).collect());
        page.folded("Skipped", grouped(Unresolved::skipped(&report.checks)));
        page
    }

    fn cut(&mut self) {
        let Self { ref text, findings, is_folded, .. } = *self;
        let since = text[self.cuts.last().map_or(0, |cut| cut.at)..].trim();
        // Do not cut between a heading and its content.
        if since.starts_with("## ") && !since.contains('\n') {
            return;
        }
        self.cuts.push(Cut { at: text.len(), findings, is_folded });
    }

    fn finding(&mut self, report: &Report, result: &CheckResult, finding: &Finding) {
        let text = &mut self.text;
        let _ = writeln!(text, "> {} (`{}`)\n", escaped(&finding.requirement), finding.clause);
        if let Some(inferred) = inferred_from(finding) {
            let _ = writeln!(text, "- {}", escaped(&inferred));
        }
        let _ = writeln!(text, "- expected: {}", escaped(&finding.expected));
        let _ = writeln!(text, "- actual: {}", escaped(&finding.actual));
        if !finding.facts.is_empty() {
            let _ = writeln!(text, "- rests on: {}", escaped(&rests_on(finding)));
        }
        for exchange in result.exchanges.iter().filter(|exchange| finding.exchanges.contains(&exchange.index))
        {
            let command = curl::command(&report.target, exchange);
            if command.len() > self.max_command_bytes {
                let size = quantity(command.len(), "byte");
                let _ = writeln!(
                    text,
                    "\nThe request is left out, because its command has {size}; reports in other formats have it."
                );
                continue;
            }
            let _ = writeln!(text, "\n{}", fenced("sh", &command));
        }
        let _ = writeln!(text, "\nAs one file to send: {}\n", code(&evidence_command(result, finding)));
        self.findings += 1;
    }

    /// The findings of a likely cause: the first one, and the others in a `<details>` element.
    fn cause(&mut self, report: &Report, cause: &Cause<'_>) {
        self.cut();
        self.text.push('\n');
        for line in headlines(cause.diagnosis) {
            let _ = writeln!(self.text, "- {}", escaped(&line));
        }
        let (result, finding) = cause.first;
        heading(&mut self.text, report, result);
        self.finding(report, result, finding);
        let Some(folded) = folded(cause) else { return };
        self.cut();
        let _ = writeln!(self.text, "<details><summary>{}</summary>", escaped(&folded));
        self.is_folded = true;
        let mut check = result.id;
        for (result, finding) in &cause.folded {
            self.cut();
            if result.id != check {
                heading(&mut self.text, report, result);
                check = result.id;
            }
            self.text.push('\n');
            self.finding(report, result, finding);
        }
        self.text.push_str("</details>\n");
        self.is_folded = false;
    }

    fn list(&mut self, title: &str, lines: Vec<String>) {
        if lines.is_empty() {
            return;
        }
        self.cut();
        let _ = write!(self.text, "\n## {title}\n\n");
        for (number, line) in lines.into_iter().enumerate() {
            if number > 0 {
                self.cut();
            }
            self.text.push_str(&line);
        }
    }

    /// A list in a `<details>` element.
    fn folded(&mut self, title: &str, lines: Vec<String>) {
        if lines.is_empty() {
            return;
        }
        self.cut();
        let _ = write!(self.text, "\n<details><summary>{title} ({})</summary>\n\n", lines.len());
        self.is_folded = true;
        for line in lines {
            self.cut();
            self.text.push_str(&line);
        }
        self.text.push_str("\n</details>\n");
        self.is_folded = false;
    }

    /// The text, cut to `max_bytes`, with a note about what is left out.
    fn within(mut self, max_bytes: usize) -> String {
        /// Room for the note at the end, in bytes.
        const END: usize = 200;
        if self.text.len() <= max_bytes {
            return self.text;
        }
        let room = max_bytes.saturating_sub(END);
        let fitting = self.cuts.iter().rev().find(|cut| cut.at <= room);
        // Without a cut that fits, the text consists of reasons, one per line: cut at a line.
        let beginning =
            || self.text[..self.text.floor_char_boundary(room)].rfind('\n').map_or(0, |end| end + 1);
        let Cut { at, findings, is_folded } =
            fitting.copied().unwrap_or_else(|| Cut { at: beginning(), findings: 0, is_folded: false });
        self.text.truncate(at);
        if is_folded {
            self.text.push_str("</details>\n");
        }
        let left_out = match self.findings - findings {
            0 => "No finding is left out, but other lines are".to_owned(),
            1 => "1 finding is left out".to_owned(),
            more => format!("{more} findings are left out"),
        };
        let _ = write!(
            self.text,
            "\n**{left_out}, because the text would be too long.** The reports in other formats have everything.\n"
        );
        self.text
    }
}

/// Everything before the findings: what is tested, and why there is no verdict.
fn head(report: &Report) -> String {
    let mut text = format!("# Conformance: {}\n\n", report.conclusion);
    let _ = writeln!(text, "- target: {}", code(&report.target));
    let labelled = |label: &'static str| move |line: &String| (label, line.clone());
    let lines = report.implementation.iter().map(labelled("tested"));
    let lines = lines.chain(report.stopped.iter().map(labelled("stopped")));
    write_lines(&mut text, lines.chain(report.unmet.iter().map(labelled("gate not met"))));
    let broken = report.clauses.iter().filter(|clause| clause.failures > 0);
    let rows: Vec<String> = broken
        .map(|clause| format!("| `{}` | {} | {} |", clause.id, escaped(&clause.text), clause.failures))
        .collect();
    if !rows.is_empty() {
        let _ = write!(text, "\n| violated clause | rule | findings |\n|---|---|---|\n{}\n", rows.join("\n"));
    }
    text
}

fn write_lines(text: &mut String, lines: impl IntoIterator<Item = (&'static str, String)>) {
    for (label, line) in lines {
        let _ = writeln!(text, "- {label}: {}", escaped(&line));
    }
}

fn expectations(text: &mut String, report: &Report) {
    if report.expectations.is_empty() {
        return;
    }
    text.push_str("\n## Expected failures\n\n| clause | until | reason | now |\n|---|---|---|---|\n");
    for expectation in &report.expectations {
        let now = match expectation.state {
            ExpectationState::Fails => "fails, as expected",
            ExpectationState::NoLongerFails => "no longer fails; remove the entry",
            ExpectationState::Expired => "expired, and still fails",
            ExpectationState::NotChecked => "not checked",
        };
        let reason = escaped(&expectation.reason);
        let _ = writeln!(text, "| `{}` | {} | {reason} | {now} |", expectation.clause, expectation.until);
    }
}

fn heading(text: &mut String, report: &Report, result: &CheckResult) {
    let coverage = result.coverage().map(|cases| format!(", {cases}")).unwrap_or_default();
    let _ = writeln!(text, "\n### `{}` ({}{coverage})\n", result.id, result.outcome.name());
    let _ = writeln!(text, "{}\n", escaped(result.why));
    if let Some(consequences) = consequences(report, result.id) {
        let _ = writeln!(text, "Consequence: {}\n", escaped(&consequences));
    }
}

fn item(text: String) -> String {
    format!("- {}\n", escaped(&text))
}

/// A line for each reason without a result.
fn grouped(groups: Vec<Unresolved<'_>>) -> Vec<String> {
    let line = |group: Unresolved<'_>| {
        let ids: Vec<_> = group.ids().map(code).collect();
        format!("- {}: {} — {}\n", group.outcome.name(), escaped(group.reason), ids.join(", "))
    };
    groups.into_iter().map(line).collect()
}

/// Escapes text for Markdown, on one line, also in a table. What a reader would take for a mention, a reference or a link, which
/// no escape stops, becomes code.
pub(super) fn escaped(text: &str) -> String {
    const ACTIVE: [&str; 5] = ["@", "#", "://", "www.", "gh-"];
    let mut escaped = String::with_capacity(text.len());
    for word in plain(&text.replace(['\n', '\r'], " ")).split_inclusive(' ') {
        let lower = word.to_ascii_lowercase();
        if ACTIVE.iter().any(|active| lower.contains(active)) {
            let (word, end) = word.strip_suffix(' ').map_or((word, ""), |word| (word, " "));
            escaped.push_str(&code(&word.replace('|', "\\|")));
            escaped.push_str(end);
            continue;
        }
        for c in word.chars() {
            if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '&' | '~') {
                escaped.push('\\');
            }
            escaped.push(c);
        }
    }
    escaped
}

/// Text as code, in which nothing is active.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", plain(text).replace('`', "'"))
}

/// A block of code.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let fence = fence(text);
    format!("{fence}{language}\n{}\n{fence}", plain_lines(text).trim_end())
}

/// A fence longer than any run of backticks inside.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_stays_text() {
        assert_eq!(escaped("<b>|a`\nb"), r"\<b\>\|a\` b");
        assert_eq!(
            escaped("(@org/team) is #1, *see* https://a.invalid/`|x  WWW.a.invalid or GH-7\n"),
            r"`(@org/team)` is `#1,` \*see\* `https://a.invalid/'\|x`  `WWW.a.invalid` or `GH-7` "
        );
        assert_eq!(fence("a ```` b"), "`````");
    }

    /// Ten findings of 100 bytes, the last five in a `<details>` element.
    fn page() -> Page {
        let mut page = Page { text: "# Head\n".to_owned(), ..Page::default() };
        for number in 0..10 {
            page.cut();
            if number == 5 {
                page.text.push_str("<details>\n");
                page.is_folded = true;
                page.cut();
            }
            page.text.push_str(&format!("```sh\ncurl {number}{}\n```\n", "x".repeat(84)));
            page.findings += 1;
        }
        page.text.push_str("</details>\n");
        page.is_folded = false;
        page.list("Without a result", vec!["- one\n".to_owned(), "- two\n".to_owned()]);
        page
    }

    #[test]
    fn a_text_is_cut_before_a_finding_and_counts_those_left_out() {
        let whole = page().text;
        assert_eq!(page().within(whole.len()), whole);
        for longest in 210..whole.len() {
            let cut = page().within(longest);
            assert!(cut.len() <= longest, "{} of {longest}", cut.len());
            assert_eq!(cut.matches("```").count() % 2, 0, "{cut}");
            assert_eq!(cut.matches("<details>").count(), cut.matches("</details>").count(), "{cut}");
            let shown = cut.matches("curl ").count();
            let said = match 10 - shown {
                0 => "No finding is left out".to_owned(),
                1 => "**1 finding is left out".to_owned(),
                more => format!("**{more} findings are left out"),
            };
            assert!(cut.contains(&said), "{said} in {cut}");
        }
    }
}
