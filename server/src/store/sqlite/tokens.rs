//! Tokens, as their administrator sees them.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::extract::time;
use crate::{
    domain::instance::Id,
    store::{NewToken, StoreError, TokenEntry, packed::StoredTime},
};

pub(super) fn issue(db: &Connection, token: &NewToken) -> Result<Id, StoreError> {
    let NewToken { account, digest, kind, created_at, expires_at } = token;
    db.prepare_cached(
        "INSERT INTO tokens (sha256, account_id, kind, created_at, expires_at)
         SELECT ?1, id, ?2, ?3, ?4 FROM accounts WHERE name = ?5 RETURNING id",
    )?
    .query_row((digest, kind, StoredTime(*created_at), expires_at.map(StoredTime), account), |row| row.get(0))
    .optional()?
    .ok_or_else(|| StoreError::Conflict { reason: format!("there is no account named {account:?}") })
}

pub(super) fn revoke(db: &Connection, id: Id, now: Timestamp) -> Result<bool, StoreError> {
    let changed = db
        .prepare_cached("UPDATE tokens SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1")?
        .execute((id, StoredTime(now)))?;
    Ok(changed == 1)
}

pub(super) fn list(snapshot: &Transaction<'_>) -> Result<Vec<TokenEntry>, StoreError> {
    let entries = snapshot
        .prepare_cached(
            "SELECT t.id, a.name, t.kind, t.created_at, t.expires_at, t.revoked_at
             FROM tokens AS t JOIN accounts AS a ON a.id = t.account_id ORDER BY t.id",
        )?
        .query_map([], |row| {
            let StoredTime(created_at) = row.get(3)?;
            Ok(TokenEntry {
                id: row.get(0)?,
                account: row.get(1)?,
                kind: row.get(2)?,
                created_at,
                expires_at: time(row, 4)?,
                revoked_at: time(row, 5)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(entries)
}
