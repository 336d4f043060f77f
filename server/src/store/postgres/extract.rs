//! The data of extractions, and extractions stored under a request id.

use std::{collections::BTreeMap, net::Ipv4Addr, sync::Arc, sync::LazyLock};

use deadpool_postgres::Client;
use jiff::Timestamp;

use super::{
    codec::{get, number, port, storable, time},
    credential,
    demand::MAX_CACHED_GATEWAYS,
    owners::Owner,
};
use crate::{
    domain::{
        access::{Account, AccountId, Entitlement, ProtectedData, WhitelistEntry},
        extraction::{Endpoint, ExtractionData, ExtractionQuery, Parameters, Region, StoredExtraction},
        protocol::Protocol,
    },
    store::{
        Result, StoreError, Supply,
        cache::Gateways,
        packed::{Json, StoredIp, StoredTime},
        upkeep::MAX_DELETED_AT_ONCE,
    },
};

/// Maximum number of whitelist entries of a cached account, because each query returns all of them. For an account with more, the
/// entries that cover the caller are read on each call.
const MAX_CACHED_ENTRIES: usize = 256;

const EXTRACT: &str = include_str!("extract.sql");
// For all regions the parameter is NULL; it stays in the statement, so that both take the same parameters.
static EVERYWHERE: LazyLock<String> = LazyLock::new(|| EXTRACT.replace("REGION", "$6::text IS NULL"));
static IN_REGION: LazyLock<String> = LazyLock::new(|| EXTRACT.replace("REGION", "region = $6"));

const GATEWAYS: &str = include_str!("gateways.sql");
static GATEWAYS_EVERYWHERE: LazyLock<String> =
    LazyLock::new(|| GATEWAYS.replace("REGION", "$2::text IS NULL"));
static GATEWAYS_IN_REGION: LazyLock<String> = LazyLock::new(|| GATEWAYS.replace("REGION", "region = $2"));

pub(super) struct ExtractionRead {
    pub(super) data: ProtectedData<ExtractionData>,
    /// Whether the account has its whole whitelist.
    pub(super) is_whole: bool,
}

