//! Checks and cases, the probe with which they run, findings and outcomes.

mod definition;
mod finding;
mod log;
mod passive;
mod probe;
mod sending;

pub use definition::{Case, CaseFn, CaseFuture, Check, Cost, Run, Scope, SharedControl, Stop};
pub use finding::{
    CaseResult, CheckResult, Evidence, Finding, InferredClauses, Observation, Outcome, Severity,
};
pub use log::{LoggedExchange, RunLog};
pub use passive::{ObservedExchange, PassiveFinding};
pub use probe::Probe;
pub use sending::AcceptedResponse;
pub(crate) use sending::{RecurringErrors, accepted, undecided};

pub use crate::response::{Decision, Form, ResponseClass};

pub(crate) use log::ExchangeLog;
pub(crate) use passive::{PassiveCheck, PassiveChecks};
pub(crate) use probe::{ProbeContext, SharedState};
