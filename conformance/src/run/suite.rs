mod active;
mod explored;
mod passive;
mod rerun;

pub(crate) use passive::concluded as concluded_passive;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::expected::{ExpectedFailure, apply_expectations, expectations};
use super::preflight::preflight_with_token;
use super::{
    CheckResult, ClauseSummary, Coverage, Diagnosis, Gates, Observer, Plan, PlannedCase, Profile, Report,
    Rerun, Selection, Stopper, Totals, Verdict,
};
use crate::check::{
    Check, ExchangeLog, InferredClauses, Outcome, PassiveChecks, Probe, ProbeContext, RunLog, Scope,
};
use crate::checks::{self, registry};
use crate::contract::Contract;
use crate::detection::{Cases, Detection, Matrix};
use crate::explore::{Exploration, ExplorationResult, RELATIONS};
use crate::response::RegionSupply;
use crate::target::{Canaries, DiscoveredFact, Fact, Facts, Target};
use crate::wire::{Budget, Meter, Redactor, ShortSecret, Wire, WireError, WireOptions};

/// The options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which checks and cases run.
    pub selection: Selection,
    /// Name of the profile, for the report.
    pub profile: Profile,
    /// Limits; default: those of [`Profile::Full`].
    pub budget: Budget,
    /// Timeouts, waits, proxy and trust.
    pub wire: WireOptions,
    /// Maximum number of retries of a failing case. One that then passes is flaky.
    pub retries: u32,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// Clauses that are expected to fail.
    pub expected: Vec<ExpectedFailure>,
    /// Gates: what the run must show before it conforms.
    pub gates: Gates,
    /// Severity of findings on clauses that the contract presupposes but does not state.
    pub inferred: InferredClauses,
    /// Name and version of the tested implementation, for the report.
    pub implementation: Option<String>,
    /// Percentage of the known faults to notice; cases that are not needed for it are skipped.
    pub detect: Option<u8>,
    /// Whether to explore beyond the fixed cases.
    pub explore: Option<Exploration>,
    /// Whether the report keeps every exchange of the checks, for [`Format::Har`](crate::report::Format::Har). This takes memory
    /// and time, because each of them is redacted.
    pub keep_exchanges: bool,
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
            gates: Gates::default(),
            inferred: InferredClauses::default(),
            implementation: None,
            detect: None,
            explore: None,
            keep_exchanges: false,
        }
    }
}

