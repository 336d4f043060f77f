use super::Secret;
use crate::contract::Clause;
use crate::names::names;

/// A credential that extraction must reject.
#[derive(Debug, Clone)]
pub struct RejectedToken {
    /// The token, or the API Link credential.
    pub token: Secret,
    /// Why it is rejected.
    pub reason: RejectionReason,
    /// For reports; may be empty.
    pub note: String,
}

/// Why extraction rejects a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionReason {
    /// It was revoked or has expired.
    Revoked,
    /// No enabled whitelist entry of its account covers this machine.
    NotWhitelisted,
    /// Its account is not real-name verified.
    NotVerified,
    /// Its account has no entitlement.
    NotEntitled,
}

names! {
    RejectionReason {
        Revoked => "revoked",
        NotWhitelisted => "not-whitelisted",
        NotVerified => "not-verified",
        NotEntitled => "not-entitled",
    }
}

impl RejectionReason {
    /// The clause that is violated if such a credential is accepted.
    pub const fn clause(self) -> Clause {
        match self {
            Self::Revoked => Clause::AllTokenRequired,
            Self::NotWhitelisted => Clause::ExtractWhitelist,
            Self::NotVerified => Clause::ExtractRealName,
            Self::NotEntitled => Clause::ExtractEntitlement,
        }
    }
}
