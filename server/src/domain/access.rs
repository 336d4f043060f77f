//! Access policy: which token may be used for what, and which account may extract from where.
//!
//! Every rule is decided here, from data that the storage returns. Data of an account is reached only through
//! [`ProtectedData::authorize`].

use std::net::Ipv4Addr;

use jiff::Timestamp;

use super::{Protocol, rejection::Rejection, token::TokenKind};

/// The account that owns a token. Only the storage creates these; they never leave the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccountId(pub(crate) i64);

/// A stored token without its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The account whose data the token opens (`all.own-account`).
    pub account: AccountId,
    /// Which operations accept the token.
    pub kind: TokenKind,
    /// When the token expires; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// When the token was revoked; `None` if it was not.
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
    /// Revoked and expired tokens are rejected, and link credentials outside extraction (`extract.link-credential`).
    pub fn authorize(&self, purpose: Purpose, now: Timestamp) -> Result<(), Rejection> {
        if self.revoked_at.is_some() {
            return Err(Rejection::TokenRevoked);
        }
        if has_expired(self.expires_at, now) {
            return Err(Rejection::TokenExpired);
        }
        match (self.kind, purpose) {
            (TokenKind::Api, _) | (TokenKind::Link, Purpose::Extraction) => Ok(()),
            (TokenKind::Link, Purpose::Static) => Err(Rejection::TokenForExtractionOnly),
        }
    }
}

/// The part of an account that decides on extraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The account has passed real-name verification.
    pub is_verified: bool,
    /// Whitelist entries, disabled and expired ones included: all of them, or at least those that cover the caller.
    pub whitelist: Vec<WhitelistEntry>,
    /// Protocols that the account may extract, expired entitlements included.
    pub entitlements: Vec<Entitlement>,
}

/// A range of source addresses from which an account may extract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WhitelistEntry {
    /// First address of the range.
    pub first: Ipv4Addr,
    /// Last address of the range, included.
    pub last: Ipv4Addr,
    /// Whether the account's owner has enabled the entry.
    pub is_enabled: bool,
    /// When the entry expires; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// The right to extract gateways of one protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entitlement {
    /// The protocol.
    pub protocol: Protocol,
    /// When the right expires; `None` for never.
    pub expires_at: Option<Timestamp>,
}

impl Account {
    /// Whether the account may extract gateways of `protocol` at `now`, and from which address it does. Every call is
    /// checked: its source address (`extract.whitelist`), then the account's verification (`extract.real-name`) and
    /// entitlement (`extract.entitlement`).
    ///
    /// # Errors
    /// The first condition that does not hold.
    pub fn authorize_extraction(
        &self,
        caller_ip: Option<Ipv4Addr>,
        protocol: Protocol,
        now: Timestamp,
    ) -> Result<Ipv4Addr, Rejection> {
        let caller_ip = caller_ip.ok_or(Rejection::CallerNotIpv4)?;
        if !self.whitelist.iter().any(|entry| entry.covers(caller_ip) && entry.is_in_force(now)) {
            return Err(Rejection::CallerNotWhitelisted);
        }
        if !self.is_verified {
            return Err(Rejection::AccountNotVerified);
        }
        if !self.entitlements.iter().any(|right| right.protocol == protocol && right.is_in_force(now)) {
            return Err(Rejection::NotEntitled(protocol));
        }
        Ok(caller_ip)
    }
}

impl WhitelistEntry {
    /// Whether the range contains `ip`.
    pub fn covers(&self, ip: Ipv4Addr) -> bool {
        (self.first..=self.last).contains(&ip)
    }

    /// Whether the entry is valid at `now`: enabled and not expired. The contract speaks of enabled entries only
    /// (`extract.whitelist`); expiry is a decision of this server.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.is_enabled && !has_expired(self.expires_at, now)
    }
}

impl Entitlement {
    /// Whether the entitlement is valid at `now`, that is, not expired (`extract.entitlement`).
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        !has_expired(self.expires_at, now)
    }
}

