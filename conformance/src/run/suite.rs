mod active;
mod all;
mod passive;

pub(crate) use passive::concluded as concluded_passive;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::choice::Allowance;
use super::gates::expectations;
use super::{
    ClauseSummary, Coverage, Diagnosis, Observer, Obstacle, Options, Plan, PlannedCheck, Report, Session,
    SetupError, Stopper, Totals, Verdict,
};
use crate::check::{
    Case, Check, ExchangeLog, PassiveChecks, ProbeContext, RecurringErrors, Scope, SharedState,
};
use crate::checks::{self, registry};
use crate::contract::{Contract, OperationId};
use crate::detection::{Detection, Matrix};
use crate::explore::RELATIONS;
use crate::lock;
use crate::response::RegionSupply;
use crate::target::{Canaries, DiscoveredFact, Fact, Facts, Target};
use crate::wire::{Budget, Usage};

/// Checks, the target that they test, and the limits of the load on it.
#[derive(Debug)]
pub struct Suite<'a> {
    session: Session<'a>,
    registered: Vec<&'static Check>,
    options: Options,
    /// The plan of the run, to read: a run that discovers a fact makes another one.
    pub plan: Plan,
    matrix: &'static Matrix,
    today: Date,
    canaries: Canaries,
    /// Ends the run early, for example on Ctrl-C.
    pub stopper: Stopper,
    /// Time in which cases were polled.
    busy: Mutex<Duration>,
}

