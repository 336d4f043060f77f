//! Explores beyond the fixed cases, if the tester requests it.

use std::sync::Arc;
use std::time::Duration;

use super::Suite;
use super::active::Attempt;
use crate::check::{Outcome, ProbeContext};
use crate::explore::{ExplorationResult, RELATIONS};
use crate::run::{CheckResult, Observer};

impl Suite<'_> {
    /// Runs the exploration after everything else and without retries, because reducing a finding has repeated it already.
    pub(super) async fn explore(
        &self,
        context: &ProbeContext<'_>,
        observer: &dyn Observer,
        results: &mut Vec<CheckResult>,
    ) -> (Option<ExplorationResult>, Duration) {
        let Some(exploration) = self.options.explore else { return (None, Duration::ZERO) };
        let progress = Arc::default();
        observer.check_begun(&RELATIONS);
        let (result, busy) = match self.stopper.reason() {
            Some(_) => {
                (CheckResult::not_run(&RELATIONS, Outcome::Skipped(self.not_reached())), Duration::ZERO)
            }
            None => {
                self.meter.pace().reset_throttling();
                let case = exploration.case(&progress);
                let Attempt { mut result, busy, .. } = self.attempt(&RELATIONS, &[&case], context).await;
                self.finish(&mut result);
                (result, busy)
            }
        };
        observer.check_ended(&result);
        results.push(result);
        (Some(exploration.result(&progress)), busy)
    }
}
