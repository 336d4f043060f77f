//! Operations: how their requests are parsed, and their handlers.

use std::net::Ipv4Addr;

use http::HeaderMap;

use super::{
    reading::RequestParts,
    responding::{
        api_error::ApiError,
        response::{Responses, Success},
    },
    types::request_error::{Input, RequestError},
};
use crate::domain::{access::Purpose, service::Service, token::Token};

/// An operation of the document. Every implementation is generated.
pub trait Operation: Responses + Send + Sync + 'static {
    /// Its `operationId`.
    const ID: &'static str;
    /// Path, with its parameters in braces.
    const PATH: &'static str;
    /// The body, for operations that have one.
    const BODY: Option<Input<'static>>;
    /// A parsed request. It holds only valid values.
    type Request: Send + 'static;

    /// The token that a request carries.
    fn token(request: &Self::Request) -> &Token;

    /// Parses only the token, so that it can be checked before the body is received.
    ///
    /// # Errors
    /// The first error found in the query's names or in the token's transports.
    fn credential(query: Option<&str>, headers: &HeaderMap) -> Result<Token, RequestError>;

    /// Parses a request.
    ///
    /// # Errors
    /// The first error found.
    fn read(parts: RequestParts<'_>) -> Result<Self::Request, RequestError>;
}

/// The context of a call, besides its request.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The service.
    pub service: &'a Service,
    /// The caller's address; `None` when it is not IPv4.
    pub caller_ip: Option<Ipv4Addr>,
    /// Trace id, which the response carries.
    pub request_id: &'a str,
}

/// An operation with its handler.
pub trait Handler: Operation + Sized {
    /// What the token must be valid for.
    const PURPOSE: Purpose;

    /// Handles a call.
    ///
    /// # Errors
    /// The API error that the caller gets.
    fn handle(
        call: Call<'_>,
        request: Self::Request,
    ) -> impl Future<Output = Result<Success<Self>, ApiError>> + Send;
}
