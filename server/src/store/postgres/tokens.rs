//! Tokens, as their administrator sees them.

use deadpool_postgres::Client;
use jiff::Timestamp;

use super::codec::{get, storable, time};
use crate::{
    domain::instance::Id,
    store::{NewToken, StoreError, TokenEntry, packed::StoredTime},
};

pub(super) async fn issue(client: &Client, token: &NewToken) -> Result<Id, StoreError> {
    let NewToken { account, digest, kind, created_at, expires_at } = token;
    let row = client
        .query_opt(
            "INSERT INTO tokens (sha256, account_id, kind, created_at, expires_at)
             SELECT $1, id, $2, $3, $4 FROM accounts WHERE name = $5 RETURNING id",
            &[digest, kind, &StoredTime(*created_at), &expires_at.map(StoredTime), &storable(account)],
        )
        .await?;
    match row {
        Some(row) => get(&row, 0),
        None => Err(StoreError::Conflict { reason: format!("there is no account named {account:?}") }),
    }
}

pub(super) async fn revoke(client: &Client, id: Id, now: Timestamp) -> Result<bool, StoreError> {
    let changed = client
        .execute(
            "UPDATE tokens SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1",
            &[&id, &StoredTime(now)],
        )
        .await?;
    Ok(changed == 1)
}

pub(super) async fn list(client: &Client) -> Result<Vec<TokenEntry>, StoreError> {
    let rows = client
        .query(
            "SELECT t.id, a.name, t.kind, t.created_at, t.expires_at, t.revoked_at
             FROM tokens AS t JOIN accounts AS a ON a.id = t.account_id ORDER BY t.id",
            &[],
        )
        .await?;
    rows.iter()
        .map(|row| {
            Ok(TokenEntry {
                id: get(row, 0)?,
                account: get(row, 1)?,
                kind: get(row, 2)?,
                created_at: get::<StoredTime>(row, 3)?.0,
                expires_at: time(row, 4)?,
                revoked_at: time(row, 5)?,
            })
        })
        .collect()
}
