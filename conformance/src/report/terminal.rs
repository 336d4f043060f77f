use std::fmt::Write as _;

use super::cause::{CheckFinding, Group, consequences, folded, groups, headlines};
use super::screen::Tone;
use super::words::{evidence_command, id, inferred_from, lines, rests_on, seconds};
use super::{Detail, Screen, curl, plain, quantity};
use crate::check::{Evidence, Outcome};
use crate::run::{CheckResult, Report, Verdict};

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

/// Every finding, with what was required, expected and found, and the command that shows it again. Findings with one likely cause, or that
/// say the same, fold beneath one of them, but in a verbose report.
#[must_use]
pub fn failures(report: &Report, screen: &Screen) -> String {
    let is_verbose = screen.detail == Detail::Verbose;
    let shown = if is_verbose { usize::MAX } else { MAX_FINDINGS_PER_CHECK };
    let mut text = String::new();
    let is_of_check = |one: &Group<'_>, other: &Group<'_>| {
        one.diagnosis.or(other.diagnosis).is_none() && one.example.0.id == other.example.0.id
    };
    for groups in groups(report, !is_verbose).chunk_by(is_of_check) {
        let mut last = "";
        for group in groups.iter().take(shown) {
            group_text(&mut text, report, group, &mut last, screen);
        }
        let more: usize = groups.iter().skip(shown).map(|group| 1 + group.others.len()).sum();
        if more > 0 {
            let words =
                format!("{} not shown; see the report or --verbose", quantity(more, "further finding"));
            text.push_str(&screen.labelled(Tone::Faint, "and", &words));
        }
    }
    text
}

/// The findings of a check.
pub(super) fn check_failures(report: &Report, result: &CheckResult, screen: &Screen) -> String {
    let mut text = String::new();
    heading(&mut text, report, result, screen);
    text.extend(result.findings.iter().map(|finding| finding_text(report, (result, finding), screen)));
    text
}

/// The verdict, then what it rests on: coverage and detection in words, what would raise them most, and the cost. A verbose report
/// adds why each clause was not judged.
#[must_use]
pub fn summary(report: &Report, screen: &Screen) -> String {
    let is_verbose = screen.detail == Detail::Verbose;
    let mut text = String::from("\n");
    let verdict = screen.paint(verdict_tone(report), &report.conclusion);
    let tested = report.implementation.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let _ = writeln!(text, "{:>16} {} {verdict}", "verdict", plain(&format!("{}{tested}", report.target)));
    let busy = is_verbose.then(|| seconds(report.busy_ms));
    for lines in lines(report, busy).chunk_by(|(one, _), (other, _)| one == other) {
        let label = lines.first().map_or("", |(label, _)| label.as_str());
        let (tone, is_shown) = match label {
            "violated" => (Tone::Bad, true),
            "stopped" | "gate not met" | "accepted" | "expected" | "changed" | "without result"
            | "throttled" | "run again" => (Tone::Doubtful, true),
            "not judged" | "not noticed" | "open" | "suite" => (Tone::Faint, is_verbose),
            "to judge more" => (Tone::Faint, screen.detail == Detail::Normal),
            "begun" => (Tone::Faint, false),
            _ => (Tone::Faint, screen.detail > Detail::Quiet),
        };
        // These decide the exit code, so none is folded.
        let decides = matches!(label, "stopped" | "gate not met" | "violated");
        let shown = if is_verbose || decides { lines.len() } else { MAX_REASONS };
        for (_, line) in lines.iter().take(shown).filter(|_| is_shown) {
            text.push_str(&screen.labelled(tone, label, line));
        }
        let more = lines.len().saturating_sub(shown);
        if more > 0 && is_shown {
            text.push_str(&screen.labelled(
                tone,
                label,
                &format!("and {more} more; see the report or --verbose"),
            ));
        }
    }
    text
}

/// Maximum number of lines of one kind, before the rest is counted.
const MAX_REASONS: usize = 8;

