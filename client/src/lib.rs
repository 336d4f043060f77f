#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod body;
mod budget;
mod builder;
mod client;
mod connection;
pub mod contract;
mod endpoint;
mod error;
mod extract;
/// The client that progenitor generates from the document: a builder for each operation, and the types of bodies.
///
/// It changes whenever the document does; [`Client::generated`] returns it.
#[rustfmt::skip]
#[allow(clippy::all, missing_docs, unreachable_pub, reason = "generated")]
pub mod generated;
#[doc = include_str!("guide.md")]
pub mod guide {}
mod integer;
mod lenient;
mod middleware;
mod network;
mod operation;
mod options;
#[rustfmt::skip]
#[path = "plain/generated.rs"]
mod plain;
mod response;
mod retry;
mod search;
mod secret;
mod sender;
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
pub use builder::{BASE_URL_VARIABLE, ClientBuilder, TOKEN_VARIABLE};
pub use client::Client;
pub use contract::{ExtractProxiesHeaders, InstanceStatus, Separator};
pub use error::{BusinessCode, Error, Rejection, TimeoutError, TransportError, UnexpectedResponse};
pub use extract::{Extract, ExtractText, Extraction, TextExtraction};
pub use generated::types::{
    Capabilities, ProxyEndpoint as Endpoint, ProxyProtocol as Protocol, StaticGroup as Group,
    StaticInstance as Instance, TermRule,
};
pub use middleware::{Attempt, Middleware, MiddlewareFuture, Next};
pub use plain::*;
pub use retry::{RetryPolicy, new_request_id};
pub use sallyport_contract::printable::printable;
pub use search::{GroupFilter, Pages, Search, SearchPage};
pub use sender::Sender;
pub use text::TextEntry;
pub use token_source::{TokenFile, TokenFuture, TokenSource, TokenSourceError};
pub use validate::InvalidArgument;
pub use with_response::WithResponse;

/// A stream of the instances that match a search, in the order of its pages; see [`Search::stream`].
pub type Instances = Pin<Box<dyn Stream<Item = Result<Instance, Error>> + Send>>;
