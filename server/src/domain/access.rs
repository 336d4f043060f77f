//! Who may do what. A value that belongs to an account is reached only through [`Guarded::admit`].

use jiff::Timestamp;

use super::{refusal::Refusal, token::TokenKind};

/// The account that owns a token. Only the store makes these; they never leave the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccountId(pub(crate) i64);

/// What the store knows of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The account whose data the token opens (`all.own-account`).
    pub account: AccountId,
    /// What the token is good for.
    pub kind: TokenKind,
    /// When its time is over; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked; `None` while it is good.
    pub revoked_at: Option<Timestamp>,
}

/// What a token is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Extraction of gateways.
    Extraction,
    /// The static operations.
    Static,
}

impl Credential {
    /// Whether the token may be used for `purpose` at `now`.
    ///
    /// # Errors
    /// A revoked or expired token, and a link credential outside extraction, are refused.
    pub fn admits(&self, purpose: Purpose, now: Timestamp) -> Result<(), Refusal> {
        if self.revoked_at.is_some() {
            return Err(Refusal::TokenRevoked);
        }
        if self.expires_at.is_some_and(|end| end <= now) {
            return Err(Refusal::TokenExpired);
        }
        match (self.kind, purpose) {
            (TokenKind::Api, _) | (TokenKind::Link, Purpose::Extraction) => Ok(()),
            (TokenKind::Link, Purpose::Static) => Err(Refusal::TokenForExtractionOnly),
        }
    }
}

/// Data that the store read for a token. It can be had only by admitting the token.
#[derive(Debug)]
pub struct Guarded<T> {
    credential: Credential,
    value: T,
}

impl<T> Guarded<T> {
    /// Puts `value` behind the token that it was read for.
    pub const fn new(credential: Credential, value: T) -> Self {
        Self { credential, value }
    }

    /// The account and its data, if the token may be used for `purpose`.
    ///
    /// # Errors
    /// As [`Credential::admits`].
    pub fn admit(self, purpose: Purpose, now: Timestamp) -> Result<(AccountId, T), Refusal> {
        self.credential.admits(purpose, now)?;
        Ok((self.credential.account, self.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn credential(kind: TokenKind) -> Credential {
        Credential { account: AccountId(1), kind, expires_at: None, revoked_at: None }
    }

    #[test]
    fn link_credentials_extract_only() {
        assert_eq!(credential(TokenKind::Link).admits(Purpose::Extraction, NOW), Ok(()));
        let refusal = credential(TokenKind::Link).admits(Purpose::Static, NOW);
        assert_eq!(refusal, Err(Refusal::TokenForExtractionOnly));
        assert_eq!(credential(TokenKind::Api).admits(Purpose::Static, NOW), Ok(()));
    }

    #[test]
    fn a_token_ends_at_its_very_instant() {
        let nano = jiff::SignedDuration::from_nanos(1);
        let mut token = credential(TokenKind::Api);
        token.expires_at = Some(NOW + nano);
        assert_eq!(token.admits(Purpose::Static, NOW), Ok(()));
        token.expires_at = Some(NOW);
        assert_eq!(token.admits(Purpose::Static, NOW), Err(Refusal::TokenExpired));
    }

    #[test]
    fn nothing_is_had_with_a_revoked_token() {
        let mut token = credential(TokenKind::Api);
        token.revoked_at = Some(NOW);
        let refusal = Guarded::new(token, "data").admit(Purpose::Extraction, NOW);
        assert_eq!(refusal.err(), Some(Refusal::TokenRevoked));
    }
}
