use std::path::Path;
use std::time::Duration;

use sallyport_conformance::check::{Check, InferredClauses};
use sallyport_conformance::explore::{self, Exploration};
use sallyport_conformance::observe::{Archive, Traffic, observe};
use sallyport_conformance::report::{self, Detail};
use sallyport_conformance::run::Glob;
use sallyport_conformance::wire::{RecordedExchange, Redactor, Request};
use sallyport_conformance::{
    Budget, Contract, Options, Outcome, Report, Secret, Selection, SilentObserver, Suite, Target, Verdict,
    files, registry,
};
use serde::Deserialize as _;
use serde_json::Value;

use super::UsageError;
use super::arguments::TargetArguments;
use super::output::Output;
use super::run::{observed, with_target};
use super::setup::Setup;

/// `conformance replay`: the check of a finding once more. A finding rests on all requests of its check, the control
/// included, so the whole check is run, with every exchange shown. For a passive check the requests that the report has are sent again,
/// and an exploration runs again with its seed.
pub(crate) async fn replay(
    path: &Path,
    check: &str,
    allow_other_target: bool,
    arguments: &TargetArguments,
) -> Result<Verdict, UsageError> {
    let wrong = |message: &str| UsageError::from(format!("{}: {message}", path.display()));
    let report = read_report(path)?;
    let checks = report.get("checks").and_then(Value::as_array);
    let with_findings: Vec<&str> = checks
        .into_iter()
        .flatten()
        .filter(|result| result.get("findings").and_then(Value::as_array).is_some_and(|all| !all.is_empty()))
        .filter_map(|result| result.get("id").and_then(Value::as_str))
        .collect();
    if !with_findings.contains(&check) {
        let known = if with_findings.is_empty() { "none".to_owned() } else { with_findings.join(", ") };
        return Err(wrong(&format!(
            "`{check}` has no finding in this report; checks with findings: {known}"
        )));
    }
    let known = registry().into_iter().find(|known| known.id == check);
    let is_recorded = check.ends_with(RECORDED);
    if check != explore::ID && known.is_none() && !is_recorded {
        return Err(wrong(&format!("this version has no check `{check}`")));
    }
    let contract = Contract::embedded()?;
    let Setup { target, mut options, .. } = Setup::new(arguments)?;
    let Some(target) = target else {
        return Err(wrong(
            "expected --base-url (or a configuration with base-url): a report does not decide where tokens are sent",
        ));
    };
    let recorded = report.get("target").and_then(Value::as_str).unwrap_or_default();
    if !allow_other_target && !is_same(recorded, &target, &options) {
        let base = target.base();
        return Err(wrong(&format!(
            "expected a report of {base}, found one of `{recorded}`; pass --allow-other-target to replay it against {base}"
        )));
    }
    if check == explore::ID {
        let missing = || wrong("expected `explored` with `seed`, `seconds` and `requests`, found none");
        let exploration = exploration(&report, &options.budget).ok_or_else(missing)?;
        // An exploration comes on top of the requests of a run, and here nothing else runs.
        options.budget.requests = options.budget.requests.saturating_sub(exploration.requests);
        options.explore = Some(exploration);
    }
    if is_recorded || known.is_some_and(Check::is_passive) {
        options.requests = requests(&report, check, &target, &options).ok_or_else(|| {
            wrong(&format!("expected the requests of `{check}` in `exchanges`, found an incomplete one"))
        })?;
    }
    if is_recorded {
        return compare_again(contract, &target, options, check).await;
    }
    options.selection = Selection { only: vec![Glob::new(check)], skip: Vec::new() };
    let report = with_target(Some(target), async |target| {
        observed(contract, target, options, Detail::Verbose, Output::Stdout).await
    });
    Ok(report.await?.verdict)
}

