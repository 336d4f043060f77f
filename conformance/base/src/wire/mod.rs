//! Raw HTTP: a request is what a check sets, each exchange is recorded, redacted and budgeted. Responses are not judged here.

mod body;
mod budget;
mod client;
mod decoded;
mod exchange;
pub mod headers;
mod identity;
mod options;
mod pace;
pub mod password;
mod problem;
pub mod proxy;
mod redact;
mod renewal;
mod request;
mod response;
mod secret;
mod shown;

pub use crate::debug_as;
pub use body::{ReceivedResponse, receive};
pub use budget::{Budget, BudgetError, GatewayCost, GatewayCount, Meter, Reservation, Usage};
pub use client::{ThrottlingPolicy, Wire, WireError, failure, is_small_enough};
pub use exchange::{Exchange, FailureKind, RecordedExchange, TransientFailure, WireFailure};
pub use identity::{ClientIdentity, IdentityError};
pub use options::{ExtraHeader, WireOptions, is_loopback};
pub use pace::Throttling;
pub use problem::advice;
pub use redact::{Redactor, ShortSecret, base64_forms};
pub use renewal::TokenRenewal;
pub use request::{QuerySpelling, Request, percent_encoded};
pub use response::{Response, retry_after};
pub use secret::{Secret, in_other_case};
pub use shown::{gives_away, shows, shows_any};
