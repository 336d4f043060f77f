//! A refusal as a caller gets it: made from a fault of the request or from the domain's refusal.

use std::time::Duration;

use super::{catalogue::Reason, fault::Fault, integer::OutOfRange};
use crate::domain::rejection::Rejection;

/// Why a call is refused, in words for its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Entry of the catalogue.
    pub reason: Reason,
    /// What was wrong and, where it helps, what to do. Never a secret.
    pub message: String,
    /// How long to wait before asking again.
    pub retry_after: Option<Duration>,
}

impl From<Reason> for Refused {
    fn from(reason: Reason) -> Self {
        Self { reason, message: reason.when().to_owned(), retry_after: None }
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self { reason: fault.reason, message: fault.to_string(), retry_after: None }
    }
}

impl From<Rejection> for Refused {
    fn from(refusal: Rejection) -> Self {
        let (reason, retry_after) = match refusal {
            Rejection::TokenUnknown | Rejection::TokenRevoked | Rejection::TokenExpired => {
                (Reason::TokenInvalid, None)
            }
            Rejection::TokenForExtractionOnly => (Reason::ExtractionOnly, None),
            Rejection::CallerNotIpv4 => (Reason::CallerNotIpv4, None),
            Rejection::CallerNotWhitelisted => (Reason::NotWhitelisted, None),
            Rejection::AccountNotVerified => (Reason::NotVerified, None),
            Rejection::NotEntitled(_) => (Reason::NotEntitled, None),
            Rejection::RequestIdReused => (Reason::RequestIdReused, None),
            Rejection::Shortage { retry_after } => (Reason::Shortage, Some(retry_after)),
            Rejection::Busy { retry_after } => (Reason::Busy, Some(retry_after)),
            Rejection::Unavailable { retry_after } => (Reason::Unavailable, Some(retry_after)),
            Rejection::Internal => (Reason::Internal, None),
        };
        // A stranger learns no more of a token than that it does not open anything.
        let message = match reason {
            Reason::TokenInvalid => reason.when().to_owned(),
            _ => refusal.to_string(),
        };
        Self { reason, message, retry_after }
    }
}

/// A value from the storage that the document does not allow is a fault of ours, never an answer.
impl From<OutOfRange> for Refused {
    fn from(error: OutOfRange) -> Self {
        tracing::error!(%error, "the storage holds a value that the contract does not allow");
        Self::from(Reason::Internal)
    }
}
