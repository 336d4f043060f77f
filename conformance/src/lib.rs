//! Tests any service against the contract: every clause that a response over HTTP can show is checked, and what the
//! contract leaves open is observed and never judged.
//!
//! ```no_run
//! use sallyport_conformance::{Contract, Facts, Options, Secret, SilentObserver, Suite, Target};
//!
//! # async fn demo() -> Result<(), Box<dyn std::error::Error>> {
//! let token = Secret::new("API_KEY", std::env::var("SALLYPORT_API_KEY")?);
//! let target = Target::new("https://api.example.com", token, Facts::default(), false)?;
//! let report = Suite::new(Contract::embedded()?, &target, Options::default())?.run(&SilentObserver).await;
//! println!("{:?}: {} checks passed", report.verdict, report.totals.passed);
//! # Ok(())
//! # }
//! ```

pub mod check;
pub mod checks;
#[cfg(feature = "embedded")]
pub mod client;
pub mod config;
pub mod detection;
pub mod explain;
pub mod explore;
mod grammar;
pub mod observe;
pub mod process;
pub mod report;
pub mod response;
pub mod run;
pub mod snapshot;
pub mod watch;

pub use sallyport_conformance_base::{contract, files, target, wire};
use sallyport_conformance_base::{document, lock, names, plain, quantity};
pub use sallyport_lab as lab;
#[cfg(feature = "embedded")]
pub use sallyport_lab::embedded;

pub use check::{Check, Finding, Outcome};
pub use checks::registry;
pub use contract::Contract;
pub use run::{Observer, Options, Report, Selection, SilentObserver, Suite, Verdict};
pub use target::{Facts, Secret, Target};
pub use wire::Budget;
