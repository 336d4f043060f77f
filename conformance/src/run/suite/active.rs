//! Runs the cases of a check, and retries those that failed.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures::FutureExt as _;

use super::{Suite, millis};
use crate::check::{Case, CaseResult, Check, Finding, Outcome, Probe, ProbeContext, Severity, Stop};
use crate::checks::quota::has_run_out;
use crate::contract::Clause;
use crate::lock;
use crate::run::gates::apply_expectations;
use crate::run::{CheckResult, Observer, PlannedCheck};
use crate::wire::{BudgetError, TransientFailure};

const ALL_THROTTLED: &str = "the service throttled many requests in a row, so no more were sent; run it again later, or with a lower --rate";

pub(super) struct Attempt {
    pub(super) result: CheckResult,
    stale: bool,
    is_out_of_budget: bool,
}

impl Suite<'_> {
    /// Runs the cases of a check. None when the run has ended before the check.
    pub(super) async fn run_check(
        &self,
        planned: &PlannedCheck,
        context: &ProbeContext<'_>,
        observer: &dyn Observer,
    ) -> Option<CheckResult> {
        if self.stopper.reason().is_some() {
            return None;
        }
        observer.check_begun(planned.check);
        let cases: Vec<&Case> = planned.running().collect();
        let mut result = self.run_cases(planned.check, &cases, context).await;
        add_skipped(&mut result, planned);
        self.finish(&mut result);
        Some(result)
    }

    /// Runs some cases of a check, and failed ones again: those that do not fail a second time are flaky. A check whose data has
    /// changed meanwhile runs again with fresh data. The outcome is not final; see [`Suite::finish`].
    pub(super) async fn run_cases(
        &self,
        check: &'static Check,
        cases: &[&Case],
        context: &ProbeContext<'_>,
    ) -> CheckResult {
        let Attempt { mut result, stale, .. } = self.attempt(check, cases, context).await;
        if stale && result.outcome != Outcome::Failed {
            let again = self.attempt(check, cases, context).await;
            result = added(again.result, &result);
        }
        for retry in 1..=self.options.max_retries() {
            let has_failed = |case: &&Case| result.case(case.label()) == Some(&Outcome::Failed);
            let failing: Vec<&Case> = cases.iter().copied().filter(has_failed).collect();
            if failing.is_empty() || self.stopper.reason().is_some() {
                break;
            }
            if self.session.meter.usage().gateways > 0 {
                let probe = Probe::new(check, context);
                probe.begin(failing[0]);
                if let Some(reason) = has_run_out(&probe, &result.findings, &result.exchanges).await {
                    result = failures_inconclusive(result, &self.session.redactor.redact(&reason));
                    break;
                }
            }
            let again = self.attempt(check, &failing, context).await;
            // Reaching a limit of our own does not refute a finding.
            if !again.is_out_of_budget {
                compare_with_retry(&mut result, &again.result, retry);
            }
            result = added(result, &again.result);
        }
        result
    }

    /// Sets the outcome of a check from its cases and the expected failures.
    pub(super) fn finish(&self, result: &mut CheckResult) {
        result.outcome = Outcome::of_cases(&result.cases);
        apply_expectations(result, &self.options.expected, self.today);
    }

    pub(super) async fn attempt(
        &self,
        check: &'static Check,
        cases: &[&Case],
        context: &ProbeContext<'_>,
    ) -> Attempt {
        let begun = Instant::now();
        let probe = Probe::new(check, context);
        let mut results = Vec::with_capacity(cases.len());
        let mut is_out_of_budget = false;
        let mut ended_by: Option<String> = None;
        for case in cases {
            if let Some(reason) = &ended_by {
                results.push(CaseResult::not_run(case.label(), Outcome::Skipped(reason.clone())));
                continue;
            }
            if self.session.meter.pace.is_throttling_everything() {
                results
                    .push(CaseResult::not_run(case.label(), Outcome::Inconclusive(ALL_THROTTLED.to_owned())));
                continue;
            }
            probe.begin(case);
            let ran = self.until_ended(timed(AssertUnwindSafe((case.run)(&probe)).catch_unwind())).await;
            let skipped = || (Ok(Err(Stop::Skip(self.not_reached()))), Duration::ZERO);
            let (ended, busy) = ran.unwrap_or_else(skipped);
            *lock(&self.busy) += busy;
            let ended = ended.unwrap_or_else(|_| {
                Err(Stop::Error("the check panicked; this is a bug of the suite".to_owned()))
            });
            if let Err(Stop::Budget(exhausted)) = &ended {
                is_out_of_budget = true;
                ended_by = Some(format!("the check ended before it: {exhausted}"));
                // Requests that take no gateways can still be sent.
                if !matches!(exhausted, BudgetError::Gateways(_)) {
                    self.stopper.stop(exhausted.to_string());
                }
            }
            if self.stopper.reason().is_some() {
                is_out_of_budget = true;
                ended_by.get_or_insert_with(|| self.not_reached());
            }
            results.push(probe.end(ended));
        }
        let (mut result, stale) = probe.conclude(results);
        result.elapsed_ms = millis(begun.elapsed());
        Attempt { result, stale, is_out_of_budget }
    }

    pub(super) fn not_reached(&self) -> String {
        let reason = self.stopper.reason().unwrap_or_default();
        self.session.redactor.redact(&format!("the run ended before it: {reason}"))
    }
}

