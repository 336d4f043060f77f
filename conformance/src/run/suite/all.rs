//! Runs all checks of the plan, then inconclusive cases again, cases for what is left of the budget, and an exploration.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use futures::{StreamExt as _, stream};

use super::active::add_skipped;
use super::{Suite, passive};
use crate::check::{Case, Check, ExchangeLog, Finding, Outcome, ProbeContext, Run, SharedState};
use crate::explore::{ExplorationResult, RELATIONS};
use crate::lock;
use crate::run::gates::apply_expectations;
use crate::run::{CheckResult, Observer, PlannedCheck, Report, Rerun};
use crate::wire::RecordedExchange;

/// Checks in a row that are inconclusive again before the others are left as they are: the cause is not temporary then.
const MAX_INCONCLUSIVE: usize = 3;

const ROUNDS_OF_RERUN: usize = 5;

/// Rounds without a result after which a check is left as it is: a service may need longer than its `Retry-After` says.
const MAX_FRUITLESS: usize = 2;

/// Pause between two of these rounds if the target asks for no other.
const PAUSE: Duration = Duration::from_secs(1);

/// How often a run chooses further cases. Those of a control request that is not accepted cost nothing, so that others fit.
const ROUNDS: usize = 4;

struct Results<'a> {
    observer: &'a dyn Observer,
    checks: Vec<CheckResult>,
}

impl Results<'_> {
    fn add(&mut self, result: CheckResult) {
        self.observer.check_ended(&result);
        self.checks.push(result);
    }
}

