use std::fmt::Write as _;

use super::cause::{Cause, causes, folded, headlines, without_cause};
use super::terminal::{
    counted, detected, explored, inferred_from, not_judged, not_noticed, profile_and_budget, rests_on,
    run_again, suite_and_contract, throttled, verdict_words,
};
use super::{curl, plain, quantity};
use crate::check::{Finding, Outcome};
use crate::run::{CheckResult, ExpectationState, Report};

/// The report as a summary in Markdown, for instance for a pull request.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut text = format!("# Conformance: {}\n\n", verdict_words(report));
    let _ = writeln!(text, "- target: {}", code(&report.target));
    if let Some(implementation) = &report.implementation {
        let _ = writeln!(text, "- tested: {}", escaped(implementation));
    }
    let _ = writeln!(text, "- {}", suite_and_contract(report));
    let _ = writeln!(text, "- profile {}", profile_and_budget(report));
    let _ = writeln!(text, "- checks: {}: {}", report.totals.all(), counted(report.totals));
    let _ = writeln!(text, "- clauses: {} of {} judged", report.coverage.judged, report.coverage.clauses);
    for reason in not_judged(report) {
        let _ = writeln!(text, "  - not judged: {}", escaped(&reason));
    }
    let _ = writeln!(text, "- detection: {}", detected(&report.detection, "would have noticed"));
    for reason in not_noticed(report) {
        let _ = writeln!(text, "  - not noticed: {}", escaped(&reason));
    }
    for unmet in &report.unmet {
        let _ = writeln!(text, "- gate not met: {}", escaped(unmet));
    }
    let usage = report.usage;
    let _ = writeln!(
        text,
        "- cost: {}, {}, {:.2} s",
        quantity(usage.requests, "request"),
        quantity(usage.gateways, "gateway"),
        report.elapsed_ms as f64 / 1000.0
    );
    if let Some(line) = explored(report) {
        let _ = writeln!(text, "- explored: {line}");
    }
    if let Some(line) = throttled(report) {
        let _ = writeln!(text, "- throttled: {}", escaped(&line));
    }
    if let Some(line) = run_again(report) {
        let _ = writeln!(text, "- run again: {}", escaped(&line));
    }
    if let Some(reason) = &report.stopped {
        let _ = writeln!(text, "- stopped: {}", escaped(reason));
    }
    let broken = report.clauses.iter().filter(|clause| clause.failures > 0);
    let rows: Vec<String> = broken
        .map(|clause| format!("| `{}` | {} | {} |", clause.id, escaped(&clause.text), clause.failures))
        .collect();
    if !rows.is_empty() {
        let _ = write!(
            text,
            "\n## Violated clauses\n\n| clause | rule | findings |\n|---|---|---|\n{}\n",
            rows.join("\n")
        );
    }
    expectations(&mut text, report);
    let causes = causes(report);
    if !causes.is_empty() {
        text.push_str("\n## Likely causes\n");
    }
    for cause in causes {
        cause_text(&mut text, report, &cause);
    }
    let without_cause = without_cause(report);
    if !without_cause.is_empty() {
        text.push_str("\n## Findings\n");
    }
    for (result, findings) in without_cause {
        heading(&mut text, result);
        for finding in findings {
            finding_text(&mut text, report, result, finding);
        }
    }
    reasons(&mut text, report);
    partly(&mut text, report);
    text
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

fn heading(text: &mut String, result: &CheckResult) {
    let coverage = result.coverage().map(|cases| format!(", {cases}")).unwrap_or_default();
    let _ = writeln!(text, "\n### `{}` ({}{coverage})\n", result.id, result.outcome.name());
    let _ = writeln!(text, "{}\n", escaped(result.why));
}

/// The findings of a likely cause: the first one, and the others in a part that opens.
fn cause_text(text: &mut String, report: &Report, cause: &Cause<'_>) {
    text.push('\n');
    for line in headlines(cause.diagnosis) {
        let _ = writeln!(text, "- {}", escaped(&line));
    }
    let (result, finding) = cause.first;
    heading(text, result);
    finding_text(text, report, result, finding);
    let Some(folded) = folded(cause) else { return };
    let _ = writeln!(text, "<details><summary>{}</summary>", escaped(&folded));
    let mut check = result.id;
    for (result, finding) in &cause.folded {
        if result.id != check {
            heading(text, result);
            check = result.id;
        }
        text.push('\n');
        finding_text(text, report, result, finding);
    }
    text.push_str("</details>\n");
}

fn finding_text(text: &mut String, report: &Report, result: &CheckResult, finding: &Finding) {
    let _ = writeln!(text, "> {} (`{}`)\n", escaped(&finding.requirement), finding.clause);
    if let Some(inferred) = inferred_from(finding) {
        let _ = writeln!(text, "- {}", escaped(&inferred));
    }
    let _ = writeln!(text, "- expected: {}", escaped(&finding.expected));
    let _ = writeln!(text, "- actual: {}", escaped(&finding.actual));
    if !finding.facts.is_empty() {
        let _ = writeln!(text, "- rests on: {}", escaped(&rests_on(finding)));
    }
    for exchange in result.exchanges.iter().filter(|exchange| finding.exchanges.contains(&exchange.index)) {
        let command = curl::command(&report.target, exchange);
        let fence = fence(&command);
        let _ = writeln!(text, "\n{fence}sh\n{command}\n{fence}");
    }
    text.push('\n');
}

/// Checks without a result, grouped by their reason, so that a missing fact is one line.
fn reasons(text: &mut String, report: &Report) {
    let mut reasons: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for result in &report.checks {
        let (Outcome::Skipped(reason) | Outcome::Inconclusive(reason) | Outcome::Error(reason)) =
            &result.outcome
        else {
            continue;
        };
        let word = result.outcome.name();
        match reasons.iter_mut().find(|(known, same, _)| *known == word && same == reason) {
            Some((_, _, checks)) => checks.push(result.id),
            None => reasons.push((word, reason, vec![result.id])),
        }
    }
    if reasons.is_empty() {
        return;
    }
    text.push_str("\n## Without a result\n\n");
    for (word, reason, checks) in reasons {
        let checks: Vec<_> = checks.iter().map(|check| format!("`{check}`")).collect();
        let _ = writeln!(text, "- {word}: {} — {}", escaped(reason), checks.join(", "));
    }
}

/// Checks of which some cases were skipped: what they say holds for the others.
fn partly(text: &mut String, report: &Report) {
    let rows: Vec<String> = report
        .checks
        .iter()
        .filter_map(|result| Some(format!("- `{}`: {}\n", result.id, result.coverage()?)))
        .collect();
    if !rows.is_empty() {
        let _ = write!(text, "\n## Checked in part\n\n{}", rows.concat());
    }
}

/// Text that stays text, on one line, in a table too.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in plain(&text.replace(['\n', '\r'], " ")).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' | '~' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

fn code(text: &str) -> String {
    format!("`{}`", plain(text).replace('`', "'"))
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
        assert_eq!(fence("a ```` b"), "`````");
    }
}
