//! Chooses, orders and runs checks. It prints nothing: an observer receives progress events, and a report is returned.

mod choice;
mod coverage;
mod diagnosis;
mod gates;
mod options;
mod outcome;
mod plan;
mod preflight;
mod report;
mod saved;
mod session;
mod suite;

pub(crate) use suite::concluded_passive;

use preflight::Obstacle;

pub use crate::check::{CaseResult, CheckResult, LoggedExchange, RunLog};
pub use coverage::{Coverage, NotJudged};
pub use diagnosis::{Diagnosis, FindingReference};
pub use gates::{Expectation, ExpectationState, ExpectedFailure, Gates};
pub use options::{Glob, Options, Profile, Selection, SetupError};
pub use outcome::{ClauseSummary, Rerun, Totals, Unresolved};
pub use plan::{Plan, PlannedCase, PlannedCheck};
pub use report::{Report, Verdict};
pub use saved::{ChangedFinding, FindingChange, SavedCheck, SavedClause, SavedReport, Since, finding_id};
pub use session::{Session, SessionError};
pub use suite::Suite;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::SetOnce;

use crate::check::Check;

/// Receives progress events of a run.
pub trait Observer: Sync {
    /// The target does not respond yet, for this reason; the run goes on waiting for it for this time.
    fn waiting(&self, _reason: &str, _left: Duration) {}

    /// The run begins, with these checks.
    fn begun(&self, _checks: &[&'static Check]) {}

    /// A check begins.
    fn check_begun(&self, _check: &'static Check) {}

    /// A check has ended. It may begin again with more cases when some of the budget is left.
    fn check_ended(&self, _result: &CheckResult) {}
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct SilentObserver;

impl Observer for SilentObserver {}

/// Ends a run early, from any thread. The report contains the results so far and the reason.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<SetOnce<String>>);

impl Stopper {
    /// Ends the run. The first reason is kept.
    pub fn stop(&self, reason: impl Into<String>) {
        // A later reason is rejected.
        let _ = self.0.set(reason.into());
    }

    /// Why the run was ended, if it was.
    pub fn reason(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    /// Waits until the run is ended.
    pub async fn stopped(&self) {
        self.0.wait().await;
    }
}