impl Suite<'_> {
    /// A report with the results alone.
    pub(super) async fn run_checks(&self, shared: SharedState, observer: &dyn Observer) -> Report {
        let planned = &self.plan.planned;
        let (skipped, running): (Vec<_>, Vec<_>) =
            planned.iter().partition(|planned| planned.skipped().is_some());
        let checks: Vec<_> = running.iter().map(|planned| planned.check).collect();
        let context = self.context(&shared);
        let mut results = Results { observer, checks: Vec::with_capacity(planned.len()) };
        for planned in skipped {
            let reason = planned.skipped().unwrap_or_default();
            results.add(CheckResult::not_run(planned.check, Outcome::Skipped(reason)));
        }

        let active = running.iter().copied().filter(|planned| !planned.check.is_passive());
        let (first, others): (Vec<_>, Vec<_>) =
            active.partition(|planned| matches!(planned.check.run, Run::FirstCases(_)));
        let mut inconclusive = Vec::new();
        for group in [first, others] {
            let runs = group.into_iter().map(|planned| self.run_check(planned, &context, observer));
            inconclusive.extend(self.collect(runs, &mut results).await);
        }
        let run_again = self.run_inconclusive_again(inconclusive, &context, &mut results).await;
        self.run_more(&context, &mut results).await;
        let explored = self.explore(&context, &mut results).await;

        let sent = self.until_ended(passive::send_given(&context, &checks, &self.options.requests)).await;
        let not_sent = sent.unwrap_or_else(|| Some(self.not_reached()));
        if self.options.max_retries() > 0 {
            self.until_ended(passive::repeat_single_failures(&context)).await;
        }
        // A response to another request does not show that a finding of the report is fixed.
        let lost = not_sent.clone().filter(|_| !self.options.requests.is_empty());
        let not_applicable = not_sent.unwrap_or_else(|| {
            let advice = if self.plan.is_all { "" } else { "; a run with more checks may have one" };
            format!("no response of this run was of the kind that it judges{advice}")
        });
        for check in shared.passive.into_checks() {
            let mut result = passive::concluded(check, self.session.contract, &not_applicable);
            if let (Outcome::Passed, Some(reason)) = (&result.outcome, &lost) {
                result.outcome = Outcome::Inconclusive(reason.clone());
            }
            apply_expectations(&mut result, &self.options.expected, self.today);
            results.add(result);
        }
        self.add_unreached(&checks, &mut results);
        let mut checks = results.checks;
        checks.sort_by_key(|result| result.id);
        let log = shared.log.map(ExchangeLog::into_log).unwrap_or_default();
        Report { checks, run_again, explored, log, ..Report::default() }
    }

    /// Does some work. None if the run is ended before, or its time is used up.
    pub(super) async fn until_ended<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            // Not by chance, so that what was not reached has the same reason each time.
            biased;
            () = self.stopper.stopped() => None,
            done = work => Some(done),
            () = tokio::time::sleep(self.session.meter.time_left()) => {
                self.stopper.stop("the time limit is reached");
                None
            }
        }
    }

    fn is_over(&self) -> bool {
        self.stopper.reason().is_some() || self.session.meter.pace.is_throttling_everything()
    }

    /// Runs checks until they are done or the run is stopped. Those that are running then keep their findings. Returns the
    /// inconclusive ones, which will run again.
    async fn collect<'b>(
        &self,
        runs: impl Iterator<Item = impl Future<Output = Option<CheckResult>> + Send + 'b>,
        results: &mut Results<'_>,
    ) -> Vec<CheckResult> {
        let concurrency = self.options.budget.concurrency.max(1);
        let mut runs = pin!(stream::iter(runs).buffer_unordered(concurrency));
        let mut inconclusive = Vec::new();
        while let Some(ended) = runs.next().await {
            match ended {
                Some(result) if matches!(result.outcome, Outcome::Inconclusive(_)) => {
                    inconclusive.push(result);
                }
                Some(result) => self.add_active(result, results),
                None => {}
            }
        }
        inconclusive
    }

    /// Adds the final result of an active check, which may end the run.
    fn add_active(&self, result: CheckResult, results: &mut Results<'_>) {
        if self.options.fail_fast && result.outcome == Outcome::Failed {
            self.stopper.stop(format!("{} failed, and the first failure ends the run", result.id));
        }
        results.add(result);
    }

    fn add_unreached(&self, running: &[&'static Check], results: &mut Results<'_>) {
        if self.stopper.reason().is_none() {
            return;
        }
        let ended: BTreeSet<&str> = results.checks.iter().map(|result| result.id).collect();
        for check in running.iter().copied().filter(|check| !ended.contains(check.id)) {
            results.add(CheckResult::not_run(check, Outcome::Skipped(self.not_reached())));
        }
    }

    /// Runs the inconclusive cases of these checks again, one check after another, once the longest `Retry-After` of the target has
    /// passed. Nothing else is running then, since most of them met a busy service. The limits of the budget apply, also that of time.
    async fn run_inconclusive_again(
        &self,
        inconclusive: Vec<CheckResult>,
        context: &ProbeContext<'_>,
        results: &mut Results<'_>,
    ) -> Rerun {
        let mut run_again = Rerun::default();
        if let Some(wait) = self.session.meter.remaining_wait().filter(|_| !inconclusive.is_empty()) {
            self.until_ended(tokio::time::sleep(wait)).await;
        }
        self.session.meter.pace.reset_throttling();
        let mut in_a_row = 0;
        for mut result in inconclusive {
            let planned = self.plan.planned.iter().find(|planned| planned.check.id == result.id);
            let given_up = self.is_over() || in_a_row >= MAX_INCONCLUSIVE;
            if let Some(planned) = planned.filter(|_| !given_up) {
                run_again.checks += 1;
                self.run_again(&mut result, planned, context).await;
                let is_open = matches!(result.outcome, Outcome::Inconclusive(_));
                run_again.concluded += usize::from(!is_open);
                in_a_row = if is_open { in_a_row + 1 } else { 0 };
            }
            self.add_active(result, results);
        }
        run_again
    }

    /// A service that lends gateways, or serves so many requests in a time, decides a part of the cases each time.
    async fn run_again(&self, result: &mut CheckResult, planned: &PlannedCheck, context: &ProbeContext<'_>) {
        let mut fruitless = 0;
        for round in 1..=ROUNDS_OF_RERUN {
            let cases: Vec<&Case> = planned.running().filter(|case| is_open(result, case)).collect();
            merge(result, self.run_cases(planned.check, &cases, context).await);
            let left = cases.iter().filter(|case| is_open(result, case)).count();
            fruitless = if left == cases.len() { fruitless + 1 } else { 0 };
            if left == 0 || fruitless == MAX_FRUITLESS || self.is_over() || round == ROUNDS_OF_RERUN {
                break;
            }
            let wait = self.session.meter.remaining_wait().unwrap_or(PAUSE);
            self.until_ended(tokio::time::sleep(wait.min(self.options.wire.longest_wait))).await;
        }
        self.finish(result);
    }

    /// Spends what is left of the budget on cases that the plan left out: it reserves the most that each may cost.
    async fn run_more(&self, context: &ProbeContext<'_>, results: &mut Results<'_>) {
        let mut plan = self.plan.clone();
        for _ in 0..ROUNDS {
            if self.is_over() || !plan.is_limited() {
                break;
            }
            for planned in plan.take_more(&results.checks, self.matrix, self.allowance()) {
                if self.is_over() {
                    break;
                }
                let id = planned.check.id;
                let known = &mut results.checks;
                let Some(at) = known.iter().position(|result| result.id == id) else { continue };
                let before = known.swap_remove(at);
                results.observer.check_begun(planned.check);
                let result = self.run_more_of(before, &planned, context).await;
                self.add_active(result, results);
            }
        }
    }

    /// These cases are beyond what the plan promises, so one without a result is skipped: it does not make the run incomplete.
    async fn run_more_of(
        &self,
        mut before: CheckResult,
        planned: &PlannedCheck,
        context: &ProbeContext<'_>,
    ) -> CheckResult {
        let cases: Vec<&Case> = planned.running().collect();
        let mut result = self.run_cases(planned.check, &cases, context).await;
        for case in &mut result.cases {
            if let Outcome::Inconclusive(reason) = &case.outcome {
                case.outcome = Outcome::Skipped(reason.clone());
            }
        }
        if before.cases.is_empty() {
            add_skipped(&mut result, planned);
        } else {
            merge(&mut before, result);
            result = before;
        }
        self.finish(&mut result);
        result
    }

    /// Runs the exploration after everything else and without retries, because reducing a finding has repeated it already.
    async fn explore(
        &self,
        context: &ProbeContext<'_>,
        results: &mut Results<'_>,
    ) -> Option<ExplorationResult> {
        let exploration = self.options.explore?;
        let explored = exploration.begin();
        results.observer.check_begun(&RELATIONS);
        let result = match self.stopper.reason() {
            Some(_) => CheckResult::not_run(&RELATIONS, Outcome::Skipped(self.not_reached())),
            None => {
                self.session.meter.pace.reset_throttling();
                let case = exploration.case(&explored);
                let mut result = self.attempt(&RELATIONS, &[&case], context).await.result;
                self.finish(&mut result);
                result
            }
        };
        results.add(result);
        Some(*lock(&explored))
    }
}

