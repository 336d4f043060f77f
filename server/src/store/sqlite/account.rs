//! Reading what is known of the account that a token belongs to.

use rusqlite::Connection;

use super::extract::{credential, time};
use crate::{
    domain::token::TokenDigest,
    store::{
        StoreError,
        held::{Account, Entry},
        packed::StoredIp,
    },
};

/// Reads the account; `None` when no such token is known.
pub(super) fn read(snapshot: &Connection, digest: TokenDigest) -> Result<Option<Account>, StoreError> {
    let Some(credential) = credential(snapshot, digest)? else { return Ok(None) };
    let account = credential.account.0;
    let verified = snapshot
        .prepare_cached("SELECT real_name_verified FROM accounts WHERE id = ?1")?
        .query_row([account], |row| row.get(0))?;
    let mut whitelist = Vec::new();
    let mut select = snapshot
        .prepare_cached("SELECT first, last, expires_at FROM whitelist WHERE account_id = ?1 AND enabled")?;
    let mut rows = select.query([account])?;
    while let Some(row) = rows.next()? {
        let (first, last): (StoredIp, StoredIp) = (row.get(0)?, row.get(1)?);
        whitelist.push(Entry { first: first.v4()?, last: last.v4()?, end: time(row, 2)? });
    }
    let entitlements = snapshot
        .prepare_cached("SELECT protocol, expires_at FROM entitlements WHERE account_id = ?1")?
        .query_map([account], |row| Ok((row.get(0)?, time(row, 1)?)))?
        .collect::<Result<_, _>>()?;
    Ok(Some(Account { credential, verified, whitelist, entitlements }))
}
