//! Issuing tokens. A token is shown once, when it is issued; the store keeps its digest.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::{
    domain::{
        instance::Id,
        token::{Token, TokenKind},
    },
    store::registry::{NewToken, Registry, RegistryError, Replacement, TokenEntry},
};

/// Issues a token for the account of that name. Returns its number and the token itself.
///
/// # Errors
/// The account is unknown, or the storage fails.
pub async fn issue(
    registry: &Registry,
    account: &str,
    kind: TokenKind,
    expires_at: Option<Timestamp>,
) -> Result<(Id, Token), RegistryError> {
    let token = Token::generate(kind);
    let created_at = Timestamp::now();
    let new = NewToken { account: account.to_owned(), digest: token.digest(), kind, created_at, expires_at };
    Ok((registry.issue_token(new).await?, token))
}

/// The result of [`rotate`].
#[derive(Debug)]
pub struct TokenRotation {
    /// Number of the new token.
    pub id: Id,
    /// The new token itself.
    pub token: Token,
    /// Expiry of the new token; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// The old token as it is now.
    pub old: TokenEntry,
}

/// Expiry of a new token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Never, if the old token does not expire either; an error if it does.
    AsBefore,
    /// Never.
    Never,
    /// At this time.
    At(Timestamp),
}

/// Issues a token of the same account and kind as another. The old one expires after `overlap`, unless it does so before;
/// with an `overlap` of zero it is revoked at once.
///
/// # Errors
/// The old token is unknown, revoked or expired; the overlap ends after the year 9999; or the old token expires and `end`
/// does not say when the new one does.
pub async fn rotate(
    registry: &Registry,
    old: Id,
    overlap: Duration,
    end: End,
) -> Result<TokenRotation, RegistryError> {
    let entry = registry.token(old).await?;
    let created_at = Timestamp::now();
    let overlap = SignedDuration::try_from(overlap).unwrap_or(SignedDuration::MAX);
    let old_ends_at = created_at.checked_add(overlap).map_err(|_| {
        RegistryError::Rejected(
            "the old token would end after the year 9999; take a shorter overlap".to_owned(),
        )
    })?;
    let expires_at = match (end, entry.expires_at) {
        (End::At(end), _) => Some(end),
        (End::AsBefore, Some(before)) if before > created_at && entry.revoked_at.is_none() => {
            return Err(RegistryError::Rejected(format!(
                "token {} expires {before}; set the expiry of the new one with --expires TIME or --expires never",
                old.get()
            )));
        }
        // An expired token is rejected below.
        (End::Never | End::AsBefore, _) => None,
    };
    let token = Token::generate(entry.kind);
    let new = Replacement { old, old_ends_at, digest: token.digest(), created_at, expires_at };
    let (id, old) = registry.replace_token(new).await?;
    Ok(TokenRotation { id, token, expires_at, old })
}
