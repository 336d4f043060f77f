use std::collections::BTreeMap;

use minijinja::value::Serde;
use minijinja::{Environment, Value, context, escape_formatter};
use serde::Serialize;

use super::cause::{
    Cause, CheckFinding, UnresolvedChecks, causes, folded, headlines, unresolved, without_cause,
};
use super::terminal::{
    counted, detected, discovered, explored, inferred_from, not_judged, not_noticed, profile_and_budget,
    rests_on, run_again, suite_and_contract, throttled, verdict_words,
};
use super::{curl, plain_lines};
use crate::check::{Evidence, Finding, Outcome};
use crate::contract::Unspecified;
use crate::detection::ClauseDetection;
use crate::run::{CheckResult, ClauseSummary, Report, Skips, Verdict};
use crate::wire::RecordedExchange;

/// The report as one page for a browser: no other file, no network.
///
/// # Errors
/// When the page can't be rendered, which would be a bug of the suite.
pub fn html(report: &Report) -> Result<String, minijinja::Error> {
    let mut environment = environment();
    environment.add_template("page.html", include_str!("html/page.html"))?;
    let page = environment.get_template("page.html")?;
    page.render(context! {
        style => Value::from_safe_string(include_str!("html/style.css").to_owned()),
        script => Value::from_safe_string(include_str!("html/script.js").to_owned()),
        report => Value::from(Serde(report)),
        tone => tone(report),
        verdict => verdict_words(report),
        counts => counted(report.totals),
        not_judged => not_judged(report).collect::<Vec<_>>(),
        detected => detected(&report.detection, "would have noticed"),
        not_noticed => not_noticed(report).collect::<Vec<_>>(),
        suite => suite_and_contract(report),
        profile => profile_and_budget(report),
        discovered => discovered(report).collect::<Vec<_>>(),
        explored => explored(report),
        throttled => throttled(report),
        run_again => run_again(report),
        seconds => format!("{:.2}", report.elapsed_ms as f64 / 1000.0),
        causes => cause_views(report),
        findings => Value::from(Serde(findings(report))),
        operations => Value::from(Serde(operations(report))),
        unresolved => unresolved_views(report),
        skipped_cases => skipped_cases(report),
        observations => observations(report),
    })
}

/// An environment for pages. Their names end in .html, so everything that is put in is escaped.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_formatter(|out, state, value| match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => escape_formatter(out, state, &Value::from(plain_lines(text).into_owned())),
        None => escape_formatter(out, state, value),
    });
    environment
}

#[derive(Serialize)]
struct FindingView<'a> {
    check: &'a str,
    title: &'a str,
    why: &'a str,
    inferred_from: Option<String>,
    rests_on: Option<String>,
    operation: &'a str,
    word: &'static str,
    outcome: &'static str,
    reason: Option<&'a str>,
    finding: &'a Finding,
    exchanges: Vec<ExchangeView<'a>>,
}

#[derive(Serialize)]
struct ExchangeView<'a> {
    exchange: &'a RecordedExchange,
    curl: String,
}

#[derive(Serialize)]
struct OperationView<'a> {
    name: &'a str,
    clauses: Vec<ClauseView<'a>>,
}

#[derive(Serialize)]
struct ClauseView<'a> {
    clause: &'a ClauseSummary,
    word: &'static str,
    outcome: &'static str,
    checks: Vec<CheckView<'a>>,
    detection: Option<&'a ClauseDetection>,
}

#[derive(Serialize)]
struct CheckView<'a> {
    id: &'a str,
    coverage: Option<String>,
    title: &'a str,
    word: &'static str,
    outcome: &'static str,
    reason: Option<&'a str>,
    requests: usize,
    elapsed_ms: u64,
    evidence: &'a [Evidence],
}

fn cause_views(report: &Report) -> Vec<Value> {
    let view = |finding: CheckFinding<'_>| Value::from(Serde(finding_view(report, finding)));
    let cause = |cause: Cause<'_>| {
        context! {
            headlines => headlines(cause.diagnosis),
            folded => folded(&cause),
            first => view(cause.first),
            others => cause.folded.iter().map(|found| view(*found)).collect::<Vec<_>>(),
        }
    };
    causes(report).into_iter().map(cause).collect()
}

/// Every skipped case of a check that ran otherwise; whole checks stand among those without a result.
fn skipped_cases(report: &Report) -> Vec<Value> {
    let skips = Skips::from_results(&report.checks).into_iter().filter(|skips| !skips.cases.is_empty());
    skips.map(|Skips { reason, cases, .. }| context! { reason => reason, cases => cases }).collect()
}

