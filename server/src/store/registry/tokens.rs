//! Tokens, which are named by number because only their digests are stored.

use jiff::Timestamp;
use serde::Serialize;

use super::{Registry, RegistryError, Result, Session, accounts, rejected};
use crate::{
    domain::{
        instance::Id,
        token::{TokenDigest, TokenKind},
    },
    store::{
        StoreError,
        record_kind::RecordKind,
        value::{FromRow, Row, from_row},
    },
};

/// A token to add.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Name of the account that owns it.
    pub account: String,
    /// Digest of the token.
    pub digest: TokenDigest,
    /// Which operations accept it.
    pub kind: TokenKind,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// A token to add in place of another one, of the same account and kind.
#[derive(Clone, Debug)]
pub struct Replacement {
    /// Number of the token that it replaces.
    pub old: Id,
    /// When the old token expires, unless it does so earlier. If this is not after `created_at`, the old token is revoked.
    pub old_ends_at: Timestamp,
    /// Digest of the new token.
    pub digest: TokenDigest,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// A token without its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenEntry {
    /// Number of the token.
    pub id: Id,
    /// Name of the account that owns it.
    pub account: String,
    /// Which operations accept it.
    pub kind: TokenKind,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked; `None` if it was not.
    pub revoked_at: Option<Timestamp>,
}

from_row!(TokenEntry: id, account, kind, created_at, expires_at, revoked_at);

impl Registry {
    /// Adds a token to an account and returns its number.
    ///
    /// # Errors
    /// The account is unknown.
    pub async fn issue_token(&self, token: NewToken) -> Result<Id> {
        self.change(RecordKind::Token, move |session| insert(session, token)).await
    }

    /// One token.
    ///
    /// # Errors
    /// The token is unknown.
    pub async fn token(&self, id: Id) -> Result<TokenEntry> {
        self.read(move |session| find(session, id, "")).await
    }

    /// Adds a token in place of another one. Returns its number, and the old token as it is then.
    ///
    /// # Errors
    /// The old token is unknown, revoked or expired.
    pub async fn replace_token(&self, new: Replacement) -> Result<(Id, TokenEntry)> {
        self.change(RecordKind::Token, move |session| {
            let Replacement { old, old_ends_at, digest, created_at, expires_at } = new;
            let lock = session.row_lock();
            let mut old = find(session, old, lock)?;
            let over = match (old.revoked_at, old.expires_at) {
                (Some(at), _) => Some(format!("was revoked {at}")),
                (None, Some(at)) if at <= created_at => Some(format!("expired {at}")),
                _ => None,
            };
            if let Some(over) = over {
                return rejected(format!(
                    "token {} {over}; issue a new one with `server token issue`",
                    old.id.get()
                ));
            }
            if old_ends_at <= created_at {
                old.revoked_at = Some(created_at);
            } else {
                old.expires_at = Some(old.expires_at.map_or(old_ends_at, |end| end.min(old_ends_at)));
            }
            session.execute(
                "UPDATE tokens SET expires_at = $1, revoked_at = $2 WHERE id = $3",
                &[old.expires_at.into(), old.revoked_at.into(), old.id.into()],
            )?;
            let (account, kind) = (old.account.clone(), old.kind);
            let id = insert(session, NewToken { account, digest, kind, created_at, expires_at })?;
            Ok((id, old))
        })
        .await
    }

    /// Revokes tokens, all or none of them. One that is already revoked keeps its time of revocation.
    ///
    /// # Errors
    /// One of the tokens is unknown.
    pub async fn revoke_tokens(&self, ids: Vec<Id>, now: Timestamp) -> Result<()> {
        self.change(RecordKind::Token, move |session| {
            for id in ids {
                let changed = session.execute(
                    "UPDATE tokens SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2",
                    &[now.into(), id.into()],
                )?;
                if changed == 0 {
                    return Err(unknown(id));
                }
            }
            Ok(())
        })
        .await
    }
}

/// A token, locked with the suffix [`Session::row_lock`].
fn find(session: &mut dyn Session, id: Id, lock: &str) -> Result<TokenEntry> {
    if !lock.is_empty() {
        session.first::<Id>(&format!("SELECT id FROM tokens WHERE id = $1 {lock}"), &[id.into()])?;
    }
    let found = session.first(
        "SELECT t.id, a.name, t.kind, t.created_at, t.expires_at, t.revoked_at
         FROM tokens AS t JOIN accounts AS a ON a.id = t.account_id WHERE t.id = $1",
        &[id.into()],
    )?;
    found.ok_or_else(|| unknown(id))
}

fn insert(session: &mut dyn Session, token: NewToken) -> Result<Id> {
    let NewToken { account, digest, kind, created_at, expires_at } = token;
    let account = accounts::find(session, &account)?;
    let id = session.first(
        "INSERT INTO tokens (account_id, kind, sha256, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
         RETURNING id",
        &[account.into(), kind.into(), digest.into(), created_at.into(), expires_at.into()],
    )?;
    id.ok_or_else(|| StoreError::Internal("the database assigned no number".to_owned()).into())
}

fn unknown(id: Id) -> RegistryError {
    RegistryError::Unknown(format!("unknown token {}; `server list token` shows all", id.get()))
}
