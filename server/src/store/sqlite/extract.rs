//! What bears on an extraction, and extractions kept under a request id.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::{
    domain::{
        access::{AccountId, Credential, Guarded},
        extraction::{Endpoint, ExtractionFacts, ExtractionQuery, Parameters, Region, StoredExtraction},
        token::TokenDigest,
    },
    store::{
        StoreError,
        packed::{Json, StoredIp, StoredTime},
    },
};

pub(super) fn facts(
    snapshot: &Connection,
    query: &ExtractionQuery,
) -> Result<Option<Guarded<ExtractionFacts>>, StoreError> {
    let Some(credential) = credential(snapshot, query.digest)? else { return Ok(None) };
    let account = credential.account;
    let earlier = match &query.request_id {
        Some(request_id) => stored(snapshot, account, request_id)?,
        None => None,
    };
    let (verified, whitelisted, entitled) = snapshot
        .prepare_cached(
            "SELECT real_name_verified,
                    EXISTS (SELECT 1 FROM whitelist
                            WHERE account_id = :account AND first <= :caller AND last >= :caller
                              AND enabled AND (expires_at IS NULL OR expires_at > :now)),
                    EXISTS (SELECT 1 FROM entitlements
                            WHERE account_id = :account AND protocol = :protocol
                              AND (expires_at IS NULL OR expires_at > :now))
             FROM accounts WHERE id = :account",
        )?
        .query_row(
            named_params! {
                ":account": account.0,
                ":caller": query.caller_ip.map(|ip| StoredIp(ip.into())),
                ":protocol": query.parameters.protocol,
                ":now": StoredTime(query.now),
            },
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
    let candidates = candidates(snapshot, &query.parameters, query.pivot)?;
    let facts = ExtractionFacts { whitelisted, verified, entitled, earlier, candidates };
    Ok(Some(Guarded::new(credential, facts)))
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

/// The gateways that follow `pivot` on the ring, then those before it.
fn candidates(
    snapshot: &Connection,
    parameters: &Parameters,
    pivot: i64,
) -> Result<Vec<Endpoint>, StoreError> {
    let Parameters { count, region, protocol } = parameters;
    let mut found = Vec::new();
    for half in [RING_AFTER, RING_BEFORE] {
        let missing = (*count as usize).saturating_sub(found.len());
        if missing == 0 {
            break;
        }
        let gateways = match region {
            Region::Everywhere => format!("{EVERYWHERE} {half}"),
            Region::Only(_) => format!("{IN_REGION} {half}"),
        };
        let region = match region {
            Region::Everywhere => None,
            Region::Only(code) => Some(code),
        };
        let mut gateways = snapshot.prepare_cached(&gateways)?;
        let rows = gateways.query_map((protocol, region, pivot, missing), |row| {
            Ok(Endpoint { host: row.get(0)?, port: row.get(1)? })
        })?;
        for endpoint in rows {
            found.push(endpoint?);
        }
    }
    Ok(found)
}

// Each is one walk along an index, in order, that stops at the limit.
const EVERYWHERE: &str =
    "SELECT host, port FROM gateways INDEXED BY gateways_everywhere WHERE protocol = ?1 AND ?2 IS NULL";
const IN_REGION: &str =
    "SELECT host, port FROM gateways INDEXED BY gateways_by_region WHERE protocol = ?1 AND region = ?2";
const RING_AFTER: &str = "AND spin >= ?3 ORDER BY spin LIMIT ?4";
const RING_BEFORE: &str = "AND spin < ?3 ORDER BY spin LIMIT ?4";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::schema;

    #[test]
    fn the_choice_of_gateways_walks_an_index() {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        for gateways in [EVERYWHERE, IN_REGION] {
            for half in [RING_AFTER, RING_BEFORE] {
                let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {gateways} {half}")).unwrap();
                let steps: Vec<String> =
                    explain.raw_query().mapped(|row| row.get("detail")).collect::<Result<_, _>>().unwrap();
                assert_eq!(steps.len(), 1, "one walk, without sorting: {steps:?}");
                assert!(steps[0].starts_with("SEARCH gateways USING COVERING INDEX"), "{steps:?}");
                assert!(steps[0].contains("spin"), "{steps:?}");
            }
        }
    }
}