fn is_open(result: &CheckResult, case: &Case) -> bool {
    matches!(result.case(case.label()), Some(Outcome::Inconclusive(_)))
}

/// Replaces the outcomes of cases with those of a later run.
fn merge(before: &mut CheckResult, again: CheckResult) {
    let CheckResult { cases, findings, observations, exchanges, evidence, requests, elapsed_ms, .. } = again;
    let was_run_again = |finding: &Finding| cases.iter().any(|case| finding.is_of(&case.label));
    before.findings.retain(|finding| !was_run_again(finding));
    // Exchanges are numbered in each run of a check.
    let offset = before.requests;
    let renumbered =
        |exchange: RecordedExchange| RecordedExchange { index: exchange.index + offset, ..exchange };
    before.exchanges.extend(exchanges.into_iter().map(renumbered));
    before.findings.extend(findings.into_iter().map(|mut finding| {
        finding.exchanges.iter_mut().chain(&mut finding.judged).for_each(|index| *index += offset);
        finding
    }));
    for case in cases {
        if let Some(known) = before.cases.iter_mut().find(|known| known.label == case.label) {
            *known = case;
        }
    }
    before.observations.extend(observations);
    before.evidence.extend(evidence);
    before.requests += requests;
    before.elapsed_ms += elapsed_ms;
}
