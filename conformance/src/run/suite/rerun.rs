//! Runs inconclusive checks again when nothing else is running: most of them met a busy service.

use std::time::Duration;

use super::Suite;
use super::all::Results;
use crate::check::{Case, Finding, Outcome, ProbeContext};
use crate::run::{CheckResult, PlannedCheck, Rerun};
use crate::wire::RecordedExchange;

/// Checks in a row that are inconclusive again before the others are left as they are: the cause is not temporary then, and the
/// run has no verdict in any case.
const MAX_INCONCLUSIVE: usize = 3;

/// How many times the inconclusive cases of a check run again at most.
const ROUNDS: usize = 5;

/// Rounds in a row without a result for any of the cases, after which the check is left as it is. One is not enough: a service may
/// need a little longer than its `Retry-After` says.
const MAX_FRUITLESS: usize = 2;

/// Pause between two of these rounds if the target asks for no other.
const PAUSE: Duration = Duration::from_secs(1);

impl Suite<'_> {
    /// Runs the inconclusive cases of these checks again, one check after another, once the longest `Retry-After` of the target
    /// has passed. The limits of the budget apply, including the time of the run.
    pub(super) async fn run_inconclusive_again(
        &self,
        inconclusive: Vec<CheckResult>,
        context: &ProbeContext<'_>,
        results: &mut Results<'_>,
    ) -> Rerun {
        let mut run_again = Rerun::default();
        if let Some(wait) = self.session.meter.remaining_wait().filter(|_| !inconclusive.is_empty()) {
            self.pause(wait).await;
        }
        self.session.meter.pace().reset_throttling();
        let mut in_a_row = 0;
        for mut result in inconclusive {
            let planned = self.plan.planned().iter().find(|planned| planned.check.id == result.id);
            let given_up = self.stopper.reason().is_some()
                || self.session.meter.pace().is_throttling_everything()
                || in_a_row >= MAX_INCONCLUSIVE;
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

    async fn pause(&self, wait: Duration) {
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = self.ended() => {}
        }
    }

    /// A service that lends gateways, or serves so many requests in a time, decides a part of the cases each time.
    async fn run_again(&self, result: &mut CheckResult, planned: &PlannedCheck, context: &ProbeContext<'_>) {
        let mut fruitless = 0;
        for round in 1..=ROUNDS {
            let cases: Vec<&Case> = planned.running().filter(|case| is_open(result, case)).collect();
            merge(result, self.run_cases(planned.check, &cases, context).await);
            let left = cases.iter().filter(|case| is_open(result, case)).count();
            fruitless = if left == cases.len() { fruitless + 1 } else { 0 };
            let is_over =
                self.stopper.reason().is_some() || self.session.meter.pace().is_throttling_everything();
            if left == 0 || fruitless == MAX_FRUITLESS || is_over || round == ROUNDS {
                break;
            }
            let wait = self.session.meter.remaining_wait().unwrap_or(PAUSE);
            self.pause(wait.min(self.options.wire.longest_wait)).await;
        }
        self.finish(result);
    }
}

fn is_open(result: &CheckResult, case: &Case) -> bool {
    let known = result.cases.iter().find(|known| known.label == case.label());
    known.is_some_and(|known| matches!(known.outcome, Outcome::Inconclusive(_)))
}

/// Replaces the outcomes of cases with those of a later run.
pub(super) fn merge(before: &mut CheckResult, again: CheckResult) {
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
