//! Explores beyond the fixed cases, if the tester requests it.

use super::Suite;
use super::all::Results;
use crate::check::{Outcome, ProbeContext};
use crate::explore::{ExplorationResult, RELATIONS};
use crate::lock::lock;
use crate::run::CheckResult;

impl Suite<'_> {
    /// Runs the exploration after everything else and without retries, because reducing a finding has repeated it already.
    pub(super) async fn explore(
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
                self.meter.pace().reset_throttling();
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
