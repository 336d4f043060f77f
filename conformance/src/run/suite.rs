use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures::{FutureExt as _, StreamExt as _};

use super::{CheckResult, ClauseSummary, Observer, Report, Selection, Totals, Verdict};
use crate::check::{
    Check, Finding, Outcome, Probe, ProbeContext, Run, Severity, Stop, Watcher, Watchtower, registry,
};
use crate::contract::Contract;
use crate::target::Target;
use crate::wire::{
    Budget, FailureKind, Meter, Patience, Redactor, RedactorError, Request, Wire, WireError, WireOptions,
};

/// How a run is done.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which checks.
    pub selection: Selection,
    /// Hard ceilings.
    pub budget: Budget,
    /// Timeouts and waits.
    pub wire: WireOptions,
}

/// Why a run can't begin.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The secrets can't be searched for, so nothing may be recorded.
    #[error(transparent)]
    Redactor(#[from] RedactorError),
    /// The HTTP client can't be set up.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// Checks, the target that they are held against, and the ceilings they keep.
#[derive(Debug)]
pub struct Suite<'a> {
    contract: &'a Contract,
    target: &'a Target,
    checks: Vec<&'static Check>,
    concurrency: usize,
    meter: Arc<Meter>,
    wire: Wire,
    redactor: Redactor,
}

impl<'a> Suite<'a> {
    /// Version of the report's shape.
    const REPORT_VERSION: u32 = 1;

    /// Prepares a run; nothing is sent yet.
    ///
    /// # Errors
    /// When the HTTP client or the redactor can't be set up.
    pub fn new(contract: &'a Contract, target: &'a Target, options: Options) -> Result<Self, SetupError> {
        let Options { selection, budget, wire } = options;
        let concurrency = budget.concurrency.max(1);
        let meter = Arc::new(Meter::new(budget));
        Ok(Self {
            contract,
            target,
            checks: selection.choose(&registry()),
            concurrency,
            wire: Wire::new(target.base().clone(), wire, Arc::clone(&meter))?,
            redactor: Redactor::new(target.secrets())?,
            meter,
        })
    }

    /// The checks that a run would consist of.
    #[must_use]
    pub fn checks(&self) -> &[&'static Check] {
        &self.checks
    }

    /// Runs the checks and gives the report.
    pub async fn run(self, observer: &dyn Observer) -> Report {
        let begun = Instant::now();
        let timestamp = jiff::Timestamp::now().to_string();
        observer.begun(&self.checks);
        let (checks, stopped, reached) = match self.unreachable().await {
            Some(reason) => (Vec::new(), Some(reason), false),
            None => {
                let (checks, stopped) = self.run_checks(observer).await;
                (checks, stopped, true)
            }
        };
        let totals = Totals::of(&checks);
        Report {
            schema_version: Self::REPORT_VERSION,
            suite: concat!("sallyport-conformance ", env!("CARGO_PKG_VERSION")).to_owned(),
            target: self.redactor.redact(self.target.base().as_str()),
            begun: timestamp,
            elapsed_ms: millis(begun),
            verdict: if reached { Verdict::of(totals, stopped.is_some()) } else { Verdict::Unreachable },
            stopped,
            totals,
            usage: self.meter.usage(),
            clauses: ClauseSummary::of(&checks),
            checks,
        }
    }

    /// Asks for the groups once: a target that can't be reached should not fail a hundred checks.
    async fn unreachable(&self) -> Option<String> {
        let groups = &self.contract.groups;
        let request = Request::to(&groups.operation).query(&groups.api_key.name, self.target.token.expose());
        match self.wire.send(&request, 0, Patience::FirstAnswer, |_| {}).await {
            Ok(exchange) => match exchange.result {
                Err(failure) if failure.kind == FailureKind::Connect => {
                    Some(self.redactor.redact(&format!("no connection to the target: {failure}")))
                }
                _ => None,
            },
            // A budget of no requests shows itself in every check.
            Err(_) => None,
        }
    }

