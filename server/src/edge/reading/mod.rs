//! Parses raw requests into values of [`types`](super::types), or returns the first request error.

pub mod body;
pub mod caller;
pub mod credential;
pub mod fields;
pub mod headers;
pub mod path;
mod percent;
pub mod query;
pub mod rules;

use http::HeaderMap;

use crate::edge::types::json::Json;

/// The parts of a raw request that an operation reads.
#[derive(Debug)]
pub struct RequestParts<'a> {
    /// The path, as it was sent.
    pub path: &'a str,
    /// The query, without the `?`.
    pub query: Option<&'a str>,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The body, for operations that have one.
    pub json: Option<Json<'a>>,
}
