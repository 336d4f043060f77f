use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{FutureExt as _, StreamExt as _};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::busy::Busy;
use super::expected::{ExpectedFailure, expectations, weigh};
use super::preflight::preflight;
use super::{
    CheckResult, ClauseSummary, Observer, Plan, Profile, Report, Selection, Stopper, Totals, Verdict,
};
use crate::check::{
    Check, Finding, KnownForms, Outcome, Probe, ProbeContext, Run, Severity, Stop, Watcher, Watchtower,
    registry,
};
use crate::contract::{Clause, Contract};
use crate::relation::Surveys;
use crate::target::{Canaries, Target};
use crate::wire::{Budget, Meter, Redactor, ShortSecret, Wire, WireError, WireOptions};

/// How a run is done.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which checks.
    pub selection: Selection,
    /// How much of the target the run may take; chooses among the selected checks.
    pub profile: Profile,
    /// Hard ceilings. The default ones are those of [`Profile::Full`].
    pub budget: Budget,
    /// Timeouts, waits, proxy and trust.
    pub wire: WireOptions,
    /// How often a check that found something is run again, before it is called a failure.
    pub retries: u32,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// Clauses that are known to be broken.
    pub expected: Vec<ExpectedFailure>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            profile: Profile::default(),
            budget: Budget::default(),
            wire: WireOptions::default(),
            retries: 1,
            fail_fast: false,
            expected: Vec::new(),
        }
    }
}

/// Why a run can't begin.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The HTTP client can't be set up.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A secret can't be kept out of reports.
    #[error(transparent)]
    Secret(#[from] ShortSecret),
    /// The texts that must never appear can't be searched for.
    #[error("the canaries can't be searched for: {0}")]
    Canaries(#[from] aho_corasick::BuildError),
}

/// Checks, the target that they are held against, and the ceilings they keep.
#[derive(Debug)]
pub struct Suite<'a> {
    contract: &'a Contract,
    target: &'a Target,
    plan: Plan,
    profile: Profile,
    concurrency: usize,
    retries: u32,
    fail_fast: bool,
    expected: Vec<ExpectedFailure>,
    today: Date,
    meter: Arc<Meter>,
    wire: Wire,
    redactor: Redactor,
    canaries: Canaries,
    stopper: Stopper,
}

impl<'a> Suite<'a> {
    /// Prepares a run of the checks that this crate has; nothing is sent yet.
    ///
    /// # Errors
    /// When the HTTP client can't be set up.
    pub fn new(contract: &'a Contract, target: &'a Target, options: Options) -> Result<Self, SetupError> {
        Self::with_checks(contract, target, options, &registry())
    }

