//! Why the domain rejects a request.

use std::time::Duration;

use super::protocol::Protocol;

/// Every reason to reject a well-formed request. The edge maps each one to an error code; none of them holds anything
/// that the caller sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// No such token (`all.token-required`).
    #[error("unknown token")]
    TokenUnknown,
    /// The token was revoked by its account's owner.
    #[error("the token has been revoked")]
    TokenRevoked,
    /// The token has expired.
    #[error("the token has expired")]
    TokenExpired,
    /// A link credential was sent to an operation other than extraction (`extract.link-credential`).
    #[error("a link credential can be used for extraction only")]
    TokenForExtractionOnly,
    /// The source address of the request is not IPv4, so that no whitelist can contain it (`extract.whitelist`).
    #[error("the request did not come from an IPv4 address")]
    CallerNotIpv4,
    /// No whitelist entry of the account that is in force covers the source address (`extract.whitelist`).
    #[error("the source address is not in an enabled whitelist entry")]
    CallerNotWhitelisted,
    /// The account has not passed real-name verification (`extract.real-name`).
    #[error("the account is not real-name verified")]
    AccountNotVerified,
    /// The account has no entitlement for the protocol (`extract.entitlement`).
    #[error("the account has no entitlement for {0} gateways")]
    NotEntitled(Protocol),
    /// No gateway matches the request (`extract.shortage-retry-after`).
    #[error("no gateway is available")]
    Shortage {
        /// Time to wait before the next attempt.
        retry_after: Duration,
    },
    /// The request id belongs to an extraction with other parameters (`extract.idempotent`).
    #[error("the request id was already used with other parameters")]
    RequestIdReused,
    /// The storage is busy; a retry may succeed.
    #[error("the storage is busy")]
    Busy {
        /// Time to wait before the next attempt.
        retry_after: Duration,
    },
    /// The storage cannot be reached or used.
    #[error("the storage is unavailable")]
    Unavailable {
        /// Time to wait before the next attempt.
        retry_after: Duration,
    },
    /// A bug of this program. The log has the details.
    #[error("internal error")]
    Internal,
}