/// A finding of `observe` that compares exchanges: its requests are sent again, and what is recorded of them is judged.
async fn compare_again(
    contract: &Contract,
    target: &Target,
    mut options: Options,
    check: &str,
) -> Result<Verdict, UsageError> {
    // These keep what is sent; what they find is left out below.
    let passive = registry().into_iter().filter(|check| check.is_passive());
    let only = passive.map(|check| Glob::new(check.id)).collect();
    options.selection = Selection { only, skip: Vec::new() };
    (options.keep_exchanges, options.retries) = (true, 0);
    let suite = Suite::new(contract, target, options)?;
    let again = suite.run(&SilentObserver).await;
    if again.verdict.prevents_testing() {
        Output::Stdout.print(&report::summary(&again, &Output::Stdout.screen(Detail::Normal)));
        return Ok(again.verdict);
    }
    let mut sent = Vec::new();
    report::har(&again, &mut sent)?;
    let archive = Archive::read(sent.as_slice(), u64::MAX)?;
    let traffic = Traffic::from_archive(contract, archive, Some(target.base().as_str()))?;
    let mut judged = observe(contract, &traffic, InferredClauses::default());
    judged.checks.retain(|result| result.id == check);
    let output = Output::Stdout;
    let screen = output.screen(Detail::Verbose);
    let lines: String = judged.checks.iter().map(|result| report::check_text(result, &screen)).collect();
    output.print(&format!("{lines}{}", report::failures(&judged, &screen)));
    Ok(match judged.checks.first().map(|result| &result.outcome) {
        Some(Outcome::Failed) => Verdict::Findings,
        Some(Outcome::Passed | Outcome::Warning) => Verdict::Conforms,
        _ => Verdict::Incomplete,
    })
}

/// How the ids of checks end that compare exchanges of recorded traffic.
const RECORDED: &str = ".recorded";

/// The exploration of a report, within the limits of this run.
fn exploration(report: &Value, budget: &Budget) -> Option<Exploration> {
    let number = |name| report.get("explored")?.get(name)?.as_u64();
    let time = Duration::from_secs(number("seconds")?).min(budget.wall);
    Some(Exploration { time, requests: number("requests")?.min(budget.requests), seed: number("seed")? })
}

/// The requests that show the findings of a check, in their order. None if one can't be read.
fn requests(report: &Value, check: &str, target: &Target, options: &Options) -> Option<Vec<Request>> {
    let checks = report.get("checks")?.as_array()?;
    let result = checks.iter().find(|result| result.get("id").and_then(Value::as_str) == Some(check))?;
    let secrets: Vec<Secret> = target.secrets().cloned().chain(options.wire.secrets()).collect();
    let exchanges = Vec::<RecordedExchange>::deserialize(result.get("exchanges")?).ok()?;
    let again = |exchange: &RecordedExchange| {
        // These headers are added again.
        let headers = options.wire.headers.iter();
        let request = exchange.request(&secrets).filter(|request| request.target().starts_with('/'))?;
        Some(headers.fold(request, |request, header| request.without_header(&header.name)))
    };
    let mut of_findings: Vec<Vec<Request>> = Vec::new();
    for finding in result.get("findings")?.as_array()? {
        let shown = Vec::<usize>::deserialize(finding.get("exchanges")?).ok()?;
        let exchanges = exchanges.iter().filter(|exchange| shown.contains(&exchange.index));
        let requests = exchanges.map(again).collect::<Option<_>>()?;
        if !of_findings.contains(&requests) {
            of_findings.push(requests);
        }
    }
    Some(of_findings.concat())
}

/// Maximum size of a report in JSON, in bytes: many times that of a run with all budgets used up.
const MAX_REPORT_BYTES: u64 = 256 << 20;

/// A report that was written before.
pub(super) fn read_report(path: &Path) -> Result<Value, UsageError> {
    let wrong = |message: &str| UsageError::from(format!("{}: {message}", path.display()));
    let text = files::read_text(path, MAX_REPORT_BYTES).map_err(|error| wrong(&error.to_string()))?;
    let report: Value = serde_json::from_str(&text).map_err(|_| wrong("expected a report in JSON"))?;
    match (report.get("checks"), report.get("schema_version").and_then(Value::as_u64)) {
        (Some(Value::Array(_)), Some(version)) if version == u64::from(Report::VERSION) => Ok(report),
        (Some(Value::Array(_)), Some(version)) => {
            let own = Report::VERSION;
            Err(wrong(&format!(
                "expected a report with `schema_version` {own}, found {version}; write it with this version of the suite"
            )))
        }
        _ => Err(wrong("expected a report in JSON, found no `checks` with `schema_version`")),
    }
}

/// Whether a report is of a target. It names the target without secrets.
fn is_same(recorded: &str, target: &Target, options: &Options) -> bool {
    let redactor = Redactor::new(target.secrets().cloned().chain(options.wire.secrets()));
    let shown = redactor.map(|redactor| redactor.redact(target.base().as_str()));
    shown.is_ok_and(|shown| shown.trim_end_matches('/') == recorded.trim_end_matches('/'))
}