    /// Prepares a run of other checks, for instance the caller's own.
    ///
    /// # Errors
    /// As for [`Suite::new`].
    pub fn with_checks(
        contract: &'a Contract,
        target: &'a Target,
        options: Options,
        checks: &[&'static Check],
    ) -> Result<Self, SetupError> {
        let Options { selection, profile, budget, wire, retries, fail_fast, expected } = options;
        let redactor = Redactor::new(target.secrets().cloned().chain(wire.secrets()))?;
        let plan = Plan::new(checks, &selection, profile, &target.facts, &budget);
        let concurrency = budget.concurrency.max(1);
        let meter = Arc::new(Meter::new(budget));
        Ok(Self {
            contract,
            target,
            plan,
            profile,
            concurrency,
            retries,
            fail_fast,
            expected,
            today: jiff::Timestamp::now().to_zoned(TimeZone::UTC).date(),
            wire: Wire::new(target.base().clone(), wire, Arc::clone(&meter))?,
            redactor,
            canaries: Canaries::new(&target.facts.canaries)?,
            meter,
            stopper: Stopper::default(),
        })
    }

    /// What a run would do.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A handle that ends the run before its end, for instance on Ctrl-C.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Runs the checks. The report holds no secret.
    pub async fn run(self, observer: &dyn Observer) -> Report {
        let begun = Instant::now();
        let timestamp = jiff::Timestamp::now();
        let checks: Vec<&'static Check> = self.plan.planned().iter().map(|planned| planned.check).collect();
        observer.begun(&checks);
        let unreachable = tokio::select! {
            unreachable = preflight(self.contract, self.target, &self.wire) => unreachable,
            () = self.ended() => None,
        };
        let reached = unreachable.is_none();
        let (checks, busy) = match &unreachable {
            Some(_) => (Vec::new(), Duration::ZERO),
            None => self.run_checks(observer).await,
        };
        let expectations = expectations(&checks, &self.expected, self.today);
        let totals = Totals::of(&checks);
        let stopped = unreachable.or_else(|| self.stopper.reason().map(str::to_owned));
        Report {
            schema_version: Report::VERSION,
            suite: concat!("sallyport-conformance ", env!("CARGO_PKG_VERSION")).to_owned(),
            target: self.redactor.redact(self.target.base().as_str()),
            begun: timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            elapsed_ms: millis(begun.elapsed()),
            busy_ms: millis(busy),
            profile: self.profile.name(),
            verdict: if reached { Verdict::of(totals, stopped.is_some()) } else { Verdict::Unreachable },
            stopped: stopped.map(|reason| self.redactor.redact(&reason)),
            totals,
            usage: self.meter.usage(),
            expectations,
            clauses: ClauseSummary::of(&checks, &self.contract.catalogue),
            checks,
        }
    }

    async fn run_checks(&self, observer: &dyn Observer) -> (Vec<CheckResult>, Duration) {
        let planned = self.plan.planned();
        let running: Vec<_> =
            planned.iter().filter(|planned| planned.skipped.is_none()).map(|planned| planned.check).collect();
        let watchtower = Watchtower::new(&running);
        let surveys = Surveys::default();
        let known_forms = KnownForms::default();
        let context = ProbeContext {
            contract: self.contract,
            target: self.target,
            wire: &self.wire,
            redactor: &self.redactor,
            canaries: &self.canaries,
            watchtower: &watchtower,
            surveys: &surveys,
            known_forms: &known_forms,
        };
        let mut results = Vec::with_capacity(planned.len());
        for planned in planned {
            if let Some(reason) = &planned.skipped {
                results.push(CheckResult::not_run(planned.check, Outcome::Skipped(reason.clone())));
            }
        }
        results.iter().for_each(|result| observer.check_ended(result));

        let probes = running.iter().copied().filter(|check| matches!(check.run, Run::Probe(_)));
        let runs = probes.map(|check| self.run_check(check, &context, observer));
        let busy = self.collect(runs, observer, &mut results).await;

        if self.retries > 0 {
            tokio::select! {
                () = look_again(&context) => {}
                () = self.ended() => {}
            }
        }
        for watcher in watchtower.into_watchers() {
            let mut result = watched(watcher, self.contract);
            weigh(&mut result, &self.expected, self.today);
            observer.check_ended(&result);
            results.push(result);
        }
        self.add_those_not_reached(&running, observer, &mut results);
        results.sort_by_key(|result| result.id);
        (results, busy)
    }

    /// Waits until somebody ends the run, or its time is over.
    async fn ended(&self) {
        tokio::select! {
            () = self.stopper.stopped() => {}
            () = tokio::time::sleep(self.meter.time_left()) => {
                self.stopper.stop("the budget of wall time is used up");
            }
        }
    }

    /// Runs checks until they are done or the run is stopped. Those that are under way then keep what they have found.
    async fn collect<'b>(
        &self,
        runs: impl Iterator<Item = impl Future<Output = Option<(CheckResult, Duration)>> + Send + 'b>,
        observer: &dyn Observer,
        results: &mut Vec<CheckResult>,
    ) -> Duration {
        let mut runs = std::pin::pin!(futures::stream::iter(runs).buffer_unordered(self.concurrency));
        let mut busy = Duration::ZERO;
        while let Some(ended) = runs.next().await {
            let Some((result, busy_here)) = ended else { continue };
            busy += busy_here;
            observer.check_ended(&result);
            if self.fail_fast && result.outcome == Outcome::Fail {
                self.stopper.stop(format!("{} failed, and the first failure ends the run", result.id));
            }
            results.push(result);
        }
        busy
    }

