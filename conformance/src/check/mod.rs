//! What a check is, the context it runs in, and what comes out of it.

mod asking;
mod definition;
mod finding;
pub(crate) mod gateways;
mod judgement;
mod passive;
mod probe;
mod registry;

pub use asking::Accepted;
pub use definition::{Case, Check, Cost, Run, Running, Scope, Stop};
pub use finding::{CaseResult, Evidence, Finding, Observation, Outcome, Severity};
pub use judgement::{Decision, Form, Judgement};
pub use passive::{Observed, PassiveFinding};
pub use probe::Probe;
pub use registry::{UNCOVERED, registry};

pub(crate) use passive::{PassiveCheck, PassiveChecks};
pub(crate) use probe::{KnownForms, ProbeContext};
