//! A fault lab: servers that break one clause, and conforming servers that decide unspecified behaviour otherwise, as a proxy
//! in front of a service that does neither. [`Scenarios`] add what happens to requests one after the other: rejections, waits,
//! interruptions.
//!
//! To test a client, start a `Sandbox`: the reference server behind a lab, with tokens and data (feature `embedded`, on by
//! default).
//!
//! A fault or a variation, each a [`Row`], changes requests before they are forwarded and responses before they are returned, so that the
//! server itself needs no switch to break a clause. The proof of the suite runs the checks against all of them.
//!
//! ```no_run
//! use sallyport_lab::{Backend, Context, Contract, Facts, Proxy, Secret, Target, Upstream, faults};
//!
//! # async fn demo() -> Result<(), Box<dyn std::error::Error>> {
//! let token = Secret::new("API_KEY", std::env::var("SALLYPORT_API_KEY")?);
//! let target = Target::new("http://127.0.0.1:8080", token, Facts::default(), false)?;
//! let backend = Backend::new(Contract::embedded()?, &target)?;
//! let fault = faults().iter().find(|fault| fault.id == "groups.order/descending").ok_or("unknown fault")?;
//! let proxy = Proxy::start(Upstream::new(fault.server(Context::new(&backend)))).await?;
//! println!("{}", proxy.base_url());
//! # Ok(())
//! # }
//! ```

mod call;
mod context;
mod control;
#[cfg(feature = "embedded")]
pub mod embedded;
mod exchange;
mod journal;
mod proxy;
mod rows;
#[cfg(feature = "embedded")]
mod sandbox;
mod scenario;
mod socket;
mod stack;
mod upstream;

pub use context::{Backend, Context};
pub use control::{Control, LocalOnly};
pub use exchange::{Framing, ProxiedRequest, Reply};
pub use journal::{Change, Entry, Journal};
pub use proxy::{Proxy, ProxyOptions};
pub use sallyport_conformance_base::contract::{Clause, Contract, OperationId};
pub use sallyport_conformance_base::document::ConfigError;
pub use sallyport_conformance_base::target::{Facts, Secret, Target};
pub use sallyport_conformance_base::wire::{WireError, WireOptions};

pub use rows::row::{Kind, Row, faults, variations};
#[cfg(feature = "embedded")]
pub use sallyport_server::data::seed::{AddressPorts, Sample, SampleTokens};
#[cfg(feature = "embedded")]
pub use sallyport_server::sandbox::{Description, Sandbox as SandboxServer, SandboxTokens, TokenDescription};
#[cfg(feature = "embedded")]
pub use sandbox::{Sandbox, SandboxError};
pub use scenario::{DEFAULT, Progress, SCENARIO_HEADER, ScenarioError, Scenarios};
pub use stack::Lab;
pub use upstream::{Handler, Upstream};
