use std::fmt::Write as _;

use minijinja::{Value, context};

use super::cause::{Group, consequences, folded, groups, headlines};
use super::screen::Tone;
use super::template::{render_lines, template};
use super::view::{finding_view, outcome_like};
use super::words::lines;
use super::{Detail, Screen, plain};
use crate::check::Evidence;
use crate::run::{CheckResult, Report};

/// One check on one line, with the reason when it has no result, and in a verbose report with its exchanges.
#[must_use]
pub fn check_text(result: &CheckResult, screen: &Screen) -> String {
    let label = format!("{:>width$}", result.outcome.name(), width = Screen::LABELS);
    let coverage = result.coverage().map(|cases| format!(" ({cases})")).unwrap_or_default();
    let line = screen.clipped(&format!("{label} {}{coverage}  {}", result.id, result.title));
    let rest = line.strip_prefix(&label).unwrap_or_default();
    let mut text = format!("{}{rest}\n", screen.paint(tone(result.outcome.name()), &label));
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
    let is_of_check = |one: &Group<'_>, other: &Group<'_>| {
        one.diagnosis.or(other.diagnosis).is_none() && one.example.0.id == other.example.0.id
    };
    let mut items = Vec::new();
    for groups in groups(report, !is_verbose).chunk_by(is_of_check) {
        let mut last = "";
        for Group { diagnosis, example, others } in groups.iter().take(shown) {
            items.extend(diagnosis.map(|diagnosis| context! { headlines => headlines(diagnosis) }));
            let beneath = if is_verbose { others.as_slice() } else { &[] };
            for (result, finding) in std::iter::once(example).chain(beneath) {
                if std::mem::replace(&mut last, result.id) != result.id {
                    items.push(heading(report, result));
                }
                items.push(finding_view(report, (result, finding), None));
            }
            let folded = folded(others).filter(|_| !is_verbose);
            items.extend(folded.map(|folded| context! { folded }));
        }
        let more: usize = groups.iter().skip(shown).map(|group| 1 + group.others.len()).sum();
        items.push(context! { more });
    }
    laid_out(&items, screen)
}

pub(super) fn check_failures(report: &Report, result: &CheckResult, screen: &Screen) -> String {
    let findings = result.findings.iter().map(|finding| finding_view(report, (result, finding), None));
    let items: Vec<Value> = std::iter::once(heading(report, result)).chain(findings).collect();
    laid_out(&items, screen)
}

fn heading(report: &Report, result: &CheckResult) -> Value {
    let heading = format!("{} {}", result.outcome.name(), result.id);
    context! { heading, consequences => consequences(report, result.id) }
}

/// Headings, likely causes, findings and what is counted, each in its lines.
fn laid_out(items: &[Value], screen: &Screen) -> String {
    let most = (screen.detail != Detail::Verbose).then_some(MAX_COMMAND_BYTES);
    let mut text = String::new();
    for (label, line) in render_lines(template!("templates/findings.txt"), &context! { items, most }) {
        let tone = match label.as_str() {
            "heading" => {
                let _ = writeln!(text, "\n{}", screen.paint(tone(&line), &line));
                continue;
            }
            "Reproduce" => {
                // Commands are copied, so they are not wrapped.
                let label = screen.paint(Tone::Faint, &format!("{label:>16}"));
                let _ = writeln!(text, "{label} {line}");
                continue;
            }
            "likely cause" | "" | "Finding" | "Expected" | "Actual" => Tone::Strong,
            "Consequence" => Tone::Doubtful,
            _ => Tone::Faint,
        };
        text.push_str(if label == "likely cause" { "\n" } else { "" });
        text.push_str(&screen.labelled(tone, &label, &line));
    }
    text
}

/// The verdict, then what it rests on and what would raise that most. A verbose report adds why each clause was not judged.
#[must_use]
pub fn summary(report: &Report, screen: &Screen) -> String {
    let is_verbose = screen.detail == Detail::Verbose;
    let mut text = String::from("\n");
    let verdict_tone = match outcome_like(report) {
        "skipped" => Tone::Strong,
        outcome => tone(outcome),
    };
    let verdict = screen.paint(verdict_tone, &report.conclusion);
    let tested = report.implementation.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let _ = writeln!(text, "{:>16} {} {verdict}", "verdict", plain(&format!("{}{tested}", report.target)));
    for lines in lines(report, is_verbose).chunk_by(|(one, _), (other, _)| one == other) {
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
            let words = format!("and {more} more; see the report or --verbose");
            text.push_str(&screen.labelled(tone, label, &words));
        }
    }
    text
}

const MAX_REASONS: usize = 8;

/// The tone of what begins with the name of an outcome.
fn tone(text: &str) -> Tone {
    match text.split(' ').next() {
        Some("passed") => Tone::Good,
        Some("failed") => Tone::Bad,
        Some("skipped") => Tone::Faint,
        _ => Tone::Doubtful,
    }
}

/// Maximum number of findings of a check, and maximum size of a command in bytes: a batch of addresses would hide everything else.
const MAX_FINDINGS_PER_CHECK: usize = 12;
const MAX_COMMAND_BYTES: usize = 2_000;