type Begun = (Instant, jiff::Timestamp);

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
        let Options { selection, budget, wire, detect, explore, .. } = &options;
        let scope = Scope { contract, facts: &target.facts };
        let matrix = Matrix::embedded().map_err(SetupError::Matrix)?;
        let allowance = Allowance { budget, used: Usage::default() };
        let plan = Plan::new(checks, selection, &scope, allowance, matrix, *detect);
        let explored = explore.map_or(0, |exploration| exploration.requests);
        let ceilings = Budget { requests: budget.requests.saturating_add(explored), ..budget.clone() };
        Ok(Self {
            session: Session::new(contract, target, ceilings, wire.clone())?,
            registered: checks.to_vec(),
            plan,
            matrix,
            today: jiff::Timestamp::now().to_zoned_datetime(TimeZone::UTC).date(),
            canaries: Canaries::new(&target.facts.canaries)?,
            stopper: Stopper::default(),
            busy: Mutex::default(),
            options,
        })
    }

    /// Runs the checks. The report holds no secret.
    pub async fn run(self, observer: &dyn Observer) -> Report {
        let begun = (Instant::now(), jiff::Timestamp::now());
        let planned = self.plan.planned.iter().map(|planned| planned.check);
        let checks: Vec<&'static Check> = planned.chain(self.options.explore.map(|_| &*RELATIONS)).collect();
        observer.begun(&checks);
        // A fact that is discovered unlocks cases of active checks only.
        let running = self.plan.planned.iter().filter(|planned| planned.skipped().is_none());
        let running: Vec<_> = running.map(|planned| planned.check).collect();
        let shared = SharedState {
            passive: PassiveChecks::new(&running, self.options.inferred),
            state: Box::new(checks::State::default()),
            region: RegionSupply::default(),
            errors: RecurringErrors::default(),
            log: self.options.keep_exchanges.then(ExchangeLog::default),
        };
        let preflight = async {
            match self.session.reach_with_token().await {
                None => self.discover(&shared).await,
                Some(obstacle) => Err(obstacle),
            }
        };
        let waited = tokio::select! {
            waited = self.session.wait(|reason, left| observer.waiting(reason, left)) => waited,
            () = self.stopper.stopped() => None,
        };
        if let Some(obstacle) = waited {
            return self.report(begun, Report::default(), Some(obstacle));
        }
        self.session.meter.begin();
        match self.until_ended(preflight).await.unwrap_or(Ok(None)) {
            Ok(found) => {
                let discovered = found.as_ref().map(DiscoveredFact::all).unwrap_or_default();
                let target = found.map(|facts| self.session.target.with(facts));
                let suite = if let Some(target) = &target { self.planned_for(target) } else { self };
                let results = suite.run_checks(shared, observer).await;
                suite.report(begun, Report { discovered, ..results }, None)
            }
            Err(obstacle) => self.report(begun, Report::default(), Some(obstacle)),
        }
    }

    fn allowance(&self) -> Allowance<'_> {
        Allowance { budget: &self.options.budget, used: self.session.meter.usage() }
    }

    /// The same run with the facts of another target, which may unlock more cases, and what is left of the budget.
    fn planned_for<'b>(self, target: &'b Target) -> Suite<'b>
    where
        'a: 'b,
    {
        let scope = Scope { contract: self.session.contract, facts: &target.facts };
        let Options { selection, detect, .. } = &self.options;
        let plan = Plan::new(&self.registered, selection, &scope, self.allowance(), self.matrix, *detect);
        Suite { session: Session { target, ..self.session }, plan, ..self }
    }

    /// Whether the run looks for a fact that the tester did not supply, because cases need it and the target may show it.
    pub fn looks_for(&self, fact: Fact) -> bool {
        let Self { session: Session { target, .. }, plan, options, .. } = self;
        let is_needed = !target.facts.has(fact) && plan.lacks(fact, &target.facts);
        let gateways = options.budget.gateways;
        match fact {
            Fact::OwnAddresses => is_needed,
            Fact::EmptyRegion => is_needed && gateways >= MIN_GATEWAYS_FOR_EMPTY_REGION,
            Fact::ScarceRegion => is_needed && gateways >= MIN_GATEWAYS_FOR_SCARCE_REGION,
            // Every extraction depends on it, and none lacks it.
            Fact::EntitledProtocols => !target.facts.has(fact) && gateways >= MIN_GATEWAYS_FOR_EMPTY_REGION,
            _ => false,
        }
    }

    /// Facts that the tester did not supply and the run needs, as far as the target shows them. None when none was looked for.
    ///
    /// # Errors
    /// When the run has extractions, and the target rejects each of them: nearly every check of them would be inconclusive.
    async fn discover(&self, shared: &SharedState) -> Result<Option<Facts>, Obstacle> {
        let Self { plan, options, .. } = self;
        let before = self.session.meter.usage();
        let looks = Fact::ALL.iter().any(|fact| *fact != Fact::EntitledProtocols && self.looks_for(*fact));
        let extracts = |planned: &&PlannedCheck| {
            planned.check.operation == Some(OperationId::Extract) && options.budget.gateways > 0
        };
        let extracting = plan.planned.iter().filter(extracts).flat_map(PlannedCheck::running);
        let extracting: Vec<&Case> = extracting.collect();
        match checks::discover(&self.context(shared), |fact| self.looks_for(fact), &extracting).await {
            // The plan contains the control request that is sent where nothing is looked for.
            Ok(found) => Ok((looks && self.session.meter.usage() != before).then_some(found)),
            Err(rejection) => Err((
                Verdict::AccessDenied,
                format!(
                    "the target accepts the account's token and rejects each of its extractions ({rejection}): check the \
                     account's whitelist, verification, entitlements and quota, or test the other operations with --skip extract"
                ),
            )),
        }
    }

    fn context<'b>(&'b self, shared: &'b SharedState) -> ProbeContext<'b> {
        ProbeContext {
            contract: self.session.contract,
            target: self.session.target,
            wire: &self.session.wire,
            redactor: &self.session.redactor,
            canaries: &self.canaries,
            inferred: self.options.inferred,
            shared,
        }
    }

    fn report(&self, (instant, begun): Begun, results: Report, obstacle: Option<Obstacle>) -> Report {
        let Report { checks, run_again, explored, discovered, log, .. } = results;
        if let Some(overdrawn) = self.session.meter.overdrawn() {
            self.stopper.stop(overdrawn.to_string());
        }
        let expectations = expectations(&checks, &self.options.expected, self.today);
        let totals = Totals::from_outcomes(checks.iter().map(|result| &result.outcome));
        let cases = self.plan.cases(Some(&checks));
        let detection = Detection::new(self.matrix, &cases);
        let catalogue = &self.session.contract.catalogue;
        let obstructed = obstacle.as_ref().map(|(_, reason)| reason.as_str());
        let coverage = Coverage::new(&checks, catalogue, &detection, self.matrix, obstructed);
        let clauses = ClauseSummary::from_results(&checks, catalogue, &coverage.open().collect());
        let diagnosis = Diagnosis::from_results(&checks, &cases, self.matrix);
        drop(cases);
        let (verdict, stopped, unmet) = match obstacle {
            Some((verdict, reason)) => (verdict, Some(reason), Vec::new()),
            None => {
                let unmet = self.options.gates.unmet(&checks, &coverage, &detection, &expectations);
                let stopped = self.stopper.reason().map(str::to_owned);
                // A passive check may have passed on the first requests of a run whose limits allow no more.
                let is_empty = coverage.judged == 0 && self.options.selection.only.is_empty();
                let verdict = match self.options.gates.fail_on_warning && totals.warned > 0 {
                    true => Verdict::Findings,
                    false => Verdict::from_totals(totals, stopped.is_some() || !unmet.is_empty() || is_empty),
                };
                (verdict, stopped, unmet)
            }
        };
        let redact = |text: &str| self.session.redactor.redact(text);
        let target = redact(self.session.target.base().as_str());
        let mut report = Report {
            implementation: self.options.implementation.as_deref().map(redact),
            curl_options: self.options.curl_options.iter().map(|word| redact(word)).collect(),
            run: self.session.wire.run.clone(),
            begun: begun.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            elapsed_ms: millis(instant.elapsed()),
            busy_ms: millis(*lock(&self.busy)),
            profile: self.options.profile.name(),
            budget: self.options.budget.clone(),
            inferred: self.options.inferred,
            stopped: stopped.as_deref().map(redact),
            usage: self.session.meter.usage(),
            throttling: self.session.meter.pace.throttling(),
            token_renewals: self.session.wire.token_renewals(),
            discovered,
            run_again,
            explored,
            expectations,
            detection,
            diagnosis,
            unmet,
            log,
            ..Report::recorded(self.session.contract, target, checks, clauses, coverage)
        };
        report.conclude(verdict);
        report
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