/// Whether the expiry is reached. Tokens, entitlements and whitelist entries are no longer valid at that instant.
pub fn has_expired(expires_at: Option<Timestamp>, now: Timestamp) -> bool {
    expires_at.is_some_and(|end| end <= now)
}

/// Data that the storage read for a token. Only authorizing the token gives access to it.
#[derive(Clone, Debug)]
pub struct ProtectedData<T> {
    credential: Credential,
    value: T,
}

impl<T> ProtectedData<T> {
    /// Puts `value` behind the token that it was read for.
    pub const fn new(credential: Credential, value: T) -> Self {
        Self { credential, value }
    }

    /// Other data of the same token.
    pub(crate) const fn with<U>(&self, value: U) -> ProtectedData<U> {
        ProtectedData { credential: self.credential, value }
    }

    /// The data, for code that caches it and returns it protected.
    pub(crate) const fn value(&self) -> &T {
        &self.value
    }

    /// The account and its data, if the token may be used for `purpose`.
    pub fn authorize(self, purpose: Purpose, now: Timestamp) -> Result<(AccountId, T), Rejection> {
        self.credential.authorize(purpose, now)?;
        Ok((self.credential.account, self.value))
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;
    const NANOSECOND: SignedDuration = SignedDuration::from_nanos(1);
    const CALLER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 10);

    const BEFORE: Option<Timestamp> = Some(NOW);

    fn later() -> Option<Timestamp> {
        Some(NOW + NANOSECOND)
    }

    /// An entry for the caller's address only.
    fn entry(is_enabled: bool, expires_at: Option<Timestamp>) -> WhitelistEntry {
        WhitelistEntry { first: CALLER, last: CALLER, is_enabled, expires_at }
    }

    fn range(first: Ipv4Addr, last: Ipv4Addr) -> WhitelistEntry {
        WhitelistEntry { first, last, ..entry(true, None) }
    }

    #[test]
    fn an_entry_in_force_must_cover_the_caller() {
        let [before, after] = [9, 11].map(|last| Ipv4Addr::new(192, 0, 2, last));
        for (whitelist, is_covered) in [
            (vec![entry(true, later())], true),
            (vec![entry(true, BEFORE)], false),
            (vec![entry(false, None)], false),
            (vec![entry(false, None), entry(true, BEFORE)], false),
            (vec![entry(true, BEFORE), entry(true, None)], true),
            (vec![range(CALLER, after)], true),
            (vec![range(before, CALLER)], true),
            (vec![range(before, before)], false),
            (vec![range(after, after)], false),
            (vec![range(Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST)], true),
        ] {
            let entitlements = vec![Entitlement { protocol: Protocol::Http, expires_at: None }];
            let account = Account { is_verified: true, whitelist, entitlements };
            let expected = if is_covered { Ok(CALLER) } else { Err(Rejection::CallerNotWhitelisted) };
            assert_eq!(
                account.authorize_extraction(Some(CALLER), Protocol::Http, NOW),
                expected,
                "{account:?}"
            );
        }
    }

    #[test]
    fn conditions_are_checked_in_order() {
        let mut account = Account { is_verified: false, whitelist: Vec::new(), entitlements: Vec::new() };
        let from = |account: &Account, ip| account.authorize_extraction(ip, Protocol::Http, NOW);
        assert_eq!(from(&account, None), Err(Rejection::CallerNotIpv4));
        assert_eq!(from(&account, Some(CALLER)), Err(Rejection::CallerNotWhitelisted));
        account.whitelist.push(entry(true, None));
        assert_eq!(from(&account, Some(CALLER)), Err(Rejection::AccountNotVerified));
        account.is_verified = true;
        let not_entitled = Err(Rejection::NotEntitled(Protocol::Http));
        assert_eq!(from(&account, Some(CALLER)), not_entitled);
        for (protocol, expires_at, expected) in [
            (Protocol::Socks5, None, not_entitled),
            (Protocol::Http, BEFORE, not_entitled),
            (Protocol::Http, later(), Ok(CALLER)),
        ] {
            account.entitlements = vec![Entitlement { protocol, expires_at }];
            assert_eq!(from(&account, Some(CALLER)), expected);
        }
    }
}
