//! Why the service says no.

use std::time::Duration;

use super::extraction::Protocol;

/// Every reason for which a well-formed request is refused or cannot be answered. The edge gives each one its status,
/// code and words; none of them holds anything that a caller sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No such token (`all.token-required`).
    #[error("the token is not known")]
    TokenUnknown,
    /// The token was revoked by its account's owner.
    #[error("the token has been revoked")]
    TokenRevoked,
    /// The token's time is over.
    #[error("the token has expired")]
    TokenExpired,
    /// A link credential was sent to an operation other than extraction (`extract.link-credential`).
    #[error("a link credential is good for extraction only")]
    TokenForExtractionOnly,
    /// The call did not come from an IPv4 address, so that no whitelist can hold it (`extract.whitelist`).
    #[error("the call did not come from an IPv4 address")]
    CallerNotIpv4,
    /// The caller's address is in no enabled, unexpired whitelist entry of the account (`extract.whitelist`).
    #[error("the caller's address is not in an enabled whitelist")]
    CallerNotWhitelisted,
    /// The account has not passed real-name verification (`extract.real-name`).
    #[error("the account is not real-name verified")]
    AccountNotVerified,
    /// The account has no entitlement for the protocol (`extract.entitlement`).
    #[error("the account has no entitlement for {0} gateways")]
    NotEntitled(Protocol),
    /// Not one gateway fits the request (`extract.shortage-retry-after`).
    #[error("no gateway is available")]
    Shortage {
        /// How long to wait before asking again.
        retry_after: Duration,
    },
    /// The request id stands for an extraction with other parameters (`extract.idempotent`).
    #[error("the request id was used with other parameters")]
    RequestIdReused,
    /// The storage is busy; the same request may pass in a moment.
    #[error("the storage is busy")]
    Busy {
        /// How long to wait before asking again.
        retry_after: Duration,
    },
    /// The storage cannot answer at all.
    #[error("the storage is unavailable")]
    Unavailable {
        /// How long to wait before asking again.
        retry_after: Duration,
    },
    /// A fault of this program. The log has the details.
    #[error("internal error")]
    Internal,
}
