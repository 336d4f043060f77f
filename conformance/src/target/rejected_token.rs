use super::Secret;
use crate::contract::Clause;

/// A credential that extraction must reject.
#[derive(Debug, Clone)]
pub struct RejectedToken {
    /// The token, or the API Link credential.
    pub token: Secret,
    /// Why it is rejected.
    pub reason: RejectionReason,
    /// A note for reports; may be empty.
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

impl RejectionReason {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Revoked, Self::NotWhitelisted, Self::NotVerified, Self::NotEntitled];

    /// The name in facts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Revoked => "revoked",
            Self::NotWhitelisted => "not-whitelisted",
            Self::NotVerified => "not-verified",
            Self::NotEntitled => "not-entitled",
        }
    }

    /// The reason with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

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
