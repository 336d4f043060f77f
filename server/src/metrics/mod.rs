//! The server's metrics for Prometheus. No label holds a value that a caller can choose.

mod prometheus;

use std::time::Duration;

pub(crate) use self::prometheus::Metrics;
use crate::edge::responding::error_code::ErrorCode;

/// The outcome of a call whose caller disconnected before the response.
const DISCONNECTED: &str = "left";

/// The outcome of a call, as metrics and the log name it.
pub(crate) const fn outcome(code: Option<ErrorCode>) -> &'static str {
    match code {
        None => "success",
        Some(ErrorCode::Throttled) => "throttled",
        Some(ErrorCode::Overloaded) => "shed",
        Some(ErrorCode::Internal | ErrorCode::Busy | ErrorCode::Unavailable) => "failed",
        Some(_) => "rejected",
    }
}

/// Microseconds as 64 bits, because the JSON log has no larger numbers.
pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
