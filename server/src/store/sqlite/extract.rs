//! The data of extractions, and extractions stored under a request id.

use std::{net::Ipv4Addr, sync::Arc};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, Transaction};

use super::{gateways, revision::Revision};
use crate::{
    domain::{
        access::{Account, AccountId, Credential, Entitlement, ProtectedData, WhitelistEntry},
        extraction::{ExtractionData, ExtractionQuery, StoredExtraction},
        ports::Found,
        token::TokenDigest,
    },
    store::{
        Result, StoreError,
        cache::Cache,
        packed::{Json, StoredIp, StoredTime},
        upkeep::MAX_DELETED_AT_ONCE,
    },
};

/// Maximum number of whitelist entries of a cached account. For an account with more, the entries that cover the caller are read on
/// each call.
const MAX_CACHED_ENTRIES: usize = 1 << 16;

/// Reads the data of an extraction. Without a request id, account and gateways are cached.
pub(super) fn data(
    snapshot: &Connection,
    query: &ExtractionQuery,
    cache: &Cache<Revision>,
) -> Found<ExtractionData, StoreError> {
    let Some(credential) = credential(snapshot, query.digest)? else { return Ok(None) };
    let id = credential.account;
    let (account, stored) = match &query.request_id {
        Some(request_id) => {
            let whitelist = covering_entries(snapshot, id, query.caller_ip)?;
            (account(snapshot, id, whitelist)?, stored(snapshot, id, request_id)?)
        }
        None => {
            let read_at = Revision::read(snapshot)?;
            if !cache.has_gateways(&query.parameters, read_at) {
                let gateways = gateways::all(snapshot, &query.parameters)?;
                // Empty regions are not cached, because callers can invent any number of them.
                if gateways.as_ref().is_none_or(|gateways| gateways.len() > 0) {
                    cache.insert_gateways(&query.parameters, gateways, read_at);
                }
            }
            (cacheable_account(snapshot, query, credential, cache, read_at)?, None)
        }
    };
    let candidates = gateways::choose(snapshot, &query.parameters, query.pivot)?;
    Ok(Some(ProtectedData::new(credential, ExtractionData { account, stored, candidates })))
}

/// The account with its whole whitelist, which is cached, or with the entries that cover the caller if there are too many.
fn cacheable_account(
    snapshot: &Connection,
    query: &ExtractionQuery,
    credential: Credential,
    cache: &Cache<Revision>,
    read_at: Revision,
) -> Result<Arc<Account>> {
    let id = credential.account;
    if !cache.is_account_too_large(query.digest, read_at) {
        let whitelist = all_entries(snapshot, id)?;
        if whitelist.len() <= MAX_CACHED_ENTRIES {
            let account = account(snapshot, id, whitelist)?;
            cache.insert_account(
                query.digest,
                Some(ProtectedData::new(credential, Arc::clone(&account))),
                read_at,
            );
            return Ok(account);
        }
        cache.insert_account(query.digest, None, read_at);
    }
    account(snapshot, id, covering_entries(snapshot, id, query.caller_ip)?)
}

fn account(snapshot: &Connection, id: AccountId, whitelist: Vec<WhitelistEntry>) -> Result<Arc<Account>> {
    let is_verified = snapshot
        .prepare_cached("SELECT real_name_verified FROM accounts WHERE id = ?1")?
        .query_row([id.0], |row| row.get(0))?;
    let entitlements = snapshot
        .prepare_cached("SELECT protocol, expires_at FROM entitlements WHERE account_id = ?1")?
        .query_map([id.0], |row| Ok(Entitlement { protocol: row.get(0)?, expires_at: time(row, 1)? }))?
        .collect::<Result<_, _>>()?;
    Ok(Arc::new(Account { is_verified, whitelist, entitlements }))
}

const ALL_ENTRIES: &str =
    "SELECT first, last, enabled, expires_at FROM whitelist WHERE account_id = ?1 LIMIT ?2";

const COVERING_ENTRIES: &str = "SELECT first, last, enabled, expires_at FROM whitelist
     WHERE account_id = ?1 AND first <= ?2 AND last >= ?2";