/// Reads the data of an extraction, with the whole whitelist if `whole` is set and it is not too long, or else with the entries
/// that cover the caller.
pub(super) async fn data(
    client: &Client,
    owner: Owner,
    query: &ExtractionQuery,
    whole: bool,
) -> Result<Option<ExtractionRead>> {
    let ExtractionQuery { digest, caller_ip, parameters, request_id, pivot, now: _ } = query;
    let (statement, region) = match &parameters.region {
        Region::Everywhere => (&*EVERYWHERE, None),
        Region::Only(code) => (&*IN_REGION, storable(code)),
    };
    let statement = client.prepare_cached(statement).await?;
    // One more than the maximum shows that there are too many.
    let entries = if whole { MAX_CACHED_ENTRIES as i64 + 1 } else { 0 };
    let [lowest, highest] = [Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST].map(|ip| StoredIp(ip.into()));
    let row = client
        .query_opt(
            &statement,
            &[
                digest,
                &owner.account,
                &request_id.as_deref().map(str::as_bytes),
                &caller_ip.map(|ip| StoredIp(ip.into())),
                &parameters.protocol,
                &region,
                pivot,
                &i64::from(parameters.count),
                &entries,
                &lowest,
                &highest,
            ],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let all: Vec<WhitelistEntry> = get(&row, 4)?;
    let is_whole = whole && all.len() <= MAX_CACHED_ENTRIES;
    let whitelist = if is_whole { all } else { get(&row, 5)? };
    let (protocols, ends): (Vec<String>, Vec<Option<StoredTime>>) = (get(&row, 6)?, get(&row, 7)?);
    let entitlement = |(name, end): (String, Option<StoredTime>)| {
        // A later version may know more protocols.
        let protocol = Protocol::from_name(&name)?;
        Some(Entitlement { protocol, expires_at: end.map(|end| end.0) })
    };
    let account = Arc::new(Account {
        is_verified: get(&row, 3)?,
        whitelist,
        entitlements: protocols.into_iter().zip(ends).filter_map(entitlement).collect(),
    });
    let stored = match (get(&row, 8)?, get(&row, 9)?) {
        (Some(Json(parameters)), Some(Json(endpoints))) => Some(StoredExtraction { parameters, endpoints }),
        _ => None,
    };
    let (hosts, ports): (Vec<String>, Vec<i32>) = (get(&row, 10)?, get(&row, 11)?);
    let candidates = hosts
        .into_iter()
        .zip(ports)
        .map(|(host, number)| Ok(Endpoint { host, port: port(number)? }))
        .collect::<Result<Vec<_>>>()?;
    let data = ProtectedData::new(credential(&row, owner)?, ExtractionData { account, stored, candidates });
    Ok(Some(ExtractionRead { data, is_whole }))
}

/// All gateways that match an extraction; `None` when there are too many for the cache.
pub(super) async fn gateways(client: &Client, parameters: &Parameters) -> Result<Option<Gateways>> {
    let Parameters { count: _, region, protocol } = parameters;
    let (statement, region) = match region {
        Region::Everywhere => (&*GATEWAYS_EVERYWHERE, None),
        Region::Only(code) => (&*GATEWAYS_IN_REGION, storable(code)),
    };
    let statement = client.prepare_cached(statement).await?;
    let rows = client.query(&statement, &[protocol, &region, &(MAX_CACHED_GATEWAYS as i64 + 1)]).await?;
    let gateway = |row| Ok((get(row, 0)?, Endpoint { host: get(row, 1)?, port: port(get(row, 2)?)? }));
    let gateways: Vec<_> = rows.iter().map(gateway).collect::<Result<_>>()?;
    Ok((gateways.len() <= MAX_CACHED_GATEWAYS).then_some(Gateways(gateways)))
}

/// Stores an extraction, unless one exists under this request id, and returns the stored one. The second of two concurrent calls
/// waits for the first.
pub(super) async fn store(
    client: &Client,
    account: AccountId,
    request_id: &str,
    extraction: StoredExtraction,
    now: Timestamp,
) -> Result<StoredExtraction> {
    let StoredExtraction { parameters, endpoints } = &extraction;
    let insert = client
        .prepare_cached(
            "INSERT INTO extractions (account_id, request_id, parameters, endpoints, created_at)
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        )
        .await?;
    let request_id = request_id.as_bytes();
    let inserted = client
        .execute(&insert, &[&account.0, &request_id, &Json(parameters), &Json(endpoints), &StoredTime(now)])
        .await?;
    if inserted == 1 {
        return Ok(extraction);
    }
    let select = client
        .prepare_cached(
            "SELECT parameters, endpoints FROM extractions WHERE account_id = $1 AND request_id = $2",
        )
        .await?;
    let row = client.query_opt(&select, &[&account.0, &request_id]).await?.ok_or_else(|| {
        // Only a server whose clock is far ahead could have deleted it already.
        StoreError::Busy("an extraction was deleted while it was read".to_owned())
    })?;
    let (Json(parameters), Json(endpoints)) = (get(&row, 0)?, get(&row, 1)?);
    Ok(StoredExtraction { parameters, endpoints })
}

pub(super) async fn supply(client: &Client) -> Result<Vec<Supply>> {
    let statement = client
        .prepare_cached(
            "SELECT protocol, region, count(*) FROM gateways GROUP BY protocol, region ORDER BY 1, 2",
        )
        .await?;
    let rows = client.query(&statement, &[]).await?;
    rows.iter()
        .map(|row| Ok(Supply { protocol: get(row, 0)?, region: get(row, 1)?, gateways: number(row, 2)? }))
        .collect()
}

pub(super) async fn newest(client: &Client) -> Result<Option<Timestamp>> {
    let statement =
        client.prepare_cached("SELECT created_at FROM extractions ORDER BY created_at DESC LIMIT 1").await?;
    let row = client.query_opt(&statement, &[]).await?;
    Ok(row.map(|row| time(&row, 0)).transpose()?.flatten())
}

/// Statements that change extractions name the account, by which a cluster finds the right node.
pub(super) async fn delete_before(client: &Client, end: Timestamp) -> Result<u64> {
    let select = client
        .prepare_cached(
            "SELECT account_id, request_id FROM extractions WHERE created_at < $1 ORDER BY created_at LIMIT $2",
        )
        .await?;
    let rows = client.query(&select, &[&StoredTime(end), &i64::from(MAX_DELETED_AT_ONCE)]).await?;
    let mut old: BTreeMap<i64, Vec<&[u8]>> = BTreeMap::new();
    for row in &rows {
        old.entry(get(row, 0)?).or_default().push(get(row, 1)?);
    }
    let delete = client
        .prepare_cached(
            "DELETE FROM extractions WHERE account_id = $1 AND request_id = ANY($2) AND created_at < $3",
        )
        .await?;
    for (account, request_ids) in old {
        client.execute(&delete, &[&account, &request_ids, &StoredTime(end)]).await?;
    }
    Ok(rows.len() as u64)
}
