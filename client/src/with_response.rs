use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderName},
};

use crate::response::RawResponse;

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

/// Keeps the last response of a call.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<Option<(RawResponse, u32)>>>);

impl Recorder {
    pub(crate) fn keep(&self, response: &RawResponse, attempts: u32) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((response.clone(), attempts));
    }

    /// The response that was kept.
    pub(crate) fn response(&self) -> RawResponse {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        kept.unwrap_or_default().0
    }

    /// `value` with the response that was kept. A success without a response does not exist, so the fallback is only for the
    /// type.
    pub(crate) fn attach<T>(&self, value: T) -> WithResponse<T> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (response, attempts) = kept.unwrap_or_default();
        let RawResponse { status, headers, body, .. } = response;
        WithResponse { value, status, headers, body, attempts }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Recorder")
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
