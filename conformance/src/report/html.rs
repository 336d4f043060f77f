use std::collections::BTreeSet;

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::cause::{CheckFinding, Group, consequences, folded, groups, headlines, same_reason, unresolved};
use super::template::render;
use super::words::{changes, evidence_command, inferred_from, not_judged, not_noticed, rests_on, run_lines};
use super::{curl, quantity};
use crate::run::{CheckResult, ClauseSummary, FindingChange, Report, Unresolved, Verdict};
use crate::wire::RecordedExchange;

/// The report as one page for a browser: no other file, no network.
pub(super) fn html(report: &Report) -> Result<String, minijinja::Error> {
    render(
        "page.html",
        include_str!("html/page.html"),
        context! {
            report => Value::from(Serde(report)),
            tone => tone(report),
            verdict => &report.conclusion,
            facts => labelled(run_lines(report)),
            not_judged => not_judged(report).collect::<Vec<_>>(),
            not_noticed => not_noticed(report).collect::<Vec<_>>(),
            changes => changes(report, &FindingChange::ALL),
            causes => cause_views(report),
            findings => finding_views(report),
            operations => operations(report),
            unresolved => unresolved(report).into_iter().map(unresolved_view).collect::<Vec<_>>(),
            skipped_cases => skipped_cases(report),
            observations => observations(report),
        },
    )
}

/// A label and a text for each line.
pub(super) fn labelled(lines: impl IntoIterator<Item = (String, String)>) -> Vec<Value> {
    lines.into_iter().map(|(label, text)| context! { label, text }).collect()
}

/// The findings with a likely cause, by cause.
pub(super) fn cause_views(report: &Report) -> Vec<Value> {
    let cause = |Group { diagnosis, example, others }: Group<'_>| {
        Some(context! {
            headlines => headlines(diagnosis?),
            folded => folded(&others),
            first => finding_view(report, example),
            others => others.iter().map(|found| finding_view(report, *found)).collect::<Vec<_>>(),
        })
    };
    groups(report, false).into_iter().filter_map(cause).collect()
}

/// Every skipped case of a check that ran otherwise; whole checks stand among those without a result.
fn skipped_cases(report: &Report) -> Vec<Value> {
    let skips = Unresolved::skipped(&report.checks).into_iter().filter(|skips| !skips.cases.is_empty());
    skips.map(|Unresolved { reason, cases, .. }| context! { reason => reason, cases => cases }).collect()
}

/// The other findings.
pub(super) fn finding_views(report: &Report) -> Vec<Value> {
    let others = groups(report, false).into_iter().filter(|group| group.diagnosis.is_none());
    others.map(|group| finding_view(report, group.example)).collect()
}

fn finding_view(report: &Report, (check, finding): CheckFinding<'_>) -> Value {
    let cited = check.exchanges.iter().filter(|exchange| finding.exchanges.contains(&exchange.index));
    let exchange = |exchange: &RecordedExchange| {
        let curl = curl::command(&report.target, &report.curl_options, exchange);
        context! { exchange => Value::from(Serde(exchange)), size => quantity(curl.len(), "byte"), curl }
    };
    context! {
        check => check.id,
        title => check.title,
        why => check.why,
        coverage => check.coverage(),
        inferred_from => inferred_from(finding),
        rests_on => (!finding.facts.is_empty()).then(|| rests_on(&finding.facts)),
        word => check.outcome.name(),
        outcome => class(check.outcome.name()),
        reason => check.outcome.reason(),
        consequences => consequences(report, check.id),
        finding => Value::from(Serde(finding)),
        exchanges => cited.map(exchange).collect::<Vec<_>>(),
        evidence => evidence_command(check, finding),
    }
}

/// The clauses of each operation; they are sorted by id.
fn operations(report: &Report) -> Vec<Value> {
    let name = |clause: &ClauseSummary| clause.id.id().split('.').next().unwrap_or_default();
    let operation = |clauses: &[ClauseSummary]| {
        let views: Vec<Value> = clauses.iter().map(|clause| clause_view(report, clause)).collect();
        context! { name => clauses.first().map(name), clauses => views }
    };
    report.clauses.chunk_by(|one, other| name(one) == name(other)).map(operation).collect()
}

fn clause_view(report: &Report, clause: &ClauseSummary) -> Value {
    let cites = |check: &&CheckResult| check.clauses.contains(&clause.id);
    let checks: Vec<&CheckResult> = report.checks.iter().filter(cites).collect();
    let word = standing(clause, &checks);
    let detection = report.detection.clauses.iter().find(|detection| detection.id == clause.id);
    context! {
        clause => Value::from(Serde(clause)),
        word => word,
        outcome => class(word),
        checks => checks.into_iter().map(|check| check_view(report, check)).collect::<Vec<_>>(),
        detection => Value::from(Serde(detection)),
    }
}

/// How a clause stands, in the words of outcomes: failed when a failed check says so, else by the weightiest outcome of its checks.
fn standing(clause: &ClauseSummary, checks: &[&CheckResult]) -> &'static str {
    if clause.failures > 0 {
        return "failed";
    }
    let is_of_one = |word: &&str| checks.iter().any(|check| check.outcome.name() == *word);
    let weightiest = ["flaky", "expected failure", "error", "inconclusive", "warning"];
    weightiest.into_iter().find(is_of_one).unwrap_or(if clause.checked > 0 { "passed" } else { "skipped" })
}

fn check_view(report: &Report, check: &CheckResult) -> Value {
    let same = same_reason(report, check).map(|same| format!("{}, {same}", check.outcome.name()));
    context! {
        id => check.id,
        coverage => check.coverage(),
        title => check.title,
        word => check.outcome.name(),
        outcome => class(check.outcome.name()),
        reason => same.or_else(|| check.outcome.reason().map(str::to_owned)),
        requests => check.requests,
        evidence => Value::from(Serde(&check.evidence)),
    }
}

/// What has no result for one reason.
pub(super) fn unresolved_view(group: Unresolved<'_>) -> Value {
    let ids: Vec<&str> = group.ids().collect();
    let word = group.outcome.name();
    context! { word, outcome => class(word), reason => group.reason, checks => Value::from(Serde(&ids)) }
}

/// What was observed, each once.
fn observations(report: &Report) -> Vec<Value> {
    let observations = report.checks.iter().flat_map(|check| &check.observations);
    let distinct: BTreeSet<_> =
        observations.map(|observation| (observation.unspecified, observation.text.as_str())).collect();
    distinct
        .into_iter()
        .map(|(unspecified, text)| context! { unspecified => Value::from(Serde(unspecified)), text => text })
        .collect()
}

/// The class that colours an outcome.
fn class(outcome: &str) -> String {
    outcome.replace(' ', "-")
}

fn tone(report: &Report) -> &'static str {
    match report.verdict {
        Verdict::Conforms if report.coverage.is_complete() => "passed",
        Verdict::Conforms => "skipped",
        Verdict::Accepted => "expected-failure",
        Verdict::Incomplete => "inconclusive",
        _ => "failed",
    }
}
