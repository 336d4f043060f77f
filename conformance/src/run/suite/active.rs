//! Runs the cases of a check, and those that failed once more.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures::FutureExt as _;

use super::{Suite, millis};
use crate::check::{Case, CaseResult, Check, Finding, Outcome, Probe, ProbeContext, Severity, Stop};
use crate::checks::quota::has_run_out;
use crate::contract::Clause;
use crate::run::expected::weigh;
use crate::run::poll_time::PollTimer;
use crate::run::{CheckResult, Observer, PlannedCheck};

/// Why a case was not begun.
const HOPELESS: &str =
    "the service throttled many requests in a row, so no more were sent; run it again later, or with --rate";

/// One run of some cases of a check.
pub(super) struct Attempt {
    pub(super) result: CheckResult,
    pub(super) busy: Duration,
    /// The data that it depends on has changed.
    stale: bool,
    /// A limit of the budget ended it.
    starved: bool,
}

impl Suite<'_> {
    /// Runs the cases of a check. Those that failed run again: what does not fail a second time is flaky. A check that rested
    /// on data which has changed since runs once more, on fresh data. None when the run has ended before the check.
    pub(super) async fn run_check(
        &self,
        planned: &PlannedCheck,
        context: &ProbeContext<'_>,
        observer: &dyn Observer,
    ) -> Option<(CheckResult, Duration)> {
        if self.stopper.reason().is_some() {
            return None;
        }
        observer.check_begun(planned.check);
        let cases: Vec<&Case> = planned.running().collect();
        let (mut result, busy) = self.run_cases(planned.check, &cases, context).await;
        add_skipped(&mut result, planned);
        self.finish(&mut result);
        Some((result, busy))
    }

    /// Runs some cases of a check, with the repetitions that they need. The outcome is not final; see [`Suite::finish`].
    pub(super) async fn run_cases(
        &self,
        check: &'static Check,
        cases: &[&Case],
        context: &ProbeContext<'_>,
    ) -> (CheckResult, Duration) {
        let Attempt { mut result, mut busy, stale, .. } = self.attempt(check, cases, context).await;
        if stale && result.outcome != Outcome::Failed {
            let again = self.attempt(check, cases, context).await;
            busy += again.busy;
            result = added(again.result, &result);
        }
        let more = if self.retries > 0 { RETRIES_OF_UNAVAILABLE } else { 0 };
        for retry in 1..=self.retries + more {
            let is_due = |case: &&Case| retry <= self.retries || was_unavailable(&result, case.label());
            let failing: Vec<&Case> =
                cases.iter().copied().filter(|case| failed(&result, case)).filter(is_due).collect();
            if failing.is_empty() || self.stopper.reason().is_some() {
                break;
            }
            if self.meter.gateways_taken() > 0 {
                let probe = Probe::new(check, context);
                probe.begin(failing[0]);
                if let Some(reason) = has_run_out(&probe, &result.findings, &result.exchanges).await {
                    result = doubted(result, &self.redactor.redact(&reason));
                    break;
                }
            }
            let again = self.attempt(check, &failing, context).await;
            busy += again.busy;
            // Reaching a limit of our own does not refute a finding.
            if !again.starved {
                doubt(&mut result, &again.result, retry);
            }
            result = added(result, &again.result);
        }
        (result, busy)
    }

    /// What the cases of a check come to, weighed against the expected failures.
    pub(super) fn finish(&self, result: &mut CheckResult) {
        result.outcome = Outcome::of_cases(&result.cases);
        weigh(result, &self.expected, self.today);
    }

    pub(super) async fn attempt(
        &self,
        check: &'static Check,
        cases: &[&Case],
        context: &ProbeContext<'_>,
    ) -> Attempt {
        let begun = Instant::now();
        let probe = Probe::new(check, context);
        let (mut results, mut busy, mut starved) = (Vec::with_capacity(cases.len()), Duration::ZERO, false);
        let mut over: Option<String> = None;
        for case in cases {
            if let Some(reason) = &over {
                results.push(CaseResult::skipped(case.label(), reason));
                continue;
            }
            if self.meter.is_hopeless() {
                results.push(CaseResult::inconclusive(case.label(), HOPELESS));
                continue;
            }
            probe.begin(case);
            let running = PollTimer::new(AssertUnwindSafe(case.run(&probe)).catch_unwind());
            let (ended, busy_here) = tokio::select! {
                ended = running => ended,
                () = self.ended() => (Ok(Err(Stop::Skip(self.not_reached()))), Duration::ZERO),
            };
            busy += busy_here;
            let ended = ended.unwrap_or_else(|_| {
                Err(Stop::Error("the check panicked; this is a bug of the suite".to_owned()))
            });
            if let Err(Stop::Budget(exhausted)) = &ended {
                starved = true;
                over = Some(format!("the check ended before it: {exhausted}"));
                if exhausted.ends_the_run() {
                    self.stopper.stop(exhausted.to_string());
                }
            }
            if self.stopper.reason().is_some() {
                starved = true;
                over.get_or_insert_with(|| self.not_reached());
            }
            results.push(probe.end(ended));
        }
        let concluded = probe.conclude();
        let result = CheckResult {
            outcome: Outcome::of_cases(&results),
            cases: results,
            findings: concluded.findings,
            observations: concluded.observations,
            exchanges: concluded.exchanges,
            evidence: concluded.evidence,
            requests: concluded.requests,
            elapsed_ms: millis(begun.elapsed()),
            ..CheckResult::not_run(check, Outcome::Passed)
        };
        Attempt { result, busy, stale: concluded.stale, starved }
    }

    pub(super) fn not_reached(&self) -> String {
        let reason = self.stopper.reason().unwrap_or_default();
        self.redactor.redact(&format!("the run ended before it: {reason}"))
    }
}

