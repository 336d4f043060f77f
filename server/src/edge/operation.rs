//! Operations: how their requests are parsed, and their handlers.

use std::net::Ipv4Addr;

use http::HeaderMap;
use sallyport_contract::table;
use serde::de::DeserializeOwned;

use super::{
    reading::{self, RequestParts, credential, query::Query, request_error::RequestError},
    responding::{
        api_error::ApiError,
        response::{Responses, Success},
    },
};
use crate::domain::{access::Purpose, service::Service, token::Token};

/// An operation of the document. Every implementation is generated.
pub trait Operation: Responses + Send + Sync + 'static {
    /// Its `operationId`.
    const ID: &'static str;
    /// Its path, which has no parameters.
    const PATH: &'static str;
    /// A request that keeps the document's constraints, but for its token.
    type Request: DeserializeOwned + Send + 'static;

    /// The operation in the document, with the constraints of its requests.
    #[expect(clippy::expect_used, reason = "the implementations are generated from the same document")]
    fn document() -> &'static table::Operation {
        sallyport_contract::operation(Self::ID).expect("an operation of the document")
    }

    /// Parses only the token, so that it can be checked before the body is received.
    fn credential(query: Option<&str>, headers: &HeaderMap) -> Result<Token, RequestError> {
        let document = Self::document();
        credential::read(Query::parse(query, document)?.token, headers, &document.token)
    }

    /// Parses a request: its token and the rest.
    fn read(parts: RequestParts<'_>) -> Result<(Token, Self::Request), RequestError> {
        reading::read(Self::document(), parts)
    }
}

/// The context of a call, besides its request.
#[derive(Clone)]
pub struct Call<'a> {
    /// The service.
    pub service: &'a Service,
    /// The caller's address; `None` when it is not IPv4.
    pub caller_ip: Option<Ipv4Addr>,
    /// The caller's token.
    pub token: Token,
    /// Trace id, which the response carries.
    pub request_id: &'a str,
}

/// An operation with its handler.
pub trait Handler: Operation + Sized {
    /// What the token must be valid for.
    const PURPOSE: Purpose;

    /// Handles a call.
    fn handle(
        call: Call<'_>,
        request: Self::Request,
    ) -> impl Future<Output = Result<Success<Self>, ApiError>> + Send;
}
