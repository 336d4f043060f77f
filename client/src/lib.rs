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
//! It follows the contract's rules for clients:
//! - a call succeeds only when HTTP status and business code say so; everything else is an [`Error`];
//! - HTTP 429, 500, 502, 503 and 504, shortages and interruptions are retried with exponential backoff, not before
//!   `Retry-After` ([`RetryPolicy`]); an extraction keeps its request id, so that no gateway is extracted twice;
//! - an argument that breaks a limit is an [`InvalidArgument`] with its clause, before anything is sent;
//! - responses are read leniently: unknown fields are ignored, unknown enum values are kept as `Other`, numbers may be
//!   decimal text;
//! - the token is never part of an error, a log, `Debug`, a redirect or a `Referer` header, and out of reach of
//!   [`Middleware`]; [`TokenSource`] replaces it while a program runs.
//!
//! [`guide`] has a guide for each task, and [`testing`] stands in for the service in tests.
//!
//! # Features
//! - `rustls` (default) or `native-tls`: the TLS library. Without either, [`ClientBuilder::build`] refuses https; with both,
//!   rustls is used.
//! - `blocking`: `blocking::Client`, for programs without an async runtime.
//! - `tracing`: a span for each call and events for responses, retries and failures; see [below](#tracing).
//! - `opentelemetry`: spans, metrics and trace context through OpenTelemetry's global providers.
//! - `cli`: the program `sallyport`.
//!
//! # Tracing
//! With the feature `tracing`, target `sallyport_client::telemetry` has the span `sallyport.call` (level INFO) with the names of
//! OpenTelemetry: `otel.name` (the operation), `http.request.method`, `url.path`, `server.address`, `server.port`,
//! `http.response.status_code`, `http.request.resend_count` and `error.type`. Its events:
//!
//! | level | message | fields |
//! |---|---|---|
//! | DEBUG | `response received` | `http.response.status_code` |
//! | WARN | `retrying` | `operation`, `http.request.resend_count`, `wait_ms`, `error` |
//! | WARN | `call failed` | `operation`, `error.type`, `request_id` (of an extraction), `error`, which has the trace id |
//!
//! A call that fails before anything can be sent (an invalid argument or header) and one that is dropped leave no event. None has
//! the token or the query of a URL. `RUST_LOG=sallyport_client=debug` shows all of them.
//!
//! # Layers
//! [`generated`] is the client that progenitor generates from the document; [`contract`] holds what progenitor leaves out:
//! limits, clauses, headers. Both offer more than [`Client`] and change whenever the document does.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod body;
mod budget;
mod builder;
mod client;
mod connection;
#[rustfmt::skip]
#[allow(clippy::clone_on_copy, clippy::needless_pass_by_value, clippy::vec_init_then_push, reason = "generated")]
pub mod contract;
mod endpoint;
mod error;
mod extract;
#[rustfmt::skip]
#[allow(clippy::all, unreachable_pub, reason = "generated")]
pub mod generated;
mod groups;
pub mod guide;
mod hooks;
mod integer;
mod lenient;
mod middleware;
mod operation;
mod options;
mod otel;
mod printable;
mod response;
mod retry;
mod search;
mod secret;
mod telemetry;
pub mod testing;
mod text;
mod token_source;
mod transport;
mod validate;
mod with_response;

#[cfg(feature = "blocking")]
pub mod blocking;

/// The crates whose types are part of this API: bodies, requests of a middleware, times, HTTP settings, secrets.
pub use {bytes, http, jiff, reqwest, secrecy};

use std::pin::Pin;

use futures_util::Stream;

pub use address::Address;
pub use budget::RetryBudget;
pub use builder::{BASE_URL_VARIABLE, ClientBuilder, TOKEN_VARIABLE};
pub use client::Client;
pub use contract::{ExtractProxiesHeaders, InstanceStatus, Separator};
pub use endpoint::Host;
pub use error::{BusinessCode, Error, Rejection, TimeoutError, TransportError, UnexpectedResponse};
pub use extract::{Extract, ExtractText, Extraction, TextExtraction};
pub use generated::types::{
    Capabilities, ProxyEndpoint as Endpoint, ProxyProtocol as Protocol, StaticGroup as Group,
    StaticInstance as Instance, TermRule,
};
pub use groups::ListGroups;
pub use hooks::Hooks;
pub use integer::Integer;
pub use middleware::{Attempt, Middleware, MiddlewareFuture, Next};
pub use printable::printable;
pub use retry::{RetryPolicy, new_request_id};
pub use search::{GroupFilter, Pages, Search, SearchPage};
pub use text::TextEntry;
pub use token_source::{TokenFile, TokenFuture, TokenSource, TokenSourceError, TokenVariable};
pub use validate::InvalidArgument;
pub use with_response::WithResponse;

/// A stream of the instances that match a search, in the order of its pages; see [`Search::stream`].
pub type Instances = Pin<Box<dyn Stream<Item = Result<Instance, Error>> + Send>>;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
