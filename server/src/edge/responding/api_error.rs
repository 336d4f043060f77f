//! API errors: the content of error responses.

use std::time::Duration;

use super::error_code::ErrorCode;
use crate::domain::rejection::Rejection;

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

/// With the time to wait that the contract requires after a shortage (`extract.shortage-retry-after`), and of others that may pass.
impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        let seconds = match code {
            ErrorCode::Busy | ErrorCode::Overloaded => Some(1),
            ErrorCode::Shortage => Some(2),
            ErrorCode::Unavailable => Some(5),
            _ => None,
        };
        Self { code, message: code.description().to_owned(), retry_after: seconds.map(Duration::from_secs) }
    }
}

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        Self::from(match rejection {
            // Its description does not reveal whether a token exists.
            Rejection::TokenUnknown | Rejection::TokenRevoked | Rejection::TokenExpired => {
                ErrorCode::TokenInvalid
            }
            Rejection::TokenForExtractionOnly => ErrorCode::ExtractionOnly,
            Rejection::CallerNotIpv4 => ErrorCode::CallerNotIpv4,
            Rejection::CallerNotWhitelisted => ErrorCode::NotWhitelisted,
            Rejection::AccountNotVerified => ErrorCode::NotVerified,
            Rejection::NotEntitled(protocol) => {
                let message = format!("The account has no entitlement for {protocol} gateways.");
                return Self { message, ..ErrorCode::NotEntitled.into() };
            }
            Rejection::RequestIdReused => ErrorCode::RequestIdReused,
            Rejection::Shortage => ErrorCode::Shortage,
            Rejection::Busy => ErrorCode::Busy,
            Rejection::Unavailable => ErrorCode::Unavailable,
            Rejection::Internal => ErrorCode::Internal,
        })
    }
}
