//! What the templates of all formats say of a report.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::cause::{CheckFinding, Group, consequences, folded, groups, headlines, same_reason, unresolved};
use super::words::{
    changes, counted, evidence_command, id, inference, inferred_from, lines, not_judged, not_noticed,
    rests_on, run_lines,
};
use super::{curl, quantity};
use crate::check::{Finding, Outcome, Severity};
use crate::run::{CheckResult, ClauseSummary, FindingChange, Report, Unresolved, Verdict};
use crate::wire::RecordedExchange;

/// A report with the words that are made from it.
pub(super) fn view(report: &Report) -> Value {
    let lines = lines(report, false);
    let said: BTreeMap<&str, &str> = lines.iter().map(|(label, text)| (&**label, &**text)).collect();
    let (mut causes, mut findings, mut all_findings) = (Vec::new(), Vec::new(), Vec::new());
    for Group { diagnosis, example, others } in groups(report, false) {
        let causes_of = diagnosis.map(headlines);
        let mut view = |finding| {
            let view = finding_view(report, finding, causes_of.as_deref());
            all_findings.push(context! { number => all_findings.len(), ..view });
            all_findings.last().cloned()
        };
        let (first, other_views) = (view(example), others.iter().copied().map(&mut view).collect::<Vec<_>>());
        match &causes_of {
            Some(headlines) => {
                causes.push(context! { headlines, folded => folded(&others), first, others => other_views });
            }
            None => findings.push(first),
        }
    }
    let groups = |groups: Vec<Unresolved<'_>>| groups.into_iter().map(unresolved_view).collect::<Vec<_>>();
    context! {
        report => Value::from(Serde(report)),
        tone => outcome_like(report),
        prevents_testing => report.verdict.prevents_testing(),
        outcomes => counted(report.totals),
        facts => run_lines(&lines).map(|(label, text)| context! { label, text }).collect::<Vec<_>>(),
        said => Value::from(Serde(said)),
        not_judged => not_judged(report).collect::<Vec<_>>(),
        not_noticed => not_noticed(report).collect::<Vec<_>>(),
        changes => changes(report, &FindingChange::ALL),
        changed => changes(report, &[FindingChange::New, FindingChange::Fixed, FindingChange::NotReproduced]),
        causes,
        findings,
        all_findings,
        unresolved => groups(unresolved(report)),
        inconclusive => groups(Unresolved::inconclusive(&report.checks)),
        skipped => groups(Unresolved::skipped(&report.checks)),
    }
}

/// The same for a page, which has all that a report has.
pub(super) fn page_view(report: &Report) -> Value {
    // Of a check that ran otherwise; whole checks stand among those without a result.
    let skipped = Unresolved::skipped(&report.checks).into_iter().filter(|skips| !skips.cases.is_empty());
    let skipped_cases = skipped.map(|skips| context! { reason => skips.reason, cases => skips.cases });
    context! {
        clauses => report.clauses.iter().map(|clause| clause_view(report, clause)).collect::<Vec<_>>(),
        skipped_cases => skipped_cases.collect::<Vec<_>>(),
        observations => observations(report),
        ..view(report)
    }
}

/// A finding with its check. Where the check has several, the id stands with it.
pub(super) fn finding_view(
    report: &Report,
    (check, finding): CheckFinding<'_>,
    causes: Option<&[String]>,
) -> Value {
    let cited = check.exchanges.iter().filter(|exchange| finding.exchanges.contains(&exchange.index));
    let exchange = |exchange: &RecordedExchange| {
        let curl = curl::command(&report.target, &report.curl_options, exchange);
        context! { exchange => Value::from(Serde(exchange)), size => quantity(curl.len(), "byte"), bytes => curl.len(), curl }
    };
    let is_failure = finding.severity == Severity::Fail;
    let is_error = is_failure && check.outcome == Outcome::Failed;
    let is_accepted = is_failure && matches!(check.outcome, Outcome::ExpectedFailure(_));
    let rule = report.clauses.iter().position(|clause| clause.id == finding.clause);
    let change = report.since.as_ref().and_then(|since| since.finding(check.id, finding));
    context! {
        check => check.id,
        id => (check.findings.len() > 1).then(|| id(check, finding)),
        title => check.title,
        why => check.why,
        coverage => check.coverage(),
        inferred_from => inferred_from(finding),
        inference => inference(finding),
        rests_on => (!finding.facts.is_empty()).then(|| rests_on(&finding.facts)),
        word => check.outcome.name(),
        outcome => class(check.outcome.name()),
        reason => check.outcome.reason(),
        consequences => consequences(report, check.id),
        finding => Value::from(Serde(finding)),
        exchanges => cited.map(exchange).collect::<Vec<_>>(),
        evidence => evidence_command("report.json", check, finding),
        causes => causes.map(<[String]>::to_vec),
        is_error,
        level => if is_error || is_accepted { "error" } else { "warning" },
        rule,
        line => rule.map_or(1, |rule| report.clauses[rule].line),
        fingerprint => fingerprint(check, finding),
        change => change.map(|known| known.change.name()),
    }
}

/// Identifies a finding across reports: the check, the clause, the case, and a number among the findings with the same three.
fn fingerprint(check: &CheckResult, finding: &Finding) -> String {
    let Finding { clause, case, .. } = finding;
    let case = case.as_deref().unwrap_or_default();
    let alike = check.findings.iter().filter(|other| other.clause == *clause && other.is_of(case));
    let number = alike.take_while(|other| !std::ptr::eq(*other, finding)).count();
    format!("{}:{clause}:{case}:{number}", check.id)
}

fn clause_view(report: &Report, clause: &ClauseSummary) -> Value {
    let cites = |check: &&CheckResult| check.clauses.contains(&clause.id);
    let checks: Vec<&CheckResult> = report.checks.iter().filter(cites).collect();
    let word = standing(clause, &checks);
    let detection = report.detection.clauses.iter().find(|detection| detection.id == clause.id);
    context! {
        operation => clause.id.id().split('.').next(),
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

fn unresolved_view(group: Unresolved<'_>) -> Value {
    let ids: Vec<&str> = group.ids().collect();
    let word = group.outcome.name();
    context! { word, outcome => class(word), reason => group.reason, line => group.line(), checks => Value::from(Serde(&ids)) }
}

fn observations(report: &Report) -> Vec<Value> {
    let observations = report.checks.iter().flat_map(|check| &check.observations);
    let distinct: BTreeSet<_> =
        observations.map(|observation| (observation.unspecified, observation.text.as_str())).collect();
    distinct
        .into_iter()
        .map(|(unspecified, text)| context! { unspecified => Value::from(Serde(unspecified)), text => text })
        .collect()
}

fn class(outcome: &str) -> String {
    outcome.replace(' ', "-")
}

pub(super) fn outcome_like(report: &Report) -> &'static str {
    match report.verdict {
        Verdict::Conforms if report.coverage.is_complete() => "passed",
        Verdict::Conforms => "skipped",
        Verdict::Accepted => "expected-failure",
        Verdict::Incomplete => "inconclusive",
        _ => "failed",
    }
}