/// The result with its failures as open questions, for this reason.
fn doubted(mut result: CheckResult, reason: &str) -> CheckResult {
    for case in result.cases.iter_mut().filter(|case| case.outcome == Outcome::Failed) {
        result.findings.retain(|finding| !finding.is_of(&case.label));
        case.outcome = Outcome::Inconclusive(reason.to_owned());
    }
    result.outcome = Outcome::of_cases(&result.cases);
    result
}

fn failed(result: &CheckResult, case: &Case) -> bool {
    result.cases.iter().any(|known| known.label == case.label() && known.outcome == Outcome::Failed)
}

/// The cases that the plan left out, each in its place.
fn add_skipped(result: &mut CheckResult, planned: &PlannedCheck) {
    let mut ran = std::mem::take(&mut result.cases).into_iter();
    for planned in &planned.cases {
        match &planned.skipped {
            Some(reason) => result.cases.push(CaseResult::skipped(planned.case.label(), reason)),
            None => result.cases.extend(ran.next()),
        }
    }
}

/// So often a case is run once more that failed on HTTP 500 alone.
const RETRIES_OF_UNAVAILABLE: u32 = 2;

/// Whether each failure of a case is that of an HTTP 500, which clients may retry (`client.limited-retries`). 503 is not among
/// them: it may be a shortage, and is waited out where it is none.
fn was_unavailable(result: &CheckResult, label: &str) -> bool {
    let is_unavailable = |at: &usize| {
        let exchange = result.exchanges.iter().find(|exchange| exchange.index == *at);
        exchange.is_some_and(|exchange| exchange.status == Some(500))
    };
    // A finding cites the valid request beside it, too.
    let mut failing = result.findings.iter().filter(|finding| is_failure_of(finding, label)).peekable();
    failing.peek().is_some() && failing.all(|finding| finding.exchanges.iter().any(is_unavailable))
}

fn is_failure_of(finding: &Finding, label: &str) -> bool {
    finding.severity == Severity::Fail && finding.is_of(label)
}

/// Removes each failure that did not occur again. An HTTP 500 that does not come again is worth a warning.
fn doubt(before: &mut CheckResult, again: &CheckResult, retry: u32) {
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
                    finding
                        .actual
                        .push_str("; the case passed when it was run again, and clients may retry HTTP 500");
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

/// A result, with what another run of its check cost.
fn added(result: CheckResult, other: &CheckResult) -> CheckResult {
    let (requests, elapsed_ms) = (result.requests + other.requests, result.elapsed_ms + other.elapsed_ms);
    CheckResult { requests, elapsed_ms, ..result }
}
