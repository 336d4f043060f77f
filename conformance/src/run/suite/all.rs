//! Runs all checks of the plan, and ends early when the run is stopped.

use std::collections::BTreeSet;
use std::pin::pin;

use futures::{StreamExt as _, stream};

use super::report::RunResults;
use super::{SharedState, Suite, passive};
use crate::check::{Check, ExchangeLog, Outcome, Run};
use crate::run::expected::apply_expectations;
use crate::run::{CheckResult, Observer};

/// The results so far, and the observer that receives each of them.
pub(super) struct Results<'a> {
    pub(super) observer: &'a dyn Observer,
    pub(super) checks: Vec<CheckResult>,
}

impl Results<'_> {
    pub(super) fn add(&mut self, result: CheckResult) {
        self.observer.check_ended(&result);
        self.checks.push(result);
    }
}

impl Suite<'_> {
    pub(super) async fn run_checks(&self, shared: SharedState, observer: &dyn Observer) -> RunResults {
        let planned = self.plan.planned();
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
        if self.options.retries > 0 {
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
        RunResults { checks, run_again, explored, log }
    }

    /// Does some work. None if the run is ended before, or its time is used up.
    pub(super) async fn until_ended<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = work => Some(done),
            () = self.stopper.stopped() => None,
            () = tokio::time::sleep(self.session.meter.time_left()) => {
                self.stopper.stop("the time limit is reached");
                None
            }
        }
    }

    /// Whether nothing further is to be sent.
    pub(super) fn is_over(&self) -> bool {
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
    pub(super) fn add_active(&self, result: CheckResult, results: &mut Results<'_>) {
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
}
