//! What bears on an extraction, and extractions kept under a request id.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use super::{account, gateways};
use crate::{
    domain::{
        access::{AccountId, Credential, Guarded},
        extraction::{ExtractionFacts, ExtractionQuery, StoredExtraction},
        token::TokenDigest,
    },
    store::{
        FORGOTTEN_AT_ONCE, StoreError,
        packed::{Json, StoredTime},
    },
};

pub(super) fn facts(
    snapshot: &Connection,
    query: &ExtractionQuery,
) -> Result<Option<Guarded<ExtractionFacts>>, StoreError> {
    let Some(account) = account::read(snapshot, query.digest)? else { return Ok(None) };
    let earlier = match &query.request_id {
        Some(request_id) => stored(snapshot, account.id(), request_id)?,
        None => None,
    };
    let candidates = gateways::choose(snapshot, &query.parameters, query.pivot)?;
    Ok(Some(account.facts(query, earlier, candidates)))
}

pub(super) fn remember(
    db: &Connection,
    account: AccountId,
    request_id: &str,
    extraction: &StoredExtraction,
    now: Timestamp,
) -> Result<StoredExtraction, StoreError> {
    let StoredExtraction { parameters, endpoints } = extraction;
    db.prepare_cached(
        "INSERT INTO extractions (account_id, request_id, parameters, endpoints, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
    )?
    .execute((account.0, request_id, Json(parameters), Json(endpoints), StoredTime(now)))?;
    stored(db, account, request_id)?.ok_or_else(|| StoreError::Internal {
        reason: "an extraction was not there right after it was stored".to_owned(),
    })
}

pub(super) fn forget(db: &Connection, end: Timestamp) -> Result<u64, StoreError> {
    let forgotten = db
        .prepare_cached(
            "DELETE FROM extractions WHERE (account_id, request_id) IN
                (SELECT account_id, request_id FROM extractions INDEXED BY extractions_by_age
                 WHERE created_at < ?1 ORDER BY created_at LIMIT ?2)",
        )?
        .execute((StoredTime(end), FORGOTTEN_AT_ONCE))?;
    Ok(forgotten as u64)
}

/// What is known of a token.
pub(super) fn credential(
    snapshot: &Connection,
    digest: TokenDigest,
) -> Result<Option<Credential>, StoreError> {
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

/// A time that may be missing.
pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<StoredTime>>(column)?.map(|time| time.0))
}

fn stored(
    db: &Connection,
    account: AccountId,
    request_id: &str,
) -> Result<Option<StoredExtraction>, StoreError> {
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
