//! The words that several formats share.

use std::borrow::Cow;

use super::cause::groups;
use super::curl;
use super::quantity;
use crate::check::{Finding, Outcome};
use crate::detection::{Detection, Unlock};
use crate::explore::ExplorationResult;
use crate::run::{
    ChangedFinding, CheckResult, Coverage, Expectation, ExpectationState, FindingChange, NotJudged, Report,
    Rerun, Totals, Unresolved, finding_id,
};
use crate::target::DiscoveredFact;
use crate::wire::{Budget, Throttling, Usage};

/// Outcomes counted, in words.
pub(crate) fn counted(totals: Totals) -> String {
    let Totals { passed, failed, warned, flaky, expected, skipped, inconclusive, errors } = totals;
    let counts = [
        (passed, "passed"),
        (failed, "failed"),
        (warned, "with a warning"),
        (flaky, "flaky"),
        (expected, if expected == 1 { "expected failure" } else { "expected failures" }),
        (skipped, "skipped"),
        (inconclusive, "inconclusive"),
        (errors, if errors == 1 { "error" } else { "errors" }),
    ];
    let counts: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if counts.is_empty() { "nothing ran".to_owned() } else { counts.join(", ") }
}

/// How much of the contract was judged, by how many checks.
pub(super) fn coverage(report: &Report) -> String {
    let Coverage { judged, clauses, .. } = report.coverage;
    let checks = quantity(report.totals.all(), "check");
    format!("{judged} of {} judged; {checks}: {}", quantity(clauses, "clause"), counted(report.totals))
}

