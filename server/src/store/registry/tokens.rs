//! Tokens. One is shown once, when it is issued. The store keeps its digest, so tokens are named by number.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{RegistryError, Result, Session, Store, accounts, list::Condition, put, rejected};
use crate::{
    domain::{
        instance::Id,
        token::{Token, TokenKind},
    },
    store::{StoreError, record_kind::RecordKind},
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
    /// In words which token it replaces, and what becomes of that.
    pub replaces: Option<String>,
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

impl Store {
    /// Issues a token for the account of that name.
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
            let number = old.get();
            let token = put::find(session, RecordKind::Token, &key(old))?.ok_or_else(|| unknown(old))?;
            let ends: Option<Timestamp> = token.get("expiresAt")?;
            match (token.get::<Option<Timestamp>>("revokedAt")?, ends) {
                (Some(at), _) => return over(number, &format!("was revoked {at}")),
                (None, Some(at)) if at <= now => return over(number, &format!("expired {at}")),
                _ => {}
            }
            let expires_at = match (end, ends) {
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
            let (ends, revoked) = if ends_at == now {
                (ends, Some(now))
            } else {
                (Some(ends.map_or(ends_at, |end| end.min(ends_at))), None)
            };
            session.execute(
                "UPDATE tokens SET expires_at = $1, revoked_at = $2 WHERE id = $3",
                &[ends.into(), revoked.into(), number.into()],
            )?;
            let new = insert(session, token.get("account")?, token.get("kind")?, now, expires_at)?;
            let end = match (revoked, ends) {
                (None, Some(end)) => format!("valid until {end}"),
                _ => "revoked".to_owned(),
            };
            Ok(IssuedToken { replaces: Some(format!("replaces token {number}, which is {end}")), ..new })
        })
        .await
    }

    /// Revokes tokens, all or none of them. Returns those that were revoked already, which keep their time of revocation.
    pub async fn revoke_tokens(&self, ids: Vec<Id>, now: Timestamp) -> Result<Vec<Id>> {
        self.change(RecordKind::Token, move |session| {
            let mut earlier = Vec::new();
            for id in ids {
                let token = put::find(session, RecordKind::Token, &key(id))?.ok_or_else(|| unknown(id))?;
                match token.get::<Option<Timestamp>>("revokedAt")? {
                    Some(_) => earlier.push(id),
                    None => drop(session.execute(
                        "UPDATE tokens SET revoked_at = $1 WHERE id = $2",
                        &[now.into(), id.into()],
                    )?),
                }
            }
            Ok(earlier)
        })
        .await
    }
}

/// The condition that only the token of this number meets.
fn key(id: Id) -> Vec<Condition> {
    Condition::stored(RecordKind::Token, "id", id.into()).into_iter().collect()
}

fn over<T>(number: i64, why: &str) -> Result<T> {
    rejected(format!("token {number} {why}; issue a new one with `server token issue`"))
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
    Ok(IssuedToken { id, token, account, replaces: None })
}

fn unknown(id: Id) -> RegistryError {
    RegistryError::Unknown(format!("unknown token {}; `server list token` shows all", id.get()))
}
