//! What a check is, the context it runs in, and what comes out of it.

mod asking;
mod definition;
mod finding;
pub(crate) mod gateways;
mod judgement;
mod probe;
mod registry;
mod watch;

pub use asking::Accepted;
pub use definition::{Check, Cost, Run, Stop};
pub use finding::{Evidence, Finding, Observation, Outcome, Severity};
pub use judgement::{Decision, Form, Judgement};
pub use probe::Probe;
pub use registry::{UNCOVERED, registry};
pub use watch::{Complaint, Sighting};

pub(crate) use probe::{KnownForms, ProbeContext};
pub(crate) use watch::{Watcher, Watchtower};
