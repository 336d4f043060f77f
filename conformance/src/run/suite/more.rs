//! Spends what is left of the budget. A plan reserves the most that each case may cost, and most cost less.

use std::time::Duration;

use super::Suite;
use super::active::add_skipped;
use super::rerun::merge;
use crate::check::{Case, Outcome, ProbeContext};
use crate::run::{CheckResult, Observer, PlannedCheck};

impl Suite<'_> {
    /// Runs cases that the plan left out and that what is left covers.
    pub(super) async fn run_more(
        &self,
        context: &ProbeContext<'_>,
        observer: &dyn Observer,
        results: &mut Vec<CheckResult>,
    ) -> Duration {
        let mut busy = Duration::ZERO;
        if self.stopper.reason().is_some() || !self.plan.is_limited() {
            return busy;
        }
        for planned in self.plan.more(results, self.matrix, self.allowance()) {
            if self.stopper.reason().is_some() || self.meter.pace().is_throttling_everything() {
                break;
            }
            let Some(at) = results.iter().position(|result| result.id == planned.check.id) else { continue };
            observer.check_begun(planned.check);
            let before = results.swap_remove(at);
            let (result, busy_here) = self.run_more_of(before, &planned, context).await;
            busy += busy_here;
            self.check_ended(result, observer, results);
        }
        busy
    }

    /// These cases are beyond what the plan promises, so one without a result is skipped: it does not make the run incomplete.
    async fn run_more_of(
        &self,
        mut before: CheckResult,
        planned: &PlannedCheck,
        context: &ProbeContext<'_>,
    ) -> (CheckResult, Duration) {
        let cases: Vec<&Case> = planned.running().collect();
        let (mut result, busy) = self.run_cases(planned.check, &cases, context).await;
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
        (result, busy)
    }
}