    fn add_those_not_reached(
        &self,
        running: &[&'static Check],
        observer: &dyn Observer,
        results: &mut Vec<CheckResult>,
    ) {
        let Some(reason) = self.stopper.reason() else { return };
        let ended: BTreeSet<&str> = results.iter().map(|result| result.id).collect();
        let missing: Vec<_> = running.iter().filter(|check| !ended.contains(check.id)).copied().collect();
        for check in missing {
            let reason = format!("the run ended before it: {reason}");
            let result = CheckResult::not_run(check, Outcome::Skipped(self.redactor.redact(&reason)));
            observer.check_ended(&result);
            results.push(result);
        }
    }

    /// Runs a check, and runs it again when it found something: what does not come again is flaky. None when the run has ended
    /// before it. One that stood on data
    /// which has changed since is run once more, on fresh data.
    async fn run_check(
        &self,
        check: &'static Check,
        context: &ProbeContext<'_>,
        observer: &dyn Observer,
    ) -> Option<(CheckResult, Duration)> {
        if self.stopper.reason().is_some() {
            return None;
        }
        observer.check_begun(check);
        let Tried { mut result, mut busy, stale, .. } = self.probe(check, context).await;
        if stale && result.outcome != Outcome::Fail {
            let again = self.probe(check, context).await;
            busy += again.busy;
            result = added(again.result, &result);
        }
        for retry in 1..=self.retries {
            if result.outcome != Outcome::Fail || self.stopper.reason().is_some() {
                break;
            }
            let again = self.probe(check, context).await;
            busy += again.busy;
            // A ceiling of our own says nothing against what was found.
            let doubt = if again.starved { None } else { doubt(&result, &again.result) };
            result = added(result, &again.result);
            if let Some(doubt) = doubt {
                result.outcome = Outcome::Flaky(format!("broken at first, and {doubt} ({retry})"));
            }
        }
        weigh(&mut result, &self.expected, self.today);
        Some((result, busy))
    }

    async fn probe(&self, check: &'static Check, context: &ProbeContext<'_>) -> Tried {
        let Run::Probe(run) = check.run else {
            let outcome = Outcome::Error("a watching check was run as a probe".to_owned());
            let result = CheckResult::not_run(check, outcome);
            return Tried { result, busy: Duration::ZERO, stale: false, starved: false };
        };
        let begun = Instant::now();
        let probe = Probe::new(check, context);
        let running = Busy::new(AssertUnwindSafe(run(&probe)).catch_unwind());
        let (ended, busy) = tokio::select! {
            (ended, busy) = running => (ended, busy),
            () = self.ended() => {
                let reason = self.stopper.reason().unwrap_or_default();
                (Ok(Err(Stop::Skip(format!("the run ended before it: {reason}")))), Duration::ZERO)
            }
        };
        let ended =
            ended.unwrap_or_else(|_| Err(Stop::Error("the check panicked: a fault of the suite".to_owned())));
        let starved = matches!(ended, Err(Stop::Budget(_))) || self.stopper.reason().is_some();
        if let Err(Stop::Budget(exhausted)) = &ended
            && exhausted.ends_the_run()
        {
            self.stopper.stop(exhausted.to_string());
        }
        let concluded = probe.conclude(ended);
        let result = CheckResult {
            outcome: concluded.outcome,
            findings: concluded.findings,
            observations: concluded.observations,
            exchanges: concluded.exchanges,
            evidence: concluded.evidence,
            requests: concluded.requests,
            elapsed_ms: millis(begun.elapsed()),
            ..CheckResult::not_run(check, Outcome::Pass)
        };
        Tried { result, busy, stale: concluded.stale, starved }
    }
}

/// One run of a check.
struct Tried {
    result: CheckResult,
    busy: Duration,
    /// The data that it stood on has changed.
    stale: bool,
    /// A ceiling of the budget ended it.
    starved: bool,
}

/// Why a failure is in doubt after the check was run again; none when the same clause was broken again.
fn doubt(before: &CheckResult, again: &CheckResult) -> Option<String> {
    let broken = |result: &CheckResult| -> BTreeSet<Clause> {
        let failing = result.findings.iter().filter(|finding| finding.severity == Severity::Fail);
        failing.map(|finding| finding.clause).collect()
    };
    match &again.outcome {
        Outcome::Fail if !broken(before).is_disjoint(&broken(again)) => None,
        Outcome::Fail => Some("another clause when it was run again".to_owned()),
        Outcome::Pass | Outcome::Warn => Some("kept when it was run again".to_owned()),
        other => {
            let reason = other.reason().unwrap_or_default();
            Some(format!("without a result when it was run again: {reason}"))
        }
    }
}

/// A result, with what another run of its check cost.
fn added(result: CheckResult, other: &CheckResult) -> CheckResult {
    let (requests, elapsed_ms) = (result.requests + other.requests, result.elapsed_ms + other.elapsed_ms);
    CheckResult { requests, elapsed_ms, ..result }
}

/// Sends the requests again whose answers a watching check complained of once. What does not come again is in doubt, unless
/// the new answer is none that the check looks at.
async fn look_again(context: &ProbeContext<'_>) {
    const MOST: usize = 20;
    let tower = context.watchtower;
    for (check, key, request) in tower.seen_once().into_iter().take(MOST) {
        let Some((looked_at, true)) = tower.standing(check, &key) else { continue };
        // What can't be sent again, for instance because a ceiling is reached, stays as it is.
        if Probe::new(check, context).send(&request).await.is_ok()
            && let Some((looked_at_now, once)) = tower.standing(check, &key)
            && once
            && looked_at_now > looked_at
        {
            tower.doubt(check, &key);
        }
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
    let failing = || complaints.values().filter(|noted| noted.complaint.severity == Severity::Fail);
    let (failures, doubtful) = (failing().count(), failing().filter(|noted| noted.doubtful).count());
    for noted in complaints.into_values() {
        let complaint = noted.complaint;
        if !check.clauses.contains(&complaint.clause) {
            let reason = format!("the check cites {}, which it does not declare", complaint.clause);
            result.outcome = Outcome::Error(reason);
            return result;
        }
        let times = if noted.times == 1 { String::new() } else { format!(" (in {} answers)", noted.times) };
        let mut exchange = noted.exchange;
        exchange.index = result.exchanges.len();
        result.findings.push(Finding {
            clause: complaint.clause,
            requirement: contract.catalogue.clause(complaint.clause).text.clone(),
            expected: complaint.expected,
            actual: format!("{}{times}", complaint.actual),
            severity: complaint.severity,
            exchanges: vec![exchange.index],
        });
        result.exchanges.push(exchange);
    }
    if failures > 0 {
        result.outcome = if doubtful < failures {
            Outcome::Fail
        } else {
            Outcome::Flaky("broken in one answer, and kept when the request was sent again".to_owned())
        };
    } else if !result.findings.is_empty() {
        result.outcome = Outcome::Warn;
    }
    result
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
