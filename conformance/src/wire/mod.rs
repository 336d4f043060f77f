//! Raw HTTP: a request is what a check sets, each exchange is recorded, redacted and budgeted. Responses are not judged here.

mod body;
mod budget;
mod client;
mod decoded;
mod exchange;
pub(crate) mod headers;
mod identity;
mod options;
mod pace;
pub(crate) mod password;
mod problem;
pub(crate) mod proxy;
mod redact;
mod renewal;
mod request;
mod response;
mod secret;

pub(crate) use body::{ReceivedResponse, receive};
pub use budget::{Budget, BudgetError, GatewayCost, GatewayCount, Meter, Reservation, Usage};
pub use client::{ThrottlingPolicy, Wire, WireError};
pub(crate) use client::{failure, is_small_enough};
#[cfg(feature = "embedded")]
pub(crate) use decoded::Decoded;
pub(crate) use exchange::TransientFailure;
pub use exchange::{Exchange, FailureKind, RecordedExchange, WireFailure};
pub use identity::{ClientIdentity, IdentityError};
pub use options::{ExtraHeader, WireOptions, is_loopback};
pub use pace::Throttling;
pub(crate) use problem::advice;
pub(crate) use redact::base64_forms;
#[cfg(feature = "embedded")]
pub(crate) use redact::spellings;
#[cfg(all(test, feature = "embedded"))]
pub(crate) use redact::written;
pub use redact::{Redactor, ShortSecret};
pub use renewal::TokenRenewal;
pub(crate) use request::percent_encoded;
pub use request::{QuerySpelling, Request};
pub use response::Response;
#[cfg(feature = "embedded")]
pub(crate) use response::retry_after;
pub use secret::Secret;
pub(crate) use secret::{debug_as, in_other_case};
