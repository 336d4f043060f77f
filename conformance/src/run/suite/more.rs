//! Spends what is left of the budget. A plan reserves the most that each case may cost, and most cost less.

use std::time::Duration;

use super::Suite;
use super::active::add_skipped;
use super::rerun::merge;
use crate::check::{Case, Outcome, ProbeContext};
use crate::run::{CheckResult, Observer, PlannedCheck};

/// How often a run chooses further cases. Those of a control request that is not accepted cost nothing, so that others fit.
const ROUNDS: usize = 4;

impl Suite<'_> {
    /// Runs cases that the plan left out and that what is left covers.
    pub(super) async fn run_more(
        &self,
        context: &ProbeContext<'_>,
        observer: &dyn Observer,
        results: &mut Vec<CheckResult>,
    ) -> Duration {
        let mut busy = Duration::ZERO;
        let ends = || self.stopper.reason().is_some() || self.meter.pace().is_throttling_everything();
        let mut plan = self.plan.clone();
        for _ in 0..ROUNDS {
            if ends() || !plan.is_limited() {
                break;
            }
            for planned in plan.take_more(results, self.matrix, self.allowance()) {
                if ends() {
                    break;
                }
                let id = planned.check.id;
                let Some(at) = results.iter().position(|result| result.id == id) else { continue };
                observer.check_begun(planned.check);
                let before = results.swap_remove(at);
                let (result, busy_here) = self.run_more_of(before, &planned, context).await;
                busy += busy_here;
                self.check_ended(result, observer, results);
            }
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
