//! A client for proxy extraction and static IP queries.
//!
//! ```no_run
//! # async fn run() -> Result<(), sallyport_client::Error> {
//! use sallyport_client::Client;
//!
//! let client = Client::builder().base_url("https://api.invalid").token_from_env().build()?;
//! for endpoint in client.extract(3).await?.endpoints {
//!     println!("{endpoint}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! It does what the contract asks of clients:
//! - a call has succeeded only when HTTP status and business code say so; everything else is an [`Error`];
//! - 429, 500, 502, 503, 504 and interruptions are tried again, after the time that the service asks for
//!   ([`RetryPolicy`]); an extraction keeps its request number, so that none is made twice;
//! - what the contract forbids is [`Refused`] before anything is sent, with the clause that forbids it;
//! - values that are not known yet break nothing: fields are passed over, enums have `Other`, numbers may come as text;
//! - the token is in no error, log, `Debug`, redirect or `Referer`.
//!
//! # Features
//! - `rustls` (default) or `native-tls`: who does TLS. Without either, only plain HTTP to this machine works.
//! - `blocking`: [`blocking::Client`](crate::blocking), for programs without an async runtime.
//! - `tracing`: a span for each call and an event for each repetition, with OpenTelemetry's names.
//! - `cli`: the program `sallyport`.
//!
//! # Layers
//! [`generated`] is what progenitor makes from the document, and [`contract`] what it loses of it: limits, clauses,
//! headers. Both are for those who need more than [`Client`] offers; they change whenever the document does.

mod address;
mod builder;
mod check;
mod client;
#[rustfmt::skip]
#[allow(clippy::clone_on_copy, clippy::needless_pass_by_value, clippy::vec_init_then_push, reason = "generated")]
pub mod contract;
mod error;
mod extract;
#[rustfmt::skip]
#[allow(missing_docs, clippy::all, unreachable_pub, reason = "generated")]
pub mod generated;
mod hooks;
mod lenient;
mod operation;
mod printable;
mod retry;
mod search;
mod secret;
mod telemetry;
mod text;
mod transport;
mod verdict;

#[cfg(feature = "blocking")]
pub mod blocking;

/// The crates whose types stand in this one's API: times, HTTP settings and statuses, secrets.
pub use {jiff, reqwest, secrecy};

use std::pin::Pin;

use futures_util::Stream;

pub use address::Address;
pub use builder::{ClientBuilder, TOKEN_VARIABLE};
pub use check::Refused;
pub use client::Client;
pub use contract::{InstanceStatus, Separator};
pub use error::{BusinessCode, Error, NotUnderstood, Rejection, TimeoutError, TransportError};
pub use extract::{Extract, ExtractText, Extraction, TextExtraction};
pub use generated::types::{
    Capabilities, ProxyEndpoint as Endpoint, ProxyProtocol as Protocol, StaticGroup as Group,
    StaticInstance as Instance, TermRule,
};
pub use hooks::Hooks;
pub use printable::printable;
pub use retry::RetryPolicy;
pub use search::{GroupChoice, Pages, Search, SearchPage};

/// The instances that a search finds, in the order of its pages.
pub type Instances = Pin<Box<dyn Stream<Item = Result<Instance, Error>> + Send>>;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
