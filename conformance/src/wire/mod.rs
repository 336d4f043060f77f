//! Raw HTTP under the checks' control: a request says exactly what a check wants it to say, every exchange is recorded
//! with the secrets taken out, and nothing is sent beyond the budget. Nothing here judges.

mod answer;
mod budget;
mod client;
mod exchange;
pub(crate) mod headers;
mod pace;
pub(crate) mod password;
mod redact;
mod request;
mod retry_after;
mod spelling;

pub use answer::Answer;
pub use budget::{Budget, Exhausted, Hold, Meter, Reservation, Took, Usage};
pub use client::{ExtraHeader, Patience, Wire, WireError, WireOptions, is_loopback};
pub use exchange::{Exchange, FailureKind, Recorded, WireFailure};
pub use pace::Throttling;
pub(crate) use redact::base64_forms;
pub use redact::{Redactor, ShortSecret};
pub use request::Request;
pub use retry_after::{RetryAfter, RetryAfterError};