fn failures_inconclusive(mut result: CheckResult, reason: &str) -> CheckResult {
    for case in result.cases.iter_mut().filter(|case| case.outcome == Outcome::Failed) {
        result.findings.retain(|finding| !finding.is_of(&case.label));
        case.outcome = Outcome::Inconclusive(reason.to_owned());
    }
    result.outcome = Outcome::of_cases(&result.cases);
    result
}

/// Inserts the cases that the plan skipped, each in its place.
pub(super) fn add_skipped(result: &mut CheckResult, planned: &PlannedCheck) {
    let mut ran = std::mem::take(&mut result.cases).into_iter();
    for planned in &planned.cases {
        let skipped = planned.skipped.clone().map(Outcome::Skipped);
        let skipped = skipped.map(|outcome| CaseResult::not_run(planned.case.label(), outcome));
        result.cases.extend(skipped.or_else(|| ran.next()));
    }
}

/// Whether every failure of a case is a server error that may be momentary, which clients may retry (`client.limited-retries`). 503
/// does not count: it may be a shortage, and is waited out otherwise.
fn was_unavailable(result: &CheckResult, label: &str) -> bool {
    let is_unavailable = |at: &usize| {
        let exchange = result.exchanges.iter().find(|exchange| exchange.index == *at);
        let failure = exchange.and_then(|exchange| TransientFailure::from_status(exchange.status?));
        failure == Some(TransientFailure::ServerError)
    };
    // What was expected may have been taken from a response that was wrong for a moment.
    let mut failing = result.findings.iter().filter(|finding| is_failure_of(finding, label)).peekable();
    failing.peek().is_some()
        && failing.all(|finding| finding.judged.iter().chain(&finding.references).any(is_unavailable))
}

fn is_failure_of(finding: &Finding, label: &str) -> bool {
    finding.severity == Severity::Fail && finding.is_of(label)
}

/// Makes a failed case flaky that did not fail alike in a retry, or a warning if a server error did not occur again.
fn compare_with_retry(before: &mut CheckResult, again: &CheckResult, retry: u32) {
    let broken = |result: &CheckResult, label: &str| -> BTreeSet<Clause> {
        let failing = result.findings.iter().filter(|finding| finding.severity == Severity::Fail);
        failing.filter(|finding| finding.is_of(label)).map(|finding| finding.clause).collect()
    };
    let mut cases = std::mem::take(&mut before.cases);
    for case in cases.iter_mut().filter(|case| case.outcome == Outcome::Failed) {
        let Some(now) = again.cases.iter().find(|now| now.label == case.label) else { continue };
        let doubt = match &now.outcome {
            Outcome::Failed if !broken(before, &case.label).is_disjoint(&broken(again, &case.label)) => {
                continue;
            }
            Outcome::Failed => "another clause was violated when it was run again".to_owned(),
            Outcome::Passed | Outcome::Warning if was_unavailable(before, &case.label) => {
                let failing = before.findings.iter_mut();
                for finding in failing.filter(|finding| is_failure_of(finding, &case.label)) {
                    finding.severity = Severity::Warn;
                    finding.actual.push_str("; the case passed when it was run again");
                }
                case.outcome = Outcome::Warning;
                continue;
            }
            Outcome::Passed | Outcome::Warning => "passed when it was run again".to_owned(),
            other => {
                let reason = other.reason().unwrap_or_default();
                format!("had no result when it was run again: {reason}")
            }
        };
        case.outcome = Outcome::Flaky(format!("violated at first, then {doubt} ({retry})"));
    }
    before.cases = cases;
}

/// Awaits a future, and measures the time in which it is polled, without the time in which it waits.
async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let mut work = pin!(work);
    let mut busy = Duration::ZERO;
    let polled = poll_fn(|context| {
        let begun = Instant::now();
        let polled = work.as_mut().poll(context);
        busy += begun.elapsed();
        polled
    });
    (polled.await, busy)
}

fn added(result: CheckResult, other: &CheckResult) -> CheckResult {
    let (requests, elapsed_ms) = (result.requests + other.requests, result.elapsed_ms + other.elapsed_ms);
    CheckResult { requests, elapsed_ms, ..result }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_is_not_counted_as_busy() {
        let ((), busy) = timed(tokio::time::sleep(Duration::from_millis(60))).await;
        assert!(busy < Duration::from_millis(40), "{busy:?}");
    }
}
