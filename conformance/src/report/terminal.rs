use std::fmt::Write as _;

use super::cause::{Cause, CheckFinding, causes, consequences, folded, headlines, without_cause};
use super::screen::Tone;
use super::words::{
    accepted, cost, counted, detected, discovered, explored, inferred_from, not_noticed, profile_and_budget,
    reason_text, rests_on, run_again, seconds, suite_and_contract, throttled,
};
use super::{Detail, Screen, curl, plain, quantity};
use crate::check::{Evidence, Outcome};
use crate::run::{CheckResult, ExpectationState, FAIL_ON_SKIP, NotJudged, Report, Unresolved, Verdict};

/// One check on one line, with the reason when it has no result, and in a verbose report with its exchanges.
#[must_use]
pub fn check_text(result: &CheckResult, screen: &Screen) -> String {
    let label = format!("{:>width$}", result.outcome.name(), width = Screen::LABELS);
    let coverage = result.coverage().map(|cases| format!(" ({cases})")).unwrap_or_default();
    let line = screen.clipped(&format!("{label} {}{coverage}  {}", result.id, result.title));
    let rest = line.strip_prefix(&label).unwrap_or_default();
    let mut text = format!("{}{rest}\n", screen.paint(tone(&result.outcome), &label));
    if let Some(reason) = result.outcome.reason() {
        text.push_str(&screen.labelled(Tone::Faint, "", reason));
    }
    if screen.detail == Detail::Verbose {
        for Evidence { request, status, failure, elapsed_ms } in &result.evidence {
            let response = match (status, failure) {
                (Some(status), _) => status.to_string(),
                (None, Some(failure)) => failure.clone(),
                (None, None) => "nothing".to_owned(),
            };
            let line = format!("{:17}{request} → {response} ({elapsed_ms} ms)", "");
            let _ = writeln!(text, "{}", screen.paint(Tone::Faint, &screen.clipped(&line)));
        }
    }
    text
}

/// Every finding, with what was required, expected and found, and the command that shows it again. Findings with one likely
/// cause fold beneath it.
#[must_use]
pub fn failures(report: &Report, screen: &Screen) -> String {
    let mut text = String::new();
    for cause in causes(report) {
        cause_text(&mut text, report, &cause, screen);
    }
    for (result, findings) in without_cause(report) {
        heading(&mut text, report, result, screen);
        let shown = if screen.detail == Detail::Verbose { usize::MAX } else { MAX_FINDINGS_PER_CHECK };
        for finding in findings.iter().take(shown) {
            text.push_str(&finding_text(report, (result, finding), screen));
        }
        let more = findings.len().saturating_sub(shown);
        if more > 0 {
            let words =
                format!("{} of this check not shown; see the report or --verbose", quantity(more, "finding"));
            text.push_str(&screen.labelled(Tone::Faint, "and", &words));
        }
    }
    text
}

/// Outcomes counted, broken clauses, cost and verdict.
#[must_use]
pub fn summary(report: &Report, screen: &Screen) -> String {
    let mut text = String::from("\n");
    let mut add = |tone, label: &str, words: &str| text.push_str(&screen.labelled(tone, label, words));
    for clause in report.clauses.iter().filter(|clause| clause.failures > 0) {
        let words = format!("{}: {}", clause.id, quantity(clause.failures, "finding"));
        add(Tone::Bad, "violated", &words);
    }
    for line in accepted(report) {
        add(Tone::Doubtful, "accepted", &line);
    }
    for expectation in &report.expectations {
        let state = match expectation.state {
            ExpectationState::Fails => continue,
            ExpectationState::NoLongerFails => "no longer fails; remove its entry from the configuration",
            ExpectationState::Expired => {
                "is still violated, and the last day of the expected failure has passed"
            }
            ExpectationState::NotChecked => "was expected to fail, but none of its checks has a result",
        };
        add(Tone::Doubtful, "expected", &format!("{} {state}", expectation.clause));
    }
    if screen.detail == Detail::Verbose {
        for result in &report.checks {
            for observation in &result.observations {
                let words = format!("{}: {} ({})", observation.unspecified, observation.text, result.id);
                add(Tone::Faint, "open", &words);
            }
        }
    }
    let inconclusive = Unresolved::inconclusive(&report.checks);
    let max = if screen.detail == Detail::Verbose { usize::MAX } else { MAX_REASONS };
    for line in folded_reasons(inconclusive.iter().map(Unresolved::line).collect(), max) {
        add(Tone::Doubtful, "without result", &line);
    }
    if screen.detail > Detail::Quiet {
        for line in skipped(report, screen) {
            add(Tone::Faint, "skipped", &line);
        }
        let counts = format!("{}: {}", report.totals.all(), counted(report.totals));
        add(Tone::Faint, "checks", &counts);
        if let Some(implementation) = &report.implementation {
            add(Tone::Faint, "tested", implementation);
        }
        add(Tone::Faint, "suite", &suite_and_contract(report));
        add(Tone::Faint, "profile", &profile_and_budget(report));
        for discovered in discovered(report) {
            add(Tone::Faint, "discovered", &discovered);
        }
        if let Some(explored) = explored(report) {
            add(Tone::Faint, "explored", &explored);
        }
        let clauses = format!("{} of {} judged", report.coverage.judged, report.coverage.clauses);
        add(Tone::Faint, "clauses", &clauses);
        // Reasons that leave no clause open stand among what was skipped.
        let open = |reason: &&NotJudged| !reason.clauses.is_empty();
        let reasons: Vec<_> = report.coverage.not_judged.iter().filter(open).map(reason_text).collect();
        for line in folded_reasons(reasons, max) {
            add(Tone::Faint, "not judged", &line);
        }
        add(Tone::Faint, "detection", &detected(&report.detection, "would have noticed"));
        for unlock in not_noticed(report) {
            add(Tone::Faint, "not noticed", &unlock);
        }
        let cost = format!("{} ({:.2} s in checks)", cost(report), seconds(report.busy_ms));
        add(Tone::Faint, "cost", &cost);
    }
    if let Some(line) = throttled(report) {
        add(Tone::Doubtful, "throttled", &line);
    }
    if let Some(line) = run_again(report) {
        add(Tone::Doubtful, "run again", &line);
    }
    if let Some(reason) = &report.stopped {
        add(Tone::Doubtful, "stopped", reason);
    }
    for unmet in &report.unmet {
        add(Tone::Doubtful, "gate not met", unmet);
    }
    let verdict = screen.paint(verdict_tone(report), &report.conclusion);
    let _ = writeln!(text, "{:>16} {} {verdict}", "verdict", plain(&report.target));
    text
}