fn verdict_tone(report: &Report) -> Tone {
    match report.verdict {
        Verdict::Conforms if report.coverage.is_complete() => Tone::Good,
        Verdict::Conforms => Tone::Strong,
        Verdict::Accepted | Verdict::Incomplete => Tone::Doubtful,
        _ => Tone::Bad,
    }
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

/// Maximum number of findings of a check on a terminal, and maximum size of a command in bytes: a batch of hundreds of addresses would hide
/// everything else.
const MAX_FINDINGS_PER_CHECK: usize = 12;
const MAX_COMMAND_BYTES: usize = 2_000;

fn heading(text: &mut String, report: &Report, result: &CheckResult, screen: &Screen) {
    let heading = format!("{} {}", result.outcome.name(), result.id);
    let _ = writeln!(text, "\n{}", screen.paint(tone(&result.outcome), &heading));
    if let Some(consequences) = consequences(report, result.id) {
        text.push_str(&screen.labelled(Tone::Doubtful, "Consequence", &consequences));
    }
}

/// The likely cause, if there is one, and a finding; the others fold, but in a verbose report. `last` is the check of the finding above.
fn group_text<'a>(
    text: &mut String,
    report: &Report,
    Group { diagnosis, example, others }: &Group<'a>,
    last: &mut &'a str,
    screen: &Screen,
) {
    for (number, line) in diagnosis.map(headlines).unwrap_or_default().iter().enumerate() {
        let label = if number == 0 { "likely cause" } else { "" };
        text.push_str(if number == 0 { "\n" } else { "" });
        text.push_str(&screen.labelled(Tone::Strong, label, line));
    }
    let is_verbose = screen.detail == Detail::Verbose;
    let shown = if is_verbose { others.as_slice() } else { &[] };
    for (result, finding) in std::iter::once(example).chain(shown) {
        if std::mem::replace(last, result.id) != result.id {
            heading(text, report, result, screen);
        }
        text.push_str(&finding_text(report, (result, finding), screen));
    }
    if !is_verbose {
        text.extend(folded(others).map(|others| screen.labelled(Tone::Faint, "folded", &others)));
    }
}

fn finding_text(report: &Report, (result, finding): CheckFinding<'_>, screen: &Screen) -> String {
    let quoted = format!("\u{201c}{}\u{201d} ({})", finding.requirement, finding.clause);
    let mut text = String::new();
    // That of a check's only finding stands above.
    if result.findings.len() > 1 {
        text.push_str(&screen.labelled(Tone::Strong, "Finding", &id(result, finding)));
    }
    text.push_str(&screen.labelled(Tone::Faint, "Requirement", &quoted));
    if let Some(inferred) = inferred_from(finding) {
        text.push_str(&screen.labelled(Tone::Faint, "Inference", &inferred));
    }
    text.push_str(&screen.labelled(Tone::Strong, "Expected", &finding.expected));
    text.push_str(&screen.labelled(Tone::Strong, "Actual", &finding.actual));
    if !finding.facts.is_empty() {
        text.push_str(&screen.labelled(Tone::Faint, "Rests on", &rests_on(&finding.facts)));
    }
    for index in &finding.exchanges {
        let known = result.exchanges.iter().find(|exchange| exchange.index == *index);
        let Some(exchange) = known else { continue };
        // Commands are copied, so they are not wrapped.
        let mut command = curl::command(&report.target, &report.curl_options, exchange);
        if command.len() > MAX_COMMAND_BYTES && screen.detail != Detail::Verbose {
            let (size, whole) = (quantity(command.len(), "byte"), evidence_command(result, finding));
            command = format!(
                "# a command of {size}, whole with --verbose, or with --report json=report.json and then {whole}"
            );
        }
        let label = screen.paint(Tone::Faint, &format!("{:>16}", "Reproduce"));
        let _ = writeln!(text, "{label} {}", plain(&command));
    }
    text
}
