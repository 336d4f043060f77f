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
pub mod contract;
pub mod detection;
mod document;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod explain;
pub mod explore;
pub mod files;
mod grammar;
pub mod lab;
mod lock;
mod names;
pub mod observe;
pub mod process;
mod quantity;
pub mod report;
pub mod response;
pub mod run;
pub mod snapshot;
pub mod target;
pub mod watch;
pub mod wire;

pub use check::{Check, Finding, Outcome};
pub use checks::registry;
pub use contract::Contract;
pub use run::{Observer, Options, Report, Selection, SilentObserver, Suite, Verdict};
pub use target::{Facts, Secret, Target};
pub use wire::Budget;
