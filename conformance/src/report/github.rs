//! Workflow commands of GitHub Actions: annotations of a job, and its summary.

use super::cause::{CheckFinding, Group, consequences, folded, groups, headlines};
use super::markdown::markdown_within;
use super::words::{counted, inference, line};
use super::{plain_lines, quantity};
use crate::check::{Finding, Outcome, Severity};
use crate::run::{CheckResult, Report, Unresolved};

/// Maximum number of annotations of one level that GitHub shows for a step; it drops the others.
const MAX_ANNOTATIONS_PER_LEVEL: usize = 10;

/// Maximum size of a job summary in bytes. GitHub rejects more than 1 MiB.
const MAX_SUMMARY_BYTES: usize = 1_000_000;

/// What a report says in annotations: an error for each likely cause and for each other check that failed, a warning for what
/// is doubtful or has no result, and a notice with the verdict.
pub(super) fn github(report: &Report) -> String {
    let mut errors: Vec<Annotation> = Vec::new();
    let mut warnings: Vec<Annotation> = Vec::new();
    let groups = groups(report, false);
    let has_cause = |group: &&Group<'_>| group.diagnosis.is_some();
    let causes =
        groups.iter().filter(has_cause).map(|group| (group.example, &*group.others, group.diagnosis));
    let rest: Vec<_> = groups.iter().filter(|group| !has_cause(group)).map(|group| group.example).collect();
    let is_error = |(result, finding): &CheckFinding<'_>| {
        result.outcome == Outcome::Failed && finding.severity == Severity::Fail
    };
    let of_check = rest.chunk_by(|(one, _), (other, _)| one.id == other.id).filter_map(|findings| {
        let first = findings.iter().find(|finding| is_error(finding)).or(findings.first())?;
        Some((*first, findings, None))
    });
    for (first, findings, diagnosis) in causes.chain(of_check) {
        let (result, finding) = first;
        let cause = diagnosis.map(|one| format!("Likely cause: {}\n", headlines(one).join("; ")));
        let mut message = cause.unwrap_or_default() + &finding_text(report, result, finding);
        if diagnosis.is_some() {
            message.extend(folded(findings).map(|folded| format!("\n{folded}")));
        } else if findings.len() > 1 {
            let count = quantity(findings.len(), "finding");
            message.push_str(&format!("\n{count} of this check in the report"));
        }
        match result.outcome {
            // The tester knows of it and accepts it; the summary says so.
            Outcome::ExpectedFailure(_) => {}
            _ if is_error(&first) => {
                errors.push(Annotation { title: format!("{} is violated", finding.clause), message });
            }
            _ => warnings.push(Annotation { title: format!("{} is in doubt", finding.clause), message }),
        }
    }
    // One for all gates: `--fail-on-skip` alone has a line for each reason.
    let unmet = (!report.unmet.is_empty()).then(|| ("gate not met", report.unmet.join("\n")));
    let stopped = report.stopped.clone().map(|reason| ("run ended early", reason));
    for (title, message) in unmet.into_iter().chain(stopped) {
        // These decide the exit code as findings do, so they must not be dropped.
        errors.insert(0, Annotation { title: title.to_owned(), message });
    }
    for group in Unresolved::inconclusive(&report.checks) {
        let first = group.ids().next().unwrap_or_default();
        let title = format!("{}: {first}", group.outcome.name());
        warnings.push(Annotation { title, message: group.line() });
    }
    warnings.extend(report.checks.iter().filter_map(flaky));

    let mut text = String::new();
    push(&mut text, "error", &errors);
    push(&mut text, "warning", &warnings);
    let level = if report.verdict.prevents_testing() { "error" } else { "notice" };
    let mut message = format!("{}: {}; checks: {}", report.target, report.conclusion, counted(report.totals));
    if let Some(throttled) = line(report, "throttled") {
        message.push_str(&format!("; {throttled}"));
    }
    text.push_str(&Annotation { title: "conformance".to_owned(), message }.command(level));
    text
}

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

struct Annotation {
    title: String,
    message: String,
}

impl Annotation {
    fn command(&self, level: &str) -> String {
        let Self { title, message } = self;
        format!("::{level} title={}::{}\n", property(&plain_lines(title)), escaped(&plain_lines(message)))
    }
}

/// The first annotations of a level; the last one counts those that GitHub would drop.
fn push(text: &mut String, level: &str, annotations: &[Annotation]) {
    let shown = if annotations.len() > MAX_ANNOTATIONS_PER_LEVEL {
        MAX_ANNOTATIONS_PER_LEVEL - 1
    } else {
        annotations.len()
    };
    for annotation in &annotations[..shown] {
        text.push_str(&annotation.command(level));
    }
    let more = annotations.len() - shown;
    if more > 0 {
        let message = format!("{more} more; see the job summary or the report");
        text.push_str(&Annotation { title: "more findings".to_owned(), message }.command(level));
    }
}

fn finding_text(report: &Report, result: &CheckResult, finding: &Finding) -> String {
    let Finding { requirement, expected, actual, .. } = finding;
    let inferred = inference(finding);
    let consequences =
        consequences(report, result.id).map(|text| format!("\nConsequence: {text}")).unwrap_or_default();
    format!(
        "{} ({})\nRequirement: {requirement}{inferred}\nExpected: {expected}\nActual: {actual}{consequences}\nconformance explain {}",
        result.title, result.id, finding.clause
    )
}

/// Skipped checks stand in the summary alone: a missing fact is no fault of the commit.
fn flaky(result: &CheckResult) -> Option<Annotation> {
    let Outcome::Flaky(reason) = &result.outcome else { return None };
    let title = format!("{}: {}", result.outcome.name(), result.id);
    Some(Annotation { title, message: reason.clone() })
}

/// A message: percent signs and line breaks would end or change the command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property: it also ends at a comma or colon.
fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_a_command_or_begin_one() {
        let annotation = Annotation { title: "a:b,c%\n::x".into(), message: "1%\r\n::error::2\u{1b}".into() };
        assert_eq!(
            annotation.command("error"),
            "::error title=a%3Ab%2Cc%25%0A%3A%3Ax::1%25\\u{d}%0A::error::2\\u{1b}\n"
        );
    }

    #[test]
    fn what_github_would_drop_is_counted() {
        let annotations = |count: usize| -> Vec<Annotation> {
            (0..count).map(|number| Annotation { title: number.to_string(), message: "m".into() }).collect()
        };
        let shown = |count| {
            let mut text = String::new();
            push(&mut text, "error", &annotations(count));
            text
        };
        assert_eq!(shown(10).lines().count(), 10);
        assert_eq!(shown(12).lines().count(), 10);
        assert!(
            shown(12).ends_with("::error title=more findings::3 more; see the job summary or the report\n")
        );
    }
}
