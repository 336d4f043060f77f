//! Spends what is left of the budget. A plan reserves the most that each case may cost, and most cost less.

use super::Suite;
use super::active::add_skipped;
use super::all::Results;
use super::rerun::merge;
use crate::check::{Case, Outcome, ProbeContext};
use crate::run::{CheckResult, PlannedCheck};

/// How often a run chooses further cases. Those of a control request that is not accepted cost nothing, so that others fit.
const ROUNDS: usize = 4;

impl Suite<'_> {
    /// Runs cases that the plan left out and that what is left covers.
    pub(super) async fn run_more(&self, context: &ProbeContext<'_>, results: &mut Results<'_>) {
        let ends = || self.stopper.reason().is_some() || self.session.meter.pace().is_throttling_everything();
        let mut plan = self.plan.clone();
        for _ in 0..ROUNDS {
            if ends() || !plan.is_limited() {
                break;
            }
            for planned in plan.take_more(&results.checks, self.matrix, self.allowance()) {
                if ends() {
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
}