/// What would raise coverage most: the reason for which most clauses were not judged and about which a tester can do something, or
/// else the one for which most known faults would not have been noticed.
pub(super) fn to_judge_more(report: &Report) -> Option<String> {
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

/// The violated clauses with the number of their findings.
pub(super) fn violated(report: &Report) -> Vec<String> {
    let violated = report.clauses.iter().filter(|clause| clause.failures > 0);
    violated.map(|clause| format!("{}: {}", clause.id, quantity(clause.failures, "finding"))).collect()
}

/// The expected failures that no longer are what the configuration says.
pub(super) fn not_as_expected(report: &Report) -> Vec<String> {
    let line = |Expectation { clause, state, .. }: &Expectation| {
        let state = match state {
            ExpectationState::Fails => return None,
            ExpectationState::NoLongerFails => "no longer fails; remove its entry from the configuration",
            ExpectationState::Expired => {
                "is still violated, and the last day of the expected failure has passed"
            }
            ExpectationState::NotChecked => "was expected to fail, but none of its checks has a result",
        };
        Some(format!("{clause} {state}"))
    };
    report.expectations.iter().filter_map(line).collect()
}

/// The accepted violations, in words.
pub(super) fn accepted(report: &Report) -> impl Iterator<Item = String> {
    report.accepted().map(|Expectation { clause, until, reason, .. }| {
        format!("{clause} is violated, which is accepted until {until}: {reason}")
    })
}

/// The facts that a finding rests on, in words.
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

/// What was run, and how much it shows: a label and a text for each line.
pub(super) fn run_lines(report: &Report) -> Vec<(&'static str, String)> {
    let labelled = |label: &'static str| move |text: String| (label, text);
    let lines = [
        ("coverage", coverage(report)),
        ("detection", detected(&report.detection, "would have noticed")),
        ("cost", cost(report)),
    ];
    let optional = discovered(report)
        .map(labelled("discovered"))
        .chain(explored(report).map(labelled("explored")))
        .chain(throttled(report).map(labelled("throttled")))
        .chain(run_again(report).map(labelled("run again")));
    let rest = [
        ("profile", profile_and_budget(report)),
        ("begun", report.begun.clone()),
        ("suite", suite_and_contract(report)),
    ];
    lines.into_iter().chain(optional).chain(rest).collect()
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

/// The [id](finding_id) of a finding.
pub(super) fn id(check: &CheckResult, finding: &Finding) -> String {
    let number = check.findings.iter().take_while(|other| !std::ptr::eq(*other, finding)).count();
    finding_id(check.id, number, check.findings.len())
}

/// The command that writes a finding as one file.
pub(super) fn evidence_command(check: &CheckResult, finding: &Finding) -> String {
    format!("conformance evidence report.json '{}' -o evidence.html", id(check, finding))
}

/// The command that writes the first finding that a screen shows as one file, from the JSON report at `path`.
#[must_use]
pub fn first_evidence(report: &Report, path: &str) -> Option<String> {
    let (check, finding) = groups(report, true).first()?.example;
    let path = curl::word(path);
    Some(format!("conformance evidence {path} '{}' -o evidence.html", id(check, finding)))
}

/// What a run took.
pub(super) fn cost(report: &Report) -> String {
    let Usage { requests, gateways, .. } = report.usage;
    let (requests, gateways) = (quantity(requests, "request"), quantity(gateways, "gateway"));
    let renewed = match report.token_renewals {
        0 => String::new(),
        count => format!(", {}", quantity(count, "token renewal")),
    };
    format!("{requests}, {gateways}, {:.2} s{renewed}", seconds(report.elapsed_ms))
}

/// Suite and contract, with their versions.
pub(super) fn suite_and_contract(report: &Report) -> String {
    format!("{}, contract {}, SHA-256 {}", report.suite, report.contract, report.contract_sha256)
}

/// The profile and its ceilings.
pub(super) fn profile_and_budget(report: &Report) -> String {
    let Budget { requests, gateways, bytes: _, wall, rate, concurrency } = &report.budget;
    if report.profile == Report::RECORDED {
        return "recorded: nothing was sent".to_owned();
    }
    let rate = rate.map(|rate| format!("{rate} requests/s, ")).unwrap_or_default();
    format!(
        "{}: at most {}, {}, {rate}{} s, {concurrency} at a time",
        report.profile,
        quantity(*requests, "request"),
        quantity(*gateways, "gateway"),
        wall.as_secs()
    )
}

/// How often the target throttled, and what the suite did about it.
pub(super) fn throttled(report: &Report) -> Option<String> {
    let Throttling { responses, lowest_rate } = report.throttling;
    let requests = quantity(responses, "request");
    match lowest_rate {
        _ if responses == 0 => None,
        Some(rate) => Some(format!(
            "the service throttled {requests}; the rate was lowered to {}/s",
            quantity(u64::from(rate), "request")
        )),
        None => Some(format!("the service throttled {requests}")),
    }
}

/// Facts that the run found out by itself, in words.
pub(super) fn discovered(report: &Report) -> impl Iterator<Item = String> {
    report.discovered.iter().map(|DiscoveredFact { variable, description, value }| {
        format!("{description}: {}; if this is wrong or incomplete, supply {variable}", beginning(value))
    })
}

/// A value as the configuration writes it, of a long list the first items. The JSON report has them all.
fn beginning(value: &str) -> Cow<'_, str> {
    const SHOWN: usize = 4;
    let items: Vec<&str> = value.split(", ").collect();
    match items.get(..SHOWN) {
        Some(first) if items.len() > 2 * SHOWN => {
            let end = if value.ends_with(']') { "]" } else { "" };
            format!("{}, …{end} ({} in all)", first.join(", "), items.len()).into()
        }
        _ => value.into(),
    }
}

/// What was explored, in words.
pub(super) fn explored(report: &Report) -> Option<String> {
    report.explored.map(|ExplorationResult { seed, seconds, requests, sent, steps }| {
        let steps = quantity(steps, "step");
        let requests = quantity(requests, "request");
        format!("{steps}, {sent} of at most {requests} in at most {seconds} s, seed {seed}")
    })
}

/// The results of the checks that were run again at the end.
pub(super) fn run_again(report: &Report) -> Option<String> {
    let Rerun { checks, concluded } = report.run_again;
    (checks > 0).then(|| {
        let checks = quantity(checks, "inconclusive check");
        format!("{checks} run again at the end; {concluded} of them with a result now")
    })
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

pub(super) fn reason_text(NotJudged { reason, clauses, checks }: &NotJudged) -> String {
    match checks {
        0 => format!("{}: {reason}", quantity(clauses.len(), "clause")),
        _ => format!("{} and {}: {reason}", quantity(clauses.len(), "clause"), quantity(*checks, "check")),
    }
}

pub(super) fn seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
}

/// Whether an outcome keeps a run from conforming.
pub(super) fn is_trouble(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Failed | Outcome::Flaky(_) | Outcome::Inconclusive(_) | Outcome::Error(_) => true,
        Outcome::Passed | Outcome::Warning | Outcome::ExpectedFailure(_) | Outcome::Skipped(_) => false,
    }
}
