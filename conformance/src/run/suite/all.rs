//! Runs all checks of the plan, and ends early when the run is stopped.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use futures::{StreamExt as _, stream};

use super::report::RunResults;
use super::{SharedState, Suite, passive};
use crate::check::{Check, ExchangeLog, Outcome};
use crate::run::expected::apply_expectations;
use crate::run::{CheckResult, Observer};

impl Suite<'_> {
    pub(super) async fn run_checks(&self, shared: SharedState, observer: &dyn Observer) -> RunResults {
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
        busy += busy_again + self.run_more(&context, observer, &mut results).await;
        let (explored, busy_exploring) = self.explore(&context, observer, &mut results).await;
        busy += busy_exploring;

        if self.options.retries > 0 {
            tokio::select! {
                () = passive::repeat_single_failures(&context) => {}
                () = self.ended() => {}
            }
        }
        let not_applicable = passive::not_applicable(!self.plan.is_all());
        for check in shared.passive.into_checks() {
            let mut result = passive::concluded(check, self.contract, &not_applicable);
            apply_expectations(&mut result, &self.options.expected, self.today);
            observer.check_ended(&result);
            results.push(result);
        }
        self.add_unreached(&checks, observer, &mut results);
        results.sort_by_key(|result| result.id);
        let log = shared.log.map(ExchangeLog::into_log).unwrap_or_default();
        RunResults { checks: results, busy, run_again, explored, log }
    }

    /// Waits until the run is ended, or its time is used up.
    pub(super) async fn ended(&self) {
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
        let concurrency = self.options.budget.concurrency.max(1);
        let mut runs = pin!(stream::iter(runs).buffer_unordered(concurrency));
        let mut busy = Duration::ZERO;
        let mut inconclusive = Vec::new();
        while let Some(ended) = runs.next().await {
            let Some((result, busy_here)) = ended else { continue };
            busy += busy_here;
            if matches!(result.outcome, Outcome::Inconclusive(_)) {
                inconclusive.push(result);
                continue;
            }
            self.check_ended(result, observer, results);
        }
        (busy, inconclusive)
    }

    /// Adds the final result of an active check, which may end the run.
    pub(super) fn check_ended(
        &self,
        result: CheckResult,
        observer: &dyn Observer,
        results: &mut Vec<CheckResult>,
    ) {
        observer.check_ended(&result);
        if self.options.fail_fast && result.outcome == Outcome::Failed {
            self.stopper.stop(format!("{} failed, and the first failure ends the run", result.id));
        }
        results.push(result);
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