fn verdict_tone(report: &Report) -> Tone {
    match report.verdict {
        Verdict::Conforms if report.coverage.is_complete() => Tone::Good,
        Verdict::Conforms => Tone::Strong,
        Verdict::Accepted | Verdict::Incomplete => Tone::Doubtful,
        _ => Tone::Bad,
    }
}

/// What was skipped, a line for each reason. Empty where a gate or a verbose report lists it anyway.
fn skipped(report: &Report, screen: &Screen) -> Vec<String> {
    if screen.detail == Detail::Verbose || report.unmet.iter().any(|unmet| unmet.starts_with(FAIL_ON_SKIP)) {
        return Vec::new();
    }
    folded_reasons(Unresolved::skipped(&report.checks).iter().map(Unresolved::line).collect(), MAX_REASONS)
}

/// Maximum number of lines with a reason each, before the rest is counted.
const MAX_REASONS: usize = 8;

fn folded_reasons(mut lines: Vec<String>, max: usize) -> Vec<String> {
    let more = lines.len().saturating_sub(max);
    if more > 0 {
        lines.truncate(max);
        lines.push(format!(
            "for {more} more {}; see the report or --verbose",
            if more == 1 { "reason" } else { "reasons" }
        ));
    }
    lines
}

fn tone(outcome: &Outcome) -> Tone {
    match outcome {
        Outcome::Passed => Tone::Good,
        Outcome::Failed => Tone::Bad,
        Outcome::Skipped(_) => Tone::Faint,
        Outcome::Warning
        | Outcome::Flaky(_)
        | Outcome::ExpectedFailure(_)
        | Outcome::Inconclusive(_)
        | Outcome::Error(_) => Tone::Doubtful,
    }
}

/// Maximum number of findings of a check on a terminal, and maximum size of a command in bytes: one with a batch of as many
/// distinct addresses as are allowed fits.
const MAX_FINDINGS_PER_CHECK: usize = 12;
const MAX_COMMAND_BYTES: usize = 16 * 1024;

fn heading(text: &mut String, report: &Report, result: &CheckResult, screen: &Screen) {
    let heading = format!("{} {}", result.outcome.name(), result.id);
    let _ = writeln!(text, "\n{}", screen.paint(tone(&result.outcome), &heading));
    if let Some(consequences) = consequences(report, result.id) {
        text.push_str(&screen.labelled(Tone::Doubtful, "Consequence", &consequences));
    }
}

/// One headline and one finding for a likely cause; its other findings fold, but in a verbose report.
fn cause_text(text: &mut String, report: &Report, cause: &Cause<'_>, screen: &Screen) {
    text.push('\n');
    for (number, line) in headlines(cause.diagnosis).iter().enumerate() {
        let label = if number == 0 { "likely cause" } else { "" };
        text.push_str(&screen.labelled(Tone::Strong, label, line));
    }
    if let Some(folded) = folded(cause) {
        text.push_str(&screen.labelled(Tone::Faint, "folded", &folded));
    }
    let folded = if screen.detail == Detail::Verbose { cause.folded.as_slice() } else { &[] };
    for (result, finding) in std::iter::once(&cause.first).chain(folded) {
        heading(text, report, result, screen);
        text.push_str(&finding_text(report, (result, finding), screen));
    }
}

fn finding_text(report: &Report, (result, finding): CheckFinding<'_>, screen: &Screen) -> String {
    let quoted = format!("\u{201c}{}\u{201d} ({})", finding.requirement, finding.clause);
    let mut text = screen.labelled(Tone::Faint, "Requirement", &quoted);
    if let Some(inferred) = inferred_from(finding) {
        text.push_str(&screen.labelled(Tone::Faint, "Inference", &inferred));
    }
    text.push_str(&screen.labelled(Tone::Strong, "Expected", &finding.expected));
    text.push_str(&screen.labelled(Tone::Strong, "Actual", &finding.actual));
    if !finding.facts.is_empty() {
        text.push_str(&screen.labelled(Tone::Faint, "Rests on", &rests_on(finding)));
    }
    for index in &finding.exchanges {
        let known = result.exchanges.iter().find(|exchange| exchange.index == *index);
        let Some(exchange) = known else { continue };
        // Commands are copied, so they are not wrapped. One that fills the screen would hide everything else.
        let mut command = curl::command(&report.target, exchange);
        if command.len() > MAX_COMMAND_BYTES && screen.detail != Detail::Verbose {
            let size = quantity(command.len(), "byte");
            command =
                format!("# a command of {size}, which the reports, --verbose and conformance replay show");
        }
        let label = screen.paint(Tone::Faint, &format!("{:>16}", "Reproduce"));
        let _ = writeln!(text, "{label} {}", plain(&command));
    }
    text
}
