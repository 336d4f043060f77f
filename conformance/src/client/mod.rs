//! Tests clients: runs a command once for each case in front of a misbehaving server, and judges the duties of callers.
//!
//! The command speaks the protocol of `CLIENTS.md`: one JSON object on standard input, one on standard output. The server is
//! the embedded one, behind a [`lab`](crate::lab) that plays the scenario of the case and records what arrives.

mod case;
mod cases;
mod command;
mod duty;
mod error;
mod evidence;
mod folding;
mod outcome;
mod protocol;
mod recorder;
mod report;
mod result;
mod run;
mod token_search;

pub use case::{ClientCase, Expectation};
pub use cases::all as cases;
pub use duty::Duty;
pub use error::ClientSuiteError;
pub use protocol::{Call, Operation};
pub use report::ClientReport;
pub use result::{ClientCaseResult, ClientFinding};
pub use run::ClientSuite;
