//! A refusal as a caller gets it: made from a fault of the request or from the domain's refusal.

use std::time::Duration;

use super::{catalogue::Reason, fault::Fault, integer::OutOfRange};
use crate::domain::refusal::Refusal;

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

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        let (reason, retry_after) = match refusal {
            Refusal::TokenUnknown | Refusal::TokenRevoked | Refusal::TokenExpired => {
                (Reason::TokenInvalid, None)
            }
            Refusal::TokenForExtractionOnly => (Reason::ExtractionOnly, None),
            Refusal::CallerNotIpv4 => (Reason::CallerNotIpv4, None),
            Refusal::CallerNotWhitelisted => (Reason::NotWhitelisted, None),
            Refusal::AccountNotVerified => (Reason::NotVerified, None),
            Refusal::NotEntitled(_) => (Reason::NotEntitled, None),
            Refusal::RequestIdReused => (Reason::RequestIdReused, None),
            Refusal::Shortage { retry_after } => (Reason::Shortage, Some(retry_after)),
            Refusal::Busy { retry_after } => (Reason::Busy, Some(retry_after)),
            Refusal::Unavailable { retry_after } => (Reason::Unavailable, Some(retry_after)),
            Refusal::Internal => (Reason::Internal, None),
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
