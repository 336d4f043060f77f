use std::fmt::Write as _;

use super::cause::{CheckFinding, Group, consequences, folded, groups, headlines};
use super::screen::Tone;
use super::words::{
    accepted, changes, cost, coverage, detected, discovered, evidence_command, explored, id, inferred_from,
    not_as_expected, not_noticed, profile_and_budget, reason_text, rests_on, run_again, seconds,
    suite_and_contract, throttled, to_judge_more, violated,
};
use super::{Detail, Screen, curl, plain, quantity};
use crate::check::{Evidence, Observation, Outcome};
use crate::run::{CheckResult, FindingChange, NotJudged, Report, Unresolved, Verdict};

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

/// The verdict, then what it rests on: coverage and detection in words, what would raise them most, and the cost. A verbose report
/// adds why each clause was not judged.
#[must_use]
pub fn summary(report: &Report, screen: &Screen) -> String {
    let is_verbose = screen.detail == Detail::Verbose;
    let mut text = String::from("\n");
    let verdict = screen.paint(verdict_tone(report), &report.conclusion);
    let tested = report.implementation.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let _ = writeln!(text, "{:>16} {} {verdict}", "verdict", plain(&format!("{}{tested}", report.target)));
    let stopped: Vec<String> = report.stopped.iter().cloned().collect();
    let deciding = [
        (Tone::Doubtful, "stopped", &stopped),
        (Tone::Doubtful, "gate not met", &report.unmet),
        (Tone::Bad, "violated", &violated(report)),
    ];
    // These decide the exit code, so none is folded.
    for (tone, label, lines) in deciding {
        lines.iter().for_each(|line| text.push_str(&screen.labelled(tone, label, line)));
    }
    let max = if is_verbose { usize::MAX } else { MAX_REASONS };
    let mut add = |tone, label: &str, lines: Vec<String>| {
        folded_lines(lines, max).iter().for_each(|line| text.push_str(&screen.labelled(tone, label, line)));
    };
    add(Tone::Doubtful, "accepted", accepted(report).collect());
    add(Tone::Doubtful, "expected", not_as_expected(report));
    add(Tone::Doubtful, "changed", changes(report, &[FindingChange::New, FindingChange::Fixed]));
    let inconclusive = Unresolved::inconclusive(&report.checks);
    add(Tone::Doubtful, "without result", inconclusive.iter().map(Unresolved::line).collect());
    add(Tone::Doubtful, "throttled", throttled(report).into_iter().collect());
    add(Tone::Doubtful, "run again", run_again(report).into_iter().collect());
    if screen.detail == Detail::Quiet {
        return text;
    }
    add(Tone::Faint, "coverage", vec![coverage(report)]);
    add(Tone::Faint, "detection", vec![detected(&report.detection, "would have noticed")]);
    if is_verbose {
        // Reasons that leave no clause open stand among what was skipped.
        let open = |reason: &&NotJudged| !reason.clauses.is_empty();
        add(
            Tone::Faint,
            "not judged",
            report.coverage.not_judged.iter().filter(open).map(reason_text).collect(),
        );
        add(Tone::Faint, "not noticed", not_noticed(report).collect());
        let observations = report.checks.iter().flat_map(|result| {
            let line = |seen: &Observation| format!("{}: {} ({})", seen.unspecified, seen.text, result.id);
            result.observations.iter().map(line)
        });
        add(Tone::Faint, "open", observations.collect());
        add(Tone::Faint, "suite", vec![suite_and_contract(report)]);
    } else {
        add(Tone::Faint, "to judge more", to_judge_more(report).into_iter().collect());
    }
    add(Tone::Faint, "discovered", discovered(report).collect());
    add(Tone::Faint, "explored", explored(report).into_iter().collect());
    add(Tone::Faint, "profile", vec![profile_and_budget(report)]);
    let busy =
        if is_verbose { format!(" ({:.2} s in checks)", seconds(report.busy_ms)) } else { String::new() };
    add(Tone::Faint, "cost", vec![format!("{}{busy}", cost(report))]);
    text
}

/// Maximum number of lines of one kind, before the rest is counted.
const MAX_REASONS: usize = 8;

fn folded_lines(mut lines: Vec<String>, max: usize) -> Vec<String> {
    let more = lines.len().saturating_sub(max);
    if more > 0 {
        lines.truncate(max);
        lines.push(format!("and {more} more; see the report or --verbose"));
    }
    lines
}

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
