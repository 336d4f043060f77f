//! Answers: a success or a refusal of one operation, in the envelope that the document gives it.

use std::{marker::PhantomData, sync::Arc};

use dropshot::{
    ApiEndpointBodyContentType, ApiEndpointResponse, Body, ExtractorMetadata, HttpResponse,
    HttpResponseError, HttpResponseHeaders, HttpResponseOk,
};
use http::{
    HeaderMap, HeaderValue, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, InvalidHeaderValue, RETRY_AFTER},
};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use bytes::Bytes;

use super::{
    call::Arrived,
    catalogue::Reason,
    fault::{Fault, Spot},
    gate::overloaded,
    refused::Refused,
};
use crate::{connections::Connection, domain::token::Token};

/// An operation of the document. Every implementation is generated.
pub trait Operation: Send + Sync + 'static {
    /// Its `operationId`.
    const ID: &'static str;
    /// The methods that its path has, as `Allow` lists them.
    const ALLOW: &'static str;
    /// Path.
    const PATH: &'static str;
    /// The body, for operations that have one.
    const BODY: Option<Spot<'static>>;
    /// Description of the success answer.
    const DESCRIPTION: &'static str;
    /// What a caller asks for. It holds only valid values.
    type Request: Send + 'static;
    /// Body of a success.
    type Success: JsonSchema + Serialize + Send + Sync + 'static;
    /// Headers of a success.
    type Headers: JsonSchema + Serialize + SuccessHeaders + Send + Sync + 'static;
    /// Body of a refusal.
    type Error: ErrorEnvelope + HttpResponseError + Send + Sync + 'static;

    /// Parameters and body, as Dropshot documents them.
    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata;

    /// The token that a request carries.
    fn token(request: &Self::Request) -> &Token;

    /// Reads the token alone, so that it can be looked at before the body is.
    ///
    /// # Errors
    /// The first fault found in the query's names or in the token's transports.
    fn credential(query: Option<&str>, headers: &HeaderMap) -> Result<Token, Fault>;

    /// Reads a request.
    ///
    /// # Errors
    /// The first fault found.
    fn read(arrived: Arrived<'_>) -> Result<Self::Request, Fault>;
}

/// The headers that a success carries.
pub trait SuccessHeaders {
    /// Adds those that are sent.
    ///
    /// # Errors
    /// A value cannot stand in a header.
    fn write(self, headers: &mut HeaderMap) -> Result<(), InvalidHeaderValue>;
}

/// The body of a refusal.
pub trait ErrorEnvelope: Serialize {
    /// A refusal with this business code. Envelopes without a field for the request's id leave it out.
    fn new(code: i64, message: String, request_id: Option<&str>) -> Self;
}

/// What a handler gives when all went well.
#[derive(Debug)]
pub struct Success<O: Operation> {
    /// The body.
    pub content: Content<O::Success>,
    /// The headers.
    pub headers: O::Headers,
}

/// The body of a success in one of its media types.
#[derive(Debug)]
pub enum Content<T> {
    /// application/json
    Json(T),
    /// text/plain in UTF-8
    Text(String),
}

/// A finished answer of an operation.
#[derive(Debug)]
pub struct Answer<O> {
    response: Response<Body>,
    reason: Option<Reason>,
    operation: PhantomData<fn() -> O>,
}

impl<O: Operation> Answer<O> {
    /// The answer for what a handler gave, to the request with this id. A success for which the connection has no room,
    /// since it does not read what it already has, becomes a refusal.
    #[must_use]
    pub(crate) fn new(
        outcome: Result<Success<O>, Refused>,
        request_id: &str,
        connection: &Arc<Connection>,
    ) -> Self {
        let (response, reason) = match outcome.and_then(|content| success(content, connection)) {
            Ok(response) => (response, None),
            Err(refused) => (refusal::<O>(&refused, request_id, connection), Some(refused.reason)),
        };
        Self { response, reason, operation: PhantomData }
    }

    /// Why the call is refused; `None` for a success.
    #[must_use]
    pub const fn reason(&self) -> Option<Reason> {
        self.reason
    }
}

impl<O: Operation> HttpResponse for Answer<O> {
    fn to_result(self) -> Result<Response<Body>, dropshot::HttpError> {
        Ok(self.response)
    }

    fn response_metadata() -> ApiEndpointResponse {
        let mut metadata = HttpResponseHeaders::<HttpResponseOk<O::Success>, O::Headers>::response_metadata();
        metadata.description = Some(O::DESCRIPTION.to_owned());
        metadata
    }

    fn status_code(&self) -> StatusCode {
        self.response.status()
    }
}

/// The whole number `N` and no other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Always<const N: i64>;

impl<const N: i64> Serialize for Always<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(N)
    }
}

/// The truth value `B` and no other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlwaysBool<const B: bool>;

impl<const B: bool> Serialize for AlwaysBool<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(B)
    }
}

/// Lets Dropshot document a refusal's body. Dropshot itself never sends one: our extractors cannot fail, and handlers
/// answer with [`Answer`]. Should it try all the same, it sends an internal error.
macro_rules! error_response {
    ($type:ty) => {
        impl From<::dropshot::HttpError> for $type {
            fn from(_: ::dropshot::HttpError) -> Self {
                let reason = $crate::edge::catalogue::Reason::Internal;
                $crate::edge::answer::ErrorEnvelope::new(reason.code(), reason.when().to_owned(), None)
            }
        }

        impl ::dropshot::HttpResponseError for $type {
            fn status_code(&self) -> ::dropshot::ErrorStatusCode {
                ::dropshot::ErrorStatusCode::INTERNAL_SERVER_ERROR
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str($crate::edge::catalogue::Reason::Internal.when())
            }
        }
    };
}
pub(crate) use error_response;

/// Status of every success.
pub(crate) const SUCCESS: StatusCode = StatusCode::OK;

fn success<O: Operation>(
    success: Success<O>,
    connection: &Arc<Connection>,
) -> Result<Response<Body>, Refused> {
    let Success { content, headers } = success;
    let (content_type, bytes) = match content {
        Content::Json(body) => {
            let bytes = serde_json::to_vec(&body).map_err(|_| Refused::from(Reason::Internal))?;
            ("application/json", bytes)
        }
        Content::Text(text) => ("text/plain; charset=utf-8", text.into_bytes()),
    };
    let bytes = connection.send(bytes).map_err(|_| overloaded())?;
    let mut response = response(SUCCESS, content_type, bytes);
    headers.write(response.headers_mut()).map_err(|_| Refused::from(Reason::Internal))?;
    Ok(response)
}

fn refusal<O: Operation>(
    refused: &Refused,
    request_id: &str,
    connection: &Arc<Connection>,
) -> Response<Body> {
    let Refused { reason, message, retry_after } = refused;
    let envelope = O::Error::new(reason.code(), message.clone(), Some(request_id));
    // Envelopes hold numbers and strings, which always serialise.
    let bytes = serde_json::to_vec(&envelope).unwrap_or_default();
    let mut response = response(reason.status(), "application/json", connection.send_rejection(bytes));
    if let Some(wait) = retry_after {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if *reason == Reason::MethodNotAllowed {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(O::ALLOW));
    }
    response
}

/// What every answer of ours has. Dropshot adds `X-Request-Id`.
fn response(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
