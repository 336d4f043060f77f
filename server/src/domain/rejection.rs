//! Why the domain rejects a request.

use super::Protocol;

/// Why a well-formed request is rejected. The edge maps each reason to an error code, whose description is the message
/// (`edge/responding/`); none of them holds anything that the caller sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// No such token (`all.token-required`).
    TokenUnknown,
    /// The token was revoked by its account's owner.
    TokenRevoked,
    /// The token has expired.
    TokenExpired,
    /// A link credential was sent to an operation other than extraction (`extract.link-credential`).
    TokenForExtractionOnly,
    /// The source address of the request is not IPv4, so that no whitelist can contain it (`extract.whitelist`).
    CallerNotIpv4,
    /// No whitelist entry of the account that is in force covers the source address (`extract.whitelist`).
    CallerNotWhitelisted,
    /// The account has not passed real-name verification (`extract.real-name`).
    AccountNotVerified,
    /// The account has no entitlement for the protocol (`extract.entitlement`).
    NotEntitled(Protocol),
    /// No gateway matches the request (`extract.shortage-retry-after`).
    Shortage,
    /// The request id belongs to an extraction with other parameters (`extract.idempotent`).
    RequestIdReused,
    /// The storage is busy; a retry may succeed.
    Busy,
    /// The storage cannot be reached or used.
    Unavailable,
    /// A bug of this program. The log has the details.
    Internal,
}