/// The findings without a likely cause.
fn findings(report: &Report) -> Vec<FindingView<'_>> {
    let of_check = |(check, findings): (_, Vec<_>)| {
        findings.into_iter().map(move |finding| finding_view(report, (check, finding)))
    };
    without_cause(report).into_iter().flat_map(of_check).collect()
}

fn finding_view<'a>(report: &'a Report, (check, finding): CheckFinding<'a>) -> FindingView<'a> {
    let cited = check.exchanges.iter().filter(|exchange| finding.exchanges.contains(&exchange.index));
    let exchange = |exchange| ExchangeView { exchange, curl: curl::command(&report.target, exchange) };
    FindingView {
        check: check.id,
        title: check.title,
        why: check.why,
        inferred_from: inferred_from(finding),
        rests_on: (!finding.facts.is_empty()).then(|| rests_on(finding)),
        operation: check.id.split('.').next().unwrap_or_default(),
        word: check.outcome.name(),
        outcome: class(&check.outcome),
        reason: check.outcome.reason(),
        finding,
        exchanges: cited.map(exchange).collect(),
    }
}

fn operations(report: &Report) -> Vec<OperationView<'_>> {
    let mut operations: Vec<OperationView<'_>> = Vec::new();
    for clause in &report.clauses {
        let name = clause.id.id().split('.').next().unwrap_or_default();
        let cites = |check: &&CheckResult| check.clauses.contains(&clause.id);
        let checks: Vec<CheckView<'_>> = report.checks.iter().filter(cites).map(check_view).collect();
        let (word, outcome) = standing(clause, &checks);
        let detection = report.detection.clauses.iter().find(|detection| detection.id == clause.id);
        let view = ClauseView { clause, word, outcome, checks, detection };
        match operations.last_mut().filter(|operation| operation.name == name) {
            Some(operation) => operation.clauses.push(view),
            None => operations.push(OperationView { name, clauses: vec![view] }),
        }
    }
    operations
}

/// How a clause stands: failed when a failed check says so, else by the weightiest outcome of its checks, in the words and
/// classes of outcomes.
fn standing(clause: &ClauseSummary, checks: &[CheckView<'_>]) -> (&'static str, &'static str) {
    if clause.failures > 0 {
        return ("failed", "failed");
    }
    let weightiest = ["flaky", "expected-failure", "error", "inconclusive", "warning"].into_iter();
    let found = weightiest.filter_map(|class| checks.iter().find(|check| check.outcome == class)).next();
    match found {
        Some(check) => (check.word, check.outcome),
        None if clause.checked > 0 => ("passed", "passed"),
        None => ("skipped", "skipped"),
    }
}

fn check_view(check: &CheckResult) -> CheckView<'_> {
    CheckView {
        id: check.id,
        coverage: check.coverage(),
        title: check.title,
        word: check.outcome.name(),
        outcome: class(&check.outcome),
        reason: check.outcome.reason(),
        requests: check.requests,
        elapsed_ms: check.elapsed_ms,
        evidence: &check.evidence,
    }
}

fn unresolved_views(report: &Report) -> Vec<Value> {
    let view = |UnresolvedChecks { outcome, reason, checks }: UnresolvedChecks<'_>| {
        context! { word => outcome.name(), outcome => class(outcome), reason => reason, checks => Value::from(Serde(checks)) }
    };
    unresolved(report).into_iter().map(view).collect()
}

fn observations(report: &Report) -> Vec<Value> {
    let mut views: BTreeMap<(Unspecified, &str), Vec<&str>> = BTreeMap::new();
    for check in &report.checks {
        for observation in &check.observations {
            let checks = views.entry((observation.unspecified, &observation.text)).or_default();
            if !checks.contains(&check.id) {
                checks.push(check.id);
            }
        }
    }
    let view = |((unspecified, text), checks): ((Unspecified, &str), Vec<&str>)| {
        context! { unspecified => Value::from(Serde(unspecified)), text => text, checks => Value::from(Serde(checks)) }
    };
    views.into_iter().map(view).collect()
}

/// The class that colours an outcome.
fn class(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::Warning => "warning",
        Outcome::Flaky(_) => "flaky",
        Outcome::ExpectedFailure(_) => "expected-failure",
        Outcome::Skipped(_) => "skipped",
        Outcome::Inconclusive(_) => "inconclusive",
        Outcome::Error(_) => "error",
    }
}

fn tone(report: &Report) -> &'static str {
    match report.verdict {
        Verdict::Conforms if report.coverage.is_complete() => "passed",
        Verdict::Conforms => "skipped",
        Verdict::Findings | Verdict::Unreachable => "failed",
        Verdict::Incomplete => "inconclusive",
    }
}
