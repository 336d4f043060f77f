//! Makes the report of a run.

use super::{Begun, Suite, millis};
use crate::check::RunLog;
use crate::detection::Detection;
use crate::explore::ExplorationResult;
use crate::lock::lock;
use crate::run::expected::expectations;
use crate::run::{CheckResult, ClauseSummary, Coverage, Diagnosis, Obstacle, Report, Rerun, Totals, Verdict};
use crate::target::DiscoveredFact;

#[derive(Debug, Default)]
pub(super) struct RunResults {
    pub(super) checks: Vec<CheckResult>,
    pub(super) run_again: Rerun,
    pub(super) explored: Option<ExplorationResult>,
    pub(super) log: RunLog,
}

impl Suite<'_> {
    pub(super) fn report(
        &self,
        (instant, begun): Begun,
        results: RunResults,
        discovered: Vec<DiscoveredFact>,
        obstacle: Option<Obstacle>,
    ) -> Report {
        let RunResults { checks, run_again, explored, log } = results;
        if let Some(overdrawn) = self.session.meter.overdrawn() {
            self.stopper.stop(overdrawn.to_string());
        }
        let expectations = expectations(&checks, &self.options.expected, self.today);
        let totals = Totals::from_results(&checks);
        let cases = self.plan.cases(Some(&checks));
        let detection = Detection::new(self.matrix, &cases);
        let catalogue = &self.session.contract.catalogue;
        let obstructed = obstacle.as_ref().map(|obstacle| obstacle.reason.as_str());
        let coverage = Coverage::new(&checks, catalogue, &detection, self.matrix, obstructed);
        let clauses = ClauseSummary::from_results(&checks, catalogue, &coverage.open().collect());
        let diagnosis = Diagnosis::from_results(&checks, &cases, self.matrix);
        drop(cases);
        let (verdict, stopped, unmet) = match obstacle {
            Some(Obstacle { verdict, reason }) => (verdict, Some(reason), Vec::new()),
            None => {
                let unmet = self.options.gates.unmet(&checks, &coverage, &detection, &expectations);
                let stopped = self.stopper.reason().map(str::to_owned);
                // A passive check may have passed on the first requests of a run whose limits allow no more.
                let is_empty = coverage.judged == 0 && self.options.selection.only.is_empty();
                let verdict = match self.options.gates.fail_on_warning && totals.warned > 0 {
                    true => Verdict::Findings,
                    false => Verdict::from_totals(totals, stopped.is_some() || !unmet.is_empty() || is_empty),
                };
                (verdict, stopped, unmet)
            }
        };
        let redact = |text: &str| self.session.redactor.redact(text);
        let target = redact(self.session.target.base().as_str());
        let mut report = Report {
            implementation: self.options.implementation.as_deref().map(redact),
            curl_options: self.options.curl_options.iter().map(|word| redact(word)).collect(),
            run: self.session.wire.run.clone(),
            begun: begun.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            elapsed_ms: millis(instant.elapsed()),
            busy_ms: millis(*lock(&self.busy)),
            profile: self.options.profile.name(),
            budget: self.options.budget.clone(),
            inferred: self.options.inferred,
            stopped: stopped.as_deref().map(redact),
            usage: self.session.meter.usage(),
            throttling: self.session.meter.pace.throttling(),
            token_renewals: self.session.wire.token_renewals(),
            discovered,
            run_again,
            explored,
            expectations,
            detection,
            diagnosis,
            unmet,
            log,
            ..Report::recorded(self.session.contract, target, checks, clauses, coverage)
        };
        report.conclude(verdict);
        report
    }
}
