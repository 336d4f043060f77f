//! Responses: a success or an error of one operation, in its envelope.

use std::{marker::PhantomData, sync::Arc};

use bytes::Bytes;
use dropshot::{ApiEndpointResponse, Body, HttpResponse};
use http::{
    HeaderMap, HeaderName, HeaderValue, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, InvalidHeaderValue, RETRY_AFTER},
};
use serde::{Serialize, Serializer};

use super::{api_error::ApiError, error_code::ErrorCode};
use crate::{connections::Connection, domain::SmolStr};

/// The responses of an operation. Every implementation is generated.
pub trait Responses {
    /// The methods of the operation's path, as a value of `Allow`.
    const ALLOW: &'static str;
    /// Status of a success.
    const STATUS: StatusCode = StatusCode::OK;
    /// Body of a success as plain text: [`String`] where the document has text/plain, [`NoTextBody`] otherwise.
    type Text: Into<String> + Send + Sync + 'static;
    /// Body of a success.
    type Success: Serialize + Send + Sync + 'static;
    /// Headers of a success.
    type Headers: SuccessHeaders + Send + Sync + 'static;
    /// Body of an error.
    type Error: ErrorEnvelope;
}

/// No body, for operations without text/plain in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTextBody {}

impl From<NoTextBody> for String {
    fn from(none: NoTextBody) -> Self {
        match none {}
    }
}

/// The body of a success with status 204, which has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NoContent {}

/// The headers that a success carries.
pub trait SuccessHeaders {
    /// Adds the headers.
    fn write(self, headers: &mut HeaderMap) -> Result<(), InvalidHeaderValue>;
}

/// The body of an error.
pub trait ErrorEnvelope: Serialize {
    /// An error with this business code. Envelopes without a field for the request id ignore it.
    fn new(code: i64, message: String, request_id: Option<&str>) -> Self;
}

/// The result of a handler.
#[derive(Debug)]
pub struct Success<O: Responses> {
    /// The body.
    pub content: Content<O::Success, O::Text>,
    /// The headers.
    pub headers: O::Headers,
}

/// The body of a success in one of its media types.
#[derive(Debug)]
pub enum Content<T, X> {
    /// application/json
    Json(T),
    /// text/plain in UTF-8
    Text(X),
}

/// A complete response of an operation.
#[derive(Debug)]
pub struct OperationResponse<O> {
    response: Response<Body>,
    /// The error code; `None` for a success.
    pub(crate) error_code: Option<ErrorCode>,
    operation: PhantomData<fn() -> O>,
}

impl<O: Responses> OperationResponse<O> {
    /// The response to the request with this id. A success that exceeds the connection's memory for unread responses becomes an
    /// error.
    pub(crate) fn new(
        outcome: Result<Success<O>, ApiError>,
        request_id: &str,
        connection: &Arc<Connection>,
    ) -> Self {
        let (response, error_code) = match outcome.and_then(|content| success(content, connection)) {
            Ok(response) => (response, None),
            Err(error) => (error_response::<O>(&error, request_id, connection), Some(error.code)),
        };
        Self { response, error_code, operation: PhantomData }
    }
}

impl<O: Responses> HttpResponse for OperationResponse<O> {
    fn to_result(self) -> Result<Response<Body>, dropshot::HttpError> {
        Ok(self.response)
    }

    fn response_metadata() -> ApiEndpointResponse {
        // The document describes the API, so Dropshot needs to know no more of it.
        ApiEndpointResponse { success: Some(O::STATUS), ..ApiEndpointResponse::default() }
    }

    fn status_code(&self) -> StatusCode {
        self.response.status()
    }
}

/// The integer `N`, the only value of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Constant<const N: i64>;

impl<const N: i64> Serialize for Constant<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(N)
    }
}

/// The boolean `B`, the only value of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConstantBool<const B: bool>;

impl<const B: bool> Serialize for ConstantBool<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(B)
    }
}

/// Sets a header that has a value.
pub fn set_header(
    headers: &mut HeaderMap,
    name: HeaderName,
    value: impl HeaderText,
) -> Result<(), InvalidHeaderValue> {
    if let Some(value) = value.header_value()? {
        headers.insert(name, value);
    }
    Ok(())
}

/// A value that a header can have.
pub trait HeaderText {
    /// The header; `None` for one that is not sent.
    fn header_value(self) -> Result<Option<HeaderValue>, InvalidHeaderValue>;
}

macro_rules! header_text {
    ($($kind:ty: |$value:ident| $header:expr),+ $(,)?) => {$(
        impl HeaderText for $kind {
            fn header_value(self) -> Result<Option<HeaderValue>, InvalidHeaderValue> {
                let $value = self;
                $header.map(Some)
            }
        }
    )+};
}

header_text! {
    SmolStr: |text| HeaderValue::from_str(&text),
    &'static str: |text| HeaderValue::from_str(text),
    i64: |number| Ok(HeaderValue::from(number)),
    bool: |flag| Ok(HeaderValue::from_static(if flag { "true" } else { "false" })),
}

impl<T: HeaderText> HeaderText for Option<T> {
    fn header_value(self) -> Result<Option<HeaderValue>, InvalidHeaderValue> {
        self.map_or(Ok(None), T::header_value)
    }
}

fn success<O: Responses>(
    success: Success<O>,
    connection: &Arc<Connection>,
) -> Result<Response<Body>, ApiError> {
    let Success { content, headers } = success;
    if O::STATUS == StatusCode::NO_CONTENT {
        let mut response = response(O::STATUS, "application/json", Bytes::new());
        response.headers_mut().remove(CONTENT_TYPE);
        headers.write(response.headers_mut()).map_err(|_| ApiError::from(ErrorCode::Internal))?;
        return Ok(response);
    }
    let (content_type, bytes) = match content {
        Content::Json(body) => {
            let bytes = serde_json::to_vec(&body).map_err(|_| ApiError::from(ErrorCode::Internal))?;
            ("application/json", bytes)
        }
        Content::Text(text) => ("text/plain; charset=utf-8", text.into().into_bytes()),
    };
    let bytes = connection.send(bytes).map_err(|_| ApiError::from(ErrorCode::Overloaded))?;
    let mut response = response(O::STATUS, content_type, bytes);
    headers.write(response.headers_mut()).map_err(|_| ApiError::from(ErrorCode::Internal))?;
    Ok(response)
}

fn error_response<O: Responses>(
    error: &ApiError,
    request_id: &str,
    connection: &Arc<Connection>,
) -> Response<Body> {
    let ApiError { code, message, retry_after } = error;
    let envelope = O::Error::new(code.number(), message.clone(), Some(request_id));
    // Envelopes hold numbers and strings, which can always be serialized.
    let bytes = serde_json::to_vec(&envelope).unwrap_or_default();
    let bytes = connection.send_rejection(bytes);
    let mut response = response(code.status(), "application/json", bytes);
    if let Some(wait) = retry_after {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if *code == ErrorCode::MethodNotAllowed {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(O::ALLOW));
    }
    response
}

/// A response with the headers that all have. Dropshot adds `X-Request-Id`.
fn response(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
