//! Tokens. One is shown once, when it is issued. The store keeps its digest, so tokens are named by number.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{Registry, RegistryError, Result, Session, accounts, rejected};
use crate::{
    domain::{
        instance::Id,
        token::{Token, TokenKind},
    },
    store::{
        StoreError,
        record_kind::RecordKind,
        value::{FromRow, Row, from_row},
    },
};

/// A new token.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    /// Number of the token.
    pub id: Id,
    /// The token itself.
    pub token: Token,
    /// Name of the account that owns it.
    pub account: String,
    /// Which operations accept it.
    pub kind: TokenKind,
    /// When it expires; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// The token that it replaces, as that is now.
    pub old: Option<TokenEntry>,
}

/// A token without its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of the record, and the number")]
pub struct TokenEntry {
    pub id: Id,
    pub account: String,
    pub kind: TokenKind,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

from_row!(TokenEntry: id, account, kind, created_at, expires_at, revoked_at);

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

impl Registry {
    /// Issues a token for the account of that name.
    ///
    /// # Errors
    /// The account is unknown.
    pub async fn issue_token(
        &self,
        account: &str,
        kind: TokenKind,
        expires_at: Option<Timestamp>,
    ) -> Result<IssuedToken> {
        let account = account.to_owned();
        self.change(RecordKind::Token, move |session| {
            insert(session, account, kind, Timestamp::now(), expires_at)
        })
        .await
    }

    /// Issues a token of the same account and kind as another. The old one expires after `overlap`, unless it does so before; with an
    /// `overlap` of zero it is revoked at once.
    ///
    /// # Errors
    /// The old token is unknown, revoked or expired; the overlap ends after the year 9999; or the old token expires and `end` does
    /// not say when the new one does.
    pub async fn rotate_token(&self, old: Id, overlap: Duration, end: End) -> Result<IssuedToken> {
        self.change(RecordKind::Token, move |session| {
            let now = Timestamp::now();
            let mut old = find_locked(session, old)?;
            let number = old.id.get();
            match (old.revoked_at, old.expires_at) {
                (Some(at), _) => return over(number, &format!("was revoked {at}")),
                (None, Some(at)) if at <= now => return over(number, &format!("expired {at}")),
                _ => {}
            }
            let expires_at = match (end, old.expires_at) {
                (End::At(end), _) => Some(end),
                (End::AsBefore, Some(before)) => {
                    return rejected(format!(
                        "token {number} expires {before}; set the expiry of the new one with --expires TIME or --expires \
                         never"
                    ));
                }
                (End::Never | End::AsBefore, _) => None,
            };
            let overlap = SignedDuration::try_from(overlap).unwrap_or(SignedDuration::MAX);
            let Ok(ends_at) = now.checked_add(overlap) else {
                return rejected("the old token would end after the year 9999; take a shorter overlap");
            };
            if ends_at == now {
                old.revoked_at = Some(now);
            } else {
                old.expires_at = Some(old.expires_at.map_or(ends_at, |end| end.min(ends_at)));
            }
            session.execute(
                "UPDATE tokens SET expires_at = $1, revoked_at = $2 WHERE id = $3",
                &[old.expires_at.into(), old.revoked_at.into(), old.id.into()],
            )?;
            let new = insert(session, old.account.clone(), old.kind, now, expires_at)?;
            Ok(IssuedToken { old: Some(old), ..new })
        })
        .await
    }

    /// Revokes tokens, all or none of them. One that is already revoked keeps its time of revocation.
    ///
    /// # Errors
    /// One of the tokens is unknown.
    pub async fn revoke_tokens(&self, ids: Vec<Id>, now: Timestamp) -> Result<()> {
        self.change(RecordKind::Token, move |session| {
            let revoke = "UPDATE tokens SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2";
            ids.into_iter().try_for_each(|id| match session.execute(revoke, &[now.into(), id.into()])? {
                0 => Err(unknown(id)),
                _ => Ok(()),
            })
        })
        .await
    }
}

fn over<T>(number: i64, why: &str) -> Result<T> {
    rejected(format!("token {number} {why}; issue a new one with `server token issue`"))
}

/// A token that no other transaction changes before this one ends.
fn find_locked(session: &mut dyn Session, id: Id) -> Result<TokenEntry> {
    let lock = session.row_lock();
    session.first::<Id>(&format!("SELECT id FROM tokens WHERE id = $1 {lock}"), &[id.into()])?;
    let found = session.first(
        "SELECT t.id, a.name, t.kind, t.created_at, t.expires_at, t.revoked_at
         FROM tokens AS t JOIN accounts AS a ON a.id = t.account_id WHERE t.id = $1",
        &[id.into()],
    )?;
    found.ok_or_else(|| unknown(id))
}

fn insert(
    session: &mut dyn Session,
    account: String,
    kind: TokenKind,
    now: Timestamp,
    expires_at: Option<Timestamp>,
) -> Result<IssuedToken> {
    let owner = accounts::find(session, &account)?;
    let token = Token::generate(kind);
    let id = session.first(
        "INSERT INTO tokens (account_id, kind, sha256, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
         RETURNING id",
        &[owner.into(), kind.into(), token.digest().into(), now.into(), expires_at.into()],
    )?;
    let id = id.ok_or_else(|| StoreError::Internal("the database assigned no number".to_owned()))?;
    Ok(IssuedToken { id, token, account, kind, expires_at, old: None })
}

fn unknown(id: Id) -> RegistryError {
    RegistryError::Unknown(format!("unknown token {}; `server list token` shows all", id.get()))
}
