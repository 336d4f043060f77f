use std::fmt;

use bytes::Bytes;
use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderName},
};

/// A typed result with the response that it was read from.
///
/// Headers and body are as the service sent them; `Debug` shows neither the values of headers nor the body.
#[derive(Clone)]
#[non_exhaustive]
pub struct WithResponse<T> {
    /// The typed result.
    pub value: T,
    /// HTTP status.
    pub status: StatusCode,
    /// All headers of the response.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// Number of requests that were sent for it: 1 without a repetition.
    pub attempts: u32,
}

impl<T> WithResponse<T> {
    /// Another value with the same response.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> WithResponse<U> {
        let Self { value, status, headers, body, attempts } = self;
        WithResponse { value: change(value), status, headers, body, attempts }
    }
}

impl<T: fmt::Debug> fmt::Debug for WithResponse<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("WithResponse")
            .field("value", &self.value)
            .field("status", &self.status)
            .field("headers", &self.headers.keys().map(HeaderName::as_str).collect::<Vec<_>>())
            .field("body", &format_args!("{} bytes", self.body.len()))
            .field("attempts", &self.attempts)
            .finish()
    }
}
