//! API errors: the content of error responses.

use std::time::Duration;

use super::error_code::ErrorCode;
use crate::domain::rejection::Rejection;

/// Time to wait before the next attempt when the server is overloaded.
const OVERLOADED_RETRY_AFTER: Duration = Duration::from_secs(1);

/// The content of an error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Entry of the catalogue.
    pub code: ErrorCode,
    /// What is wrong and, where it helps, what to do. Never a secret.
    pub message: String,
    /// Time to wait before the next attempt.
    pub retry_after: Option<Duration>,
}

impl ApiError {
    /// The server is overloaded.
    pub fn overloaded() -> Self {
        Self { retry_after: Some(OVERLOADED_RETRY_AFTER), ..ErrorCode::Overloaded.into() }
    }
}

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        Self { code, message: code.description().to_owned(), retry_after: None }
    }
}

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        let (code, retry_after) = match rejection {
            Rejection::TokenUnknown | Rejection::TokenRevoked | Rejection::TokenExpired => {
                (ErrorCode::TokenInvalid, None)
            }
            Rejection::TokenForExtractionOnly => (ErrorCode::ExtractionOnly, None),
            Rejection::CallerNotIpv4 => (ErrorCode::CallerNotIpv4, None),
            Rejection::CallerNotWhitelisted => (ErrorCode::NotWhitelisted, None),
            Rejection::AccountNotVerified => (ErrorCode::NotVerified, None),
            Rejection::NotEntitled(_) => (ErrorCode::NotEntitled, None),
            Rejection::RequestIdReused => (ErrorCode::RequestIdReused, None),
            Rejection::Shortage { retry_after } => (ErrorCode::Shortage, Some(retry_after)),
            Rejection::Busy { retry_after } => (ErrorCode::Busy, Some(retry_after)),
            Rejection::Unavailable { retry_after } => (ErrorCode::Unavailable, Some(retry_after)),
            Rejection::Internal => (ErrorCode::Internal, None),
        };
        // The description of the code does not reveal whether a token exists.
        let message = match rejection {
            Rejection::NotEntitled(protocol) => {
                format!("The account has no entitlement for {protocol} gateways.")
            }
            _ => code.description().to_owned(),
        };
        Self { code, message, retry_after }
    }
}