/// Why a run cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The HTTP client can't be set up.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A secret is too short to be kept out of reports.
    #[error(transparent)]
    Secret(#[from] ShortSecret),
    /// The texts that must never appear can't be searched for.
    #[error("cannot search for the canaries: {0}")]
    Canaries(#[from] aho_corasick::BuildError),
    /// The known faults cannot be parsed, which is a bug of the suite.
    #[error("cannot read the known faults: {0}")]
    Matrix(&'static str),
}

/// Checks, the target that they test, and the limits of the load on it.
#[derive(Debug)]
pub struct Suite<'a> {
    contract: &'a Contract,
    target: &'a Target,
    registered: Vec<&'static Check>,
    selection: Selection,
    detect: Option<u8>,
    plan: Plan,
    matrix: &'static Matrix,
    profile: Profile,
    concurrency: usize,
    retries: u32,
    fail_fast: bool,
    expected: Vec<ExpectedFailure>,
    gates: Gates,
    inferred: InferredClauses,
    implementation: Option<String>,
    exploration: Option<Exploration>,
    keep_exchanges: bool,
    budget: Budget,
    today: Date,
    meter: Arc<Meter>,
    wire: Wire,
    redactor: Redactor,
    canaries: Canaries,
    stopper: Stopper,
}

/// The results of the checks.
#[derive(Debug, Default)]
struct RunResults {
    checks: Vec<CheckResult>,
    busy: Duration,
    run_again: Rerun,
    explored: Option<ExplorationResult>,
    log: RunLog,
}

/// What the checks of a run share, apart from the target.
#[derive(Debug)]
struct Shared {
    passive: PassiveChecks,
    state: checks::State,
    region: RegionSupply,
    log: Option<ExchangeLog>,
}

impl Shared {
    /// A fact that is discovered unlocks cases of active checks only.
    fn new(suite: &Suite<'_>) -> Self {
        let running = suite.plan.planned().iter().filter(|planned| planned.skipped().is_none());
        let checks: Vec<_> = running.map(|planned| planned.check).collect();
        Self {
            passive: PassiveChecks::new(&checks, suite.inferred),
            state: checks::State::default(),
            region: RegionSupply::default(),
            log: suite.keep_exchanges.then(ExchangeLog::default),
        }
    }
}

/// When a run began.
#[derive(Debug, Clone, Copy)]
struct Begun {
    instant: Instant,
    timestamp: jiff::Timestamp,
}

/// With fewer gateways none is spent on looking for an empty region, which takes one or two.
const MIN_GATEWAYS_FOR_EMPTY_REGION: u64 = 10;

/// With fewer gateways none is spent on looking for a scarce region, which takes some hundred.
const MIN_GATEWAYS_FOR_SCARCE_REGION: u64 = 2_000;

impl<'a> Suite<'a> {
    /// Prepares a run of this crate's checks; nothing is sent yet.
    ///
    /// # Errors
    /// When the HTTP client can't be set up.
    pub fn new(contract: &'a Contract, target: &'a Target, options: Options) -> Result<Self, SetupError> {
        Self::with_checks(contract, target, options, &registry())
    }

    /// Prepares a run of other checks, for example the caller's own.
    ///
    /// # Errors
    /// As for [`Suite::new`].
    pub fn with_checks(
        contract: &'a Contract,
        target: &'a Target,
        options: Options,
        checks: &[&'static Check],
    ) -> Result<Self, SetupError> {
        let Options {
            selection,
            profile,
            budget,
            wire,
            retries,
            fail_fast,
            expected,
            gates,
            inferred,
            implementation,
            detect,
            explore: exploration,
            keep_exchanges,
        } = options;
        let redactor = Redactor::new(target.secrets().cloned().chain(wire.secrets()))?;
        let scope = Scope { contract, facts: &target.facts };
        let matrix = Matrix::embedded().map_err(SetupError::Matrix)?;
        let plan = Plan::new(checks, &selection, &scope, &budget, matrix, detect);
        let concurrency = budget.concurrency.max(1);
        let explored = exploration.map_or(0, |exploration| exploration.requests);
        let ceilings = Budget { requests: budget.requests.saturating_add(explored), ..budget.clone() };
        let meter = Arc::new(Meter::new(ceilings));
        Ok(Self {
            contract,
            target,
            registered: checks.to_vec(),
            selection,
            detect,
            plan,
            matrix,
            profile,
            concurrency,
            retries,
            fail_fast,
            expected,
            gates,
            inferred,
            implementation,
            exploration,
            keep_exchanges,
            budget,
            today: jiff::Timestamp::now().to_zoned(TimeZone::UTC).date(),
            wire: Wire::new(target.base().clone(), wire, Arc::clone(&meter))?,
            redactor,
            canaries: Canaries::new(&target.facts.canaries)?,
            meter,
            stopper: Stopper::default(),
        })
    }

    /// The plan of the run. A run that discovers a fact makes another one.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A handle that ends the run early, for example on Ctrl-C.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Runs the checks. The report holds no secret.
    pub async fn run(self, observer: &dyn Observer) -> Report {
        let begun = Begun { instant: Instant::now(), timestamp: jiff::Timestamp::now() };
        let planned = self.plan.planned().iter().map(|planned| planned.check);
        let checks: Vec<&'static Check> = planned.chain(self.exploration.map(|_| &RELATIONS)).collect();
        observer.begun(&checks);
        let shared = Shared::new(&self);
        let preflight = async {
            match self.unreachable().await {
                None => Ok(self.discover(&shared).await),
                Some(reason) => Err(reason),
            }
        };
        let reached = tokio::select! {
            reached = preflight => reached,
            () = self.ended() => Ok(None),
        };
        match reached {
            Ok(Some(facts)) => {
                let discovered = DiscoveredFact::all(&facts);
                let target = self.target.with(facts);
                let suite = self.planned_for(&target);
                let results = suite.run_checks(shared, observer).await;
                suite.report(begun, results, discovered, None)
            }
            Ok(None) => {
                let target = self.target;
                let suite = if self.meter.gateways_taken() > 0 { self.planned_for(target) } else { self };
                let results = suite.run_checks(shared, observer).await;
                suite.report(begun, results, Vec::new(), None)
            }
            Err(reason) => self.report(begun, RunResults::default(), Vec::new(), Some(reason)),
        }
    }

    /// The same run with the facts of another target, which may unlock more cases, and the gateways that are left.
    fn planned_for<'b>(self, target: &'b Target) -> Suite<'b>
    where
        'a: 'b,
    {
        let scope = Scope { contract: self.contract, facts: &target.facts };
        let Self { registered, selection, matrix, detect, .. } = &self;
        let gateways = self.budget.gateways.saturating_sub(self.meter.gateways_taken());
        let left = Budget { gateways, ..self.budget.clone() };
        let plan = Plan::new(registered, selection, &scope, &left, matrix, *detect);
        Suite { target, plan, ..self }
    }

    /// Facts that the tester did not supply and the run needs, as far as the target shows them.
    async fn discover(&self, shared: &Shared) -> Option<Facts> {
        let Self { target, plan, budget, .. } = self;
        let is_due = |fact, gateways| plan.lacks(fact, &target.facts) && budget.gateways >= gateways;
        let context = self.context(shared);
        let probe = Probe::new(&checks::DISCOVERY, &context);
        let mut found = Facts::default();
        if is_due(Fact::EmptyRegion, MIN_GATEWAYS_FOR_EMPTY_REGION) {
            found.empty_region = checks::discover_empty_region(&probe).await.map(str::to_owned);
        }
        if is_due(Fact::ScarceRegion, MIN_GATEWAYS_FOR_SCARCE_REGION) {
            found.scarce_region = checks::discover_scarce_region(&probe).await.map(str::to_owned);
        }
        (found.empty_region.is_some() || found.scarce_region.is_some()).then_some(found)
    }

    fn report(
        &self,
        begun: Begun,
        results: RunResults,
        discovered: Vec<DiscoveredFact>,
        unreachable: Option<String>,
    ) -> Report {
        let reached = unreachable.is_none();
        let RunResults { checks, busy, run_again, explored, log } = results;
        if let Some(overdrawn) = self.meter.overdrawn() {
            self.stopper.stop(overdrawn.to_string());
        }
        let expectations = expectations(&checks, &self.expected, self.today);
        let totals = Totals::from_results(&checks);
        let coverage = match &unreachable {
            Some(reason) => Coverage::none(&self.contract.catalogue, reason),
            None => Coverage::new(&checks, &self.contract.catalogue),
        };
        let cases = cases(&self.plan, &checks);
        let detection = Detection::new(self.matrix, &cases);
        let diagnosis = Diagnosis::from_results(&checks, &cases, self.matrix);
        drop(cases);
        let unmet = match reached {
            true => self.gates.unmet(&checks, &coverage, &detection, &expectations),
            false => Vec::new(),
        };
        let stopped = unreachable.or_else(|| self.stopper.reason().map(str::to_owned));
        Report {
            schema_version: Report::VERSION,
            suite: concat!("sallyport-conformance ", env!("CARGO_PKG_VERSION")).to_owned(),
            target: self.redactor.redact(self.target.base().as_str()),
            implementation: self.implementation.as_deref().map(|name| self.redactor.redact(name)),
            contract: self.contract.version.clone(),
            contract_sha256: self.contract.sha256.clone(),
            begun: begun.timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            elapsed_ms: millis(begun.instant.elapsed()),
            busy_ms: millis(busy),
            profile: self.profile.name(),
            budget: self.budget.clone(),
            inferred: self.inferred,
            verdict: match reached {
                true if self.gates.fails(totals) => Verdict::Findings,
                true => Verdict::from_totals(totals, stopped.is_some() || !unmet.is_empty()),
                false => Verdict::Unreachable,
            },
            stopped: stopped.map(|reason| self.redactor.redact(&reason)),
            totals,
            usage: self.meter.usage(),
            throttling: self.meter.throttling(),
            discovered,
            run_again,
            explored,
            expectations,
            coverage,
            detection,
            diagnosis,
            unmet,
            clauses: ClauseSummary::from_results(&checks, &self.contract.catalogue),
            checks,
            log,
        }
    }

    /// Why the target can't be tested, if it can't.
    async fn unreachable(&self) -> Option<String> {
        let Self { contract, target, wire, redactor, .. } = self;
        preflight_with_token(contract, target, wire, redactor).await
    }

    fn context<'b>(&'b self, shared: &'b Shared) -> ProbeContext<'b> {
        let Shared { passive, state, region, log } = shared;
        ProbeContext {
            contract: self.contract,
            target: self.target,
            wire: &self.wire,
            redactor: &self.redactor,
            canaries: &self.canaries,
            passive,
            inferred: self.inferred,
            log: log.as_ref(),
            region,
            state,
        }
    }

    async fn run_checks(&self, shared: Shared, observer: &dyn Observer) -> RunResults {
        let planned = self.plan.planned();
        let (skipped, running): (Vec<_>, Vec<_>) =
            planned.iter().partition(|planned| planned.skipped().is_some());
        let checks: Vec<_> = running.iter().map(|planned| planned.check).collect();
        let context = self.context(&shared);
        let mut results = Vec::with_capacity(planned.len());
        for planned in skipped {
            let reason = planned.skipped().unwrap_or_default();
            results.push(CheckResult::not_run(planned.check, Outcome::Skipped(reason)));
        }
        results.iter().for_each(|result| observer.check_ended(result));

        let active = running.iter().copied().filter(|planned| !planned.check.is_passive());
        let (first, others): (Vec<_>, Vec<_>) = active.partition(|planned| planned.check.runs_first());
        let (mut busy, mut inconclusive) = (Duration::ZERO, Vec::new());
        for group in [first, others] {
            let runs = group.into_iter().map(|planned| self.run_check(planned, &context, observer));
            let (of_group, again) = self.collect(runs, observer, &mut results).await;
            busy += of_group;
            inconclusive.extend(again);
        }
        let (run_again, busy_again) =
            self.run_inconclusive_again(inconclusive, &context, observer, &mut results).await;
        let (explored, busy_exploring) = self.explore(&context, observer, &mut results).await;
        busy += busy_again + busy_exploring;

        if self.retries > 0 {
            tokio::select! {
                () = passive::repeat_single_failures(&context) => {}
                () = self.ended() => {}
            }
        }
        let not_applicable = passive::not_applicable(!self.plan.is_all());
        for check in shared.passive.into_checks() {
            let mut result = passive::concluded(check, self.contract, &not_applicable);
            apply_expectations(&mut result, &self.expected, self.today);
            observer.check_ended(&result);
            results.push(result);
        }
        self.add_unreached(&checks, observer, &mut results);
        results.sort_by_key(|result| result.id);
        let log = shared.log.map(ExchangeLog::into_log).unwrap_or_default();
        RunResults { checks: results, busy, run_again, explored, log }
    }

    /// Waits until the run is ended, or its time is used up.
    async fn ended(&self) {
        tokio::select! {
            () = self.stopper.stopped() => {}
            () = tokio::time::sleep(self.meter.time_left()) => {
                self.stopper.stop("the budget of wall time is used up");
            }
        }
    }

    /// Runs checks until they are done or the run is stopped. Those that are running then keep their findings. Returns the
    /// inconclusive ones, which will run again.
    async fn collect<'b>(
        &self,
        runs: impl Iterator<Item = impl Future<Output = Option<(CheckResult, Duration)>> + Send + 'b>,
        observer: &dyn Observer,
        results: &mut Vec<CheckResult>,
    ) -> (Duration, Vec<CheckResult>) {
        let mut runs = std::pin::pin!(futures::stream::iter(runs).buffer_unordered(self.concurrency));
        let mut busy = Duration::ZERO;
        let mut inconclusive = Vec::new();
        while let Some(ended) = runs.next().await {
            let Some((result, busy_here)) = ended else { continue };
            busy += busy_here;
            if matches!(result.outcome, Outcome::Inconclusive(_)) {
                inconclusive.push(result);
                continue;
            }
            observer.check_ended(&result);
            if self.fail_fast && result.outcome == Outcome::Failed {
                self.stopper.stop(format!("{} failed, and the first failure ends the run", result.id));
            }
            results.push(result);
        }
        (busy, inconclusive)
    }

    fn add_unreached(
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
}

/// The cases of the run. A case without a result has the reason of the plan, or of its check.
fn cases<'a>(plan: &'a Plan, results: &'a [CheckResult]) -> Cases<'a> {
    let mut cases = Cases::default();
    for planned in plan.planned() {
        let Some(result) = results.iter().find(|result| result.id == planned.check.id) else { continue };
        cases.add_judge(result.id);
        for planned_case in &planned.cases {
            let PlannedCase { case, skipped } = planned_case;
            let outcome = result.cases.iter().find(|ran| ran.label == case.label()).map(|ran| &ran.outcome);
            let outcome = outcome.unwrap_or(&result.outcome);
            let reason = match outcome.concluded() {
                true => None,
                false => skipped.as_deref().or(outcome.reason()),
            };
            planned_case.add_to(&mut cases, result.id, reason);
        }
    }
    cases
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
