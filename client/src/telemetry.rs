//! Spans and events with the names of OpenTelemetry's HTTP conventions, with the feature `tracing`. They never hold the
//! query of a URL.

#[cfg(feature = "tracing")]
use std::sync::atomic::Ordering;
use std::{sync::atomic::AtomicU32, time::Duration};

use reqwest::Url;

#[cfg(feature = "tracing")]
use crate::WithResponse;
use crate::{Error, operation::Operation};

/// Runs `future` in the span of a call, of which `sent` counts the requests. The span gets its results once, at the end: subscribers
/// that write lines repeat a field in each of them as often as it was recorded.
#[cfg(feature = "tracing")]
pub(crate) async fn in_span<T>(
    operation: &'static Operation,
    base: &Url,
    sent: &AtomicU32,
    future: impl Future<Output = Result<WithResponse<T>, Error>>,
) -> Result<WithResponse<T>, Error> {
    use tracing::{Instrument, field::Empty};

    let span = tracing::info_span!(
        "sallyport.call",
        otel.name = operation.id,
        http.request.method = operation.method,
        url.path = format!("{}{}", base.path().trim_end_matches('/'), operation.path),
        server.address = base.host_str(),
        server.port = base.port_or_known_default(),
        http.response.status_code = Empty,
        http.request.resend_count = Empty,
        error.type = Empty,
    );
    let outcome = future.instrument(span.clone()).await;
    let status = match &outcome {
        Ok(success) => Some(success.status),
        Err(error) => error.status(),
    };
    status.map(|status| span.record("http.response.status_code", status.as_u16()));
    let repeated = sent.load(Ordering::Relaxed).saturating_sub(1);
    if repeated > 0 {
        span.record("http.request.resend_count", repeated);
    }
    if let Err(error) = &outcome {
        let entered = span.enter();
        tracing::warn!(
            operation = operation.id,
            error.type = error.kind(),
            request_id = error.request_id().map(|id| crate::printable(id).into_owned()),
            error = %error,
            "call failed"
        );
        drop(entered);
        span.record("error.type", error.kind());
    }
    outcome
}

/// Records that retry number `count` follows after `wait`.
#[cfg(feature = "tracing")]
pub(crate) fn retrying(operation: &'static Operation, count: u32, wait: Duration, error: &Error) {
    tracing::warn!(
        operation = operation.id,
        http.request.resend_count = count,
        wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
        error = %error,
        "retrying"
    );
}

/// Returns the future itself: an `async fn` around it would store it twice, as its argument and as the awaited value.
#[cfg(not(feature = "tracing"))]
pub(crate) fn in_span<F>(_: &'static Operation, _: &Url, _: &AtomicU32, future: F) -> F {
    future
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn retrying(_: &'static Operation, _: u32, _: Duration, _: &Error) {}