    async fn run_checks(&self, observer: &dyn Observer) -> (Vec<CheckResult>, Option<String>) {
        let watchtower = Watchtower::new(&self.checks);
        let context = ProbeContext {
            contract: self.contract,
            target: self.target,
            wire: &self.wire,
            redactor: &self.redactor,
            watchtower: &watchtower,
        };
        let exhausted = AtomicBool::new(false);
        let probes = self.checks.iter().copied().filter(|check| matches!(check.run, Run::Probe(_)));
        let runs = probes.map(|check| run_check(check, &context, observer, &exhausted));
        let mut results: Vec<CheckResult> =
            futures::stream::iter(runs).buffer_unordered(self.concurrency).collect().await;
        for watcher in watchtower.into_watchers() {
            let result = watched(watcher, self.contract);
            observer.check_ended(&result);
            results.push(result);
        }
        results.sort_by_key(|result| result.id);
        let stopped = exhausted.into_inner().then(|| "the budget was used up before the end".to_owned());
        (results, stopped)
    }
}

async fn run_check(
    check: &'static Check,
    context: &ProbeContext<'_>,
    observer: &dyn Observer,
    exhausted: &AtomicBool,
) -> CheckResult {
    let missing: Vec<String> = missing_facts(check, context.target);
    let result = if missing.is_empty() {
        observer.check_begun(check);
        probe(check, context, exhausted).await
    } else {
        let reason = format!("supply {} to run this", missing.join(" and "));
        CheckResult::not_run(check, Outcome::Skipped(reason))
    };
    observer.check_ended(&result);
    result
}

async fn probe(check: &'static Check, context: &ProbeContext<'_>, exhausted: &AtomicBool) -> CheckResult {
    let Run::Probe(run) = check.run else {
        return CheckResult::not_run(check, Outcome::Error("a watching check was run as a probe".to_owned()));
    };
    let begun = Instant::now();
    let probe = Probe::new(check, context);
    let ended = AssertUnwindSafe(run(&probe)).catch_unwind().await;
    let ended =
        ended.unwrap_or_else(|_| Err(Stop::Error("the check panicked: a fault of the suite".to_owned())));
    if matches!(ended, Err(Stop::Budget(_))) {
        exhausted.store(true, Ordering::Relaxed);
    }
    let concluded = probe.conclude(ended);
    CheckResult {
        outcome: concluded.outcome,
        findings: concluded.findings,
        observations: concluded.observations,
        exchanges: concluded.exchanges,
        requests: concluded.requests,
        elapsed_ms: millis(begun),
        ..CheckResult::not_run(check, Outcome::Pass)
    }
}

/// What a watching check has come to at the end of a run.
fn watched(watcher: Watcher, contract: &Contract) -> CheckResult {
    let Watcher { check, seen, complaints } = watcher;
    if seen == 0 {
        let reason = "no answer of the other checks concerned it; run it together with them";
        return CheckResult::not_run(check, Outcome::Skipped(reason.to_owned()));
    }
    let mut result = CheckResult::not_run(check, Outcome::Pass);
    for noted in complaints.into_values() {
        let complaint = noted.complaint;
        let requirement = contract.catalogue.clause(&complaint.clause);
        let Some(requirement) = requirement.filter(|_| check.clauses.contains(&complaint.clause.as_str()))
        else {
            let reason = format!("the check cites {}, which it does not declare", complaint.clause);
            result.outcome = Outcome::Error(reason);
            return result;
        };
        let times = if noted.times == 1 { String::new() } else { format!(" (in {} answers)", noted.times) };
        let mut exchange = noted.exchange;
        exchange.index = result.exchanges.len();
        result.findings.push(Finding {
            clause: complaint.clause,
            requirement: requirement.text.clone(),
            expected: complaint.expected,
            actual: format!("{}{times}", complaint.actual),
            severity: Severity::Fail,
            exchanges: vec![exchange.index],
        });
        result.exchanges.push(exchange);
    }
    if !result.findings.is_empty() {
        result.outcome = Outcome::Fail;
    }
    result
}

fn missing_facts(check: &Check, target: &Target) -> Vec<String> {
    let missing = check.needs.iter().filter(|fact| !target.facts.has(**fact));
    missing.map(ToString::to_string).collect()
}

fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