/// All whitelist entries of an account, or one more than are cached.
fn all_entries(snapshot: &Connection, account: AccountId) -> Result<Vec<WhitelistEntry>> {
    entries(snapshot, ALL_ENTRIES, [&account.0, &(MAX_CACHED_ENTRIES + 1)])
}

/// The whitelist entries that cover the caller, disabled and expired ones included.
fn covering_entries(
    snapshot: &Connection,
    account: AccountId,
    caller_ip: Option<Ipv4Addr>,
) -> Result<Vec<WhitelistEntry>> {
    entries(snapshot, COVERING_ENTRIES, [&account.0, &caller_ip.map(|ip| StoredIp(ip.into()))])
}

fn entries(snapshot: &Connection, sql: &str, values: [&dyn ToSql; 2]) -> Result<Vec<WhitelistEntry>> {
    let mut select = snapshot.prepare_cached(sql)?;
    let mut rows = select.query(values)?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let (first, last): (StoredIp, StoredIp) = (row.get(0)?, row.get(1)?);
        entries.push(WhitelistEntry {
            first: first.v4()?,
            last: last.v4()?,
            is_enabled: row.get(2)?,
            expires_at: time(row, 3)?,
        });
    }
    Ok(entries)
}

/// Stores an extraction, unless one exists under this request id, and returns the stored one.
pub(super) fn store(
    db: &Connection,
    account: AccountId,
    request_id: &str,
    extraction: &StoredExtraction,
    now: Timestamp,
) -> Result<StoredExtraction> {
    let StoredExtraction { parameters, endpoints } = extraction;
    db.prepare_cached(
        "INSERT INTO extractions (account_id, request_id, parameters, endpoints, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
    )?
    .execute((account.0, request_id, Json(parameters), Json(endpoints), StoredTime(now)))?;
    stored(db, account, request_id)?
        .ok_or_else(|| StoreError::Internal("an extraction is missing right after it was stored".to_owned()))
}

pub(super) fn newest(snapshot: &Transaction<'_>) -> Result<Option<Timestamp>> {
    let newest =
        "SELECT created_at FROM extractions INDEXED BY extractions_by_age ORDER BY created_at DESC LIMIT 1";
    Ok(snapshot.prepare_cached(newest)?.query_row([], |row| time(row, 0)).optional()?.flatten())
}

pub(super) fn delete_before(db: &Connection, end: Timestamp) -> Result<u64> {
    let deleted = db
        .prepare_cached(
            "DELETE FROM extractions WHERE (account_id, request_id) IN
                (SELECT account_id, request_id FROM extractions INDEXED BY extractions_by_age
                 WHERE created_at < ?1 ORDER BY created_at LIMIT ?2)",
        )?
        .execute((StoredTime(end), MAX_DELETED_AT_ONCE))?;
    Ok(deleted as u64)
}

/// The stored token; `None` when it is unknown.
pub(super) fn credential(snapshot: &Connection, digest: TokenDigest) -> Result<Option<Credential>> {
    let credential = snapshot
        .prepare_cached("SELECT account_id, kind, expires_at, revoked_at FROM tokens WHERE sha256 = ?1")?
        .query_row([digest], |row| {
            Ok(Credential {
                account: AccountId(row.get(0)?),
                kind: row.get(1)?,
                expires_at: time(row, 2)?,
                revoked_at: time(row, 3)?,
            })
        })
        .optional()?;
    Ok(credential)
}

/// A time that may be null.
pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<StoredTime>>(column)?.map(|time| time.0))
}

fn stored(db: &Connection, account: AccountId, request_id: &str) -> Result<Option<StoredExtraction>> {
    let stored = db
        .prepare_cached(
            "SELECT parameters, endpoints FROM extractions WHERE account_id = ?1 AND request_id = ?2",
        )?
        .query_row((account.0, request_id), |row| {
            let (Json(parameters), Json(endpoints)) = (row.get(0)?, row.get(1)?);
            Ok(StoredExtraction { parameters, endpoints })
        })
        .optional()?;
    Ok(stored)
}
