//! The words that several formats share.

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::cause::groups;
use super::curl;
use super::quantity;
use super::template::{render_lines, template};
use crate::check::{Finding, Outcome};
use crate::detection::{Detection, Unlock};
use crate::run::{
    ChangedFinding, CheckResult, FindingChange, NotJudged, Report, Totals, Unresolved, finding_id,
};

/// Outcomes counted, in words.
pub(crate) fn counted(totals: Totals) -> String {
    let word = |(name, count): (&str, usize)| match name {
        "warning" => format!("{count} with a warning"),
        "expected failure" | "error" => quantity(count, name),
        name => format!("{count} {name}"),
    };
    let counts = totals.named().into_iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts.map(word).collect();
    if counts.is_empty() { "nothing ran".to_owned() } else { counts.join(", ") }
}

/// What would raise coverage most: the reason for which most clauses were not judged and about which a tester can do something, or
/// else the one for which most known faults would not have been noticed.
fn to_judge_more(report: &Report) -> Option<String> {
    // What is said above is not said twice.
    let inconclusive = Unresolved::inconclusive(&report.checks);
    let is_new = |reason: &str| {
        let said = report.unmet.iter().chain(&report.stopped).map(String::as_str);
        !said.chain(inconclusive.iter().map(|group| group.reason)).any(|said| said.contains(reason))
    };
    let reasons = || report.coverage.not_judged.iter().filter(|reason| is_new(&reason.reason));
    let most = reasons().find(|reason| reason.checks > 0 && !reason.clauses.is_empty());
    let unnoticed = || report.detection.unlocks.iter().find(|unlock| is_new(&unlock.reason)).map(unlock_text);
    most.map(reason_text).or_else(unnoticed).or_else(|| reasons().next().map(reason_text))
}

pub(super) fn rests_on(facts: &[impl AsRef<str>]) -> String {
    let facts: Vec<&str> = facts.iter().map(AsRef::as_ref).collect();
    format!("{}: if this is wrong, supply or correct the fact", facts.join(", "))
}

/// How many known faults the run would have noticed, in words.
#[must_use]
pub fn detected(detection: &Detection, noticed_words: &str) -> String {
    let Detection { known, noticed, .. } = detection;
    if *known == 0 {
        return "not estimated: recorded traffic does not contain the suite's requests".to_owned();
    }
    format!("{noticed_words} {noticed} of {known} known faults ({} %)", detection.percent())
}

/// The sentences that a finding is inferred from, in words; none when its clause is stated.
pub(super) fn inferred_from(finding: &Finding) -> Option<String> {
    finding.inferred_from.as_ref().map(|from| format!("inferred from {from}"))
}

/// The same behind a text.
pub(super) fn inference(finding: &Finding) -> String {
    inferred_from(finding).map(|from| format!(" ({from})")).unwrap_or_default()
}

/// What a report says beside its findings: a label and a text for each line, in the order of a terminal. What is left out on some
/// screens is among them; the time in checks only if `with_busy`.
pub(super) fn lines(report: &Report, with_busy: bool) -> Vec<(String, String)> {
    // Reasons that leave no clause open stand among what was skipped.
    let open = report.coverage.not_judged.iter().filter(|reason| !reason.clauses.is_empty());
    let view = context! {
        report => Value::from(Serde(report)),
        changed => changes(report, &[FindingChange::New, FindingChange::Fixed]),
        without_result => Unresolved::inconclusive(&report.checks).iter().map(Unresolved::line).collect::<Vec<_>>(),
        outcomes => counted(report.totals),
        detection => detected(&report.detection, "would have noticed"),
        not_judged => open.map(reason_text).collect::<Vec<_>>(),
        not_noticed => not_noticed(report).collect::<Vec<_>>(),
        to_judge_more => to_judge_more(report),
        with_busy,
    };
    render_lines(template!("templates/summary.txt"), &view)
}

/// What was run, and how much it shows.
pub(super) fn run_lines(lines: &[(String, String)]) -> impl Iterator<Item = &(String, String)> {
    let labels =
        "coverage, detection, cost, discovered, explored, throttled, run again, profile, begun, suite";
    labels.split(", ").flat_map(|label| lines.iter().filter(move |(known, _)| known == label))
}

/// What became of the findings of an earlier report, a line for each of these changes.
pub(super) fn changes(report: &Report, shown: &[FindingChange]) -> Vec<String> {
    let Some(since) = &report.since else { return Vec::new() };
    let line = |finding: &ChangedFinding| {
        let reason = finding.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{}: {} ({}){reason}", finding.change.name(), finding.id(), finding.clause)
    };
    since.differences().chain(shown.iter().flat_map(|change| since.of(*change)).map(line)).collect()
}

pub(super) fn id(check: &CheckResult, finding: &Finding) -> String {
    let number = check.findings.iter().take_while(|other| !std::ptr::eq(*other, finding)).count();
    finding_id(check.id, number, check.findings.len())
}

/// The command that writes a finding of the JSON report at `path` as one file.
pub(super) fn evidence_command(path: &str, check: &CheckResult, finding: &Finding) -> String {
    format!("conformance evidence {path} '{}' -o evidence.html", id(check, finding))
}

/// The command that writes the first finding that a screen shows as one file, from the JSON report at `path`.
#[must_use]
pub fn first_evidence(report: &Report, path: &str) -> Option<String> {
    let (check, finding) = groups(report, true).first()?.example;
    Some(evidence_command(&curl::word(path), check, finding))
}

/// Why the run would have missed known faults: the most frequent reasons.
pub(super) fn not_noticed(report: &Report) -> impl Iterator<Item = String> {
    const MAX_REASONS: usize = 5;
    report.detection.unlocks.iter().take(MAX_REASONS).map(unlock_text)
}

fn unlock_text(Unlock { reason, faults }: &Unlock) -> String {
    format!("{}: {reason}", quantity(*faults, "known fault"))
}

/// Why clauses were not judged, a line for each reason.
pub(super) fn not_judged(report: &Report) -> impl Iterator<Item = String> {
    report.coverage.not_judged.iter().map(reason_text)
}

fn reason_text(NotJudged { reason, clauses, checks }: &NotJudged) -> String {
    match checks {
        0 => format!("{}: {reason}", quantity(clauses.len(), "clause")),
        _ => format!("{} and {}: {reason}", quantity(clauses.len(), "clause"), quantity(*checks, "check")),
    }
}

/// Whether an outcome keeps a run from conforming.
pub(super) fn is_trouble(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Failed | Outcome::Flaky(_) | Outcome::Inconclusive(_) | Outcome::Error(_) => true,
        Outcome::Passed | Outcome::Warning | Outcome::ExpectedFailure(_) | Outcome::Skipped(_) => false,
    }
}
