//! What bears on an extraction, and extractions kept under a request id.

use std::{collections::BTreeMap, net::Ipv4Addr, sync::LazyLock};

use deadpool_postgres::Client;
use jiff::Timestamp;

use super::{
    cache::{LARGEST_RING, MOST_ENTRIES},
    codec::{get, number, port, storable},
    credential,
    owners::Owner,
};
use crate::{
    domain::{
        access::{AccountId, Guarded},
        extraction::{
            Endpoint, ExtractionFacts, ExtractionQuery, Parameters, Protocol, Region, StoredExtraction,
        },
    },
    store::{
        FORGOTTEN_AT_ONCE, StoreError, Supply,
        held::{Account, Entry, Ring},
        packed::{Json, StoredIp, StoredTime},
    },
};

const EXTRACT: &str = include_str!("extract.sql");
// The region is NULL where none is asked for; its parameter stays, so that both take the same ones.
static EVERYWHERE: LazyLock<String> = LazyLock::new(|| EXTRACT.replace("REGION", "$7::text IS NULL"));
static IN_REGION: LazyLock<String> = LazyLock::new(|| EXTRACT.replace("REGION", "region = $7"));

const RING: &str = include_str!("ring.sql");
static RING_EVERYWHERE: LazyLock<String> = LazyLock::new(|| RING.replace("REGION", "$2::text IS NULL"));
static RING_IN_REGION: LazyLock<String> = LazyLock::new(|| RING.replace("REGION", "region = $2"));

/// What bears on an extraction, as the database tells it.
pub(super) struct Told {
    pub(super) facts: Guarded<ExtractionFacts>,
    /// Everything of the account that bears on extractions, if it was asked for and is not too much.
    pub(super) account: Option<Account>,
    /// Whether there is a gateway such as was asked for.
    pub(super) any_gateway: bool,
}

/// Asks for what bears on an extraction, and for the whole account if `whole`.
pub(super) async fn ask(
    client: &Client,
    owner: Owner,
    query: &ExtractionQuery,
    whole: bool,
) -> Result<Option<Told>, StoreError> {
    let ExtractionQuery { digest, caller_ip, parameters, request_id, pivot, now } = query;
    let (statement, region) = match &parameters.region {
        Region::Everywhere => (&*EVERYWHERE, None),
        Region::Only(code) => (&*IN_REGION, storable(code)),
    };
    let statement = client.prepare_cached(statement).await?;
    // One more than are held tells that there are too many.
    let entries = if whole { MOST_ENTRIES as i64 + 1 } else { 0 };
    let [lowest, highest] = [Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST].map(|ip| StoredIp(ip.into()));
    let row = client
        .query_opt(
            &statement,
            &[
                digest,
                &owner.account,
                &request_id.as_deref().map(str::as_bytes),
                &caller_ip.map(|ip| StoredIp(ip.into())),
                &StoredTime(*now),
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
    let earlier = match (get(&row, 8)?, get(&row, 9)?) {
        (Some(Json(parameters)), Some(Json(endpoints))) => Some(StoredExtraction { parameters, endpoints }),
        _ => None,
    };
    let (hosts, ports): (Vec<String>, Vec<i32>) = (get(&row, 10)?, get(&row, 11)?);
    let candidates = hosts
        .into_iter()
        .zip(ports)
        .map(|(host, number)| Ok(Endpoint { host, port: port(number)? }))
        .collect::<Result<Vec<_>, StoreError>>()?;
    let any_gateway = !candidates.is_empty();

    let mut whitelist: Vec<Entry> = get(&row, 4)?;
    let whole = whole && whitelist.len() <= MOST_ENTRIES;
    if !whole {
        // Whether it holds this caller is all that is known then.
        let whitelisted: bool = get(&row, 5)?;
        let caller = caller_ip.filter(|_| whitelisted);
        whitelist = caller.into_iter().map(|ip| Entry { first: ip, last: ip, end: None }).collect();
    }
    let (protocols, ends): (Vec<String>, Vec<Option<StoredTime>>) = (get(&row, 6)?, get(&row, 7)?);
    let entitlement = |(name, end): (String, Option<StoredTime>)| {
        // A later version may know more protocols.
        let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.name() == name)?;
        Some((protocol, end.map(|end| end.0)))
    };
    let account = Account {
        credential: credential(&row, owner)?,
        verified: get(&row, 3)?,
        whitelist,
        entitlements: protocols.into_iter().zip(ends).filter_map(entitlement).collect(),
    };
    let facts = account.facts(query, earlier, candidates);
    Ok(Some(Told { facts, account: whole.then_some(account), any_gateway }))
}

/// The ring from which an extraction takes; `None` when it is too large to hold.
pub(super) async fn ring(client: &Client, parameters: &Parameters) -> Result<Option<Ring>, StoreError> {
    let Parameters { count: _, region, protocol } = parameters;
    let (statement, region) = match region {
        Region::Everywhere => (&*RING_EVERYWHERE, None),
        Region::Only(code) => (&*RING_IN_REGION, storable(code)),
    };
    let statement = client.prepare_cached(statement).await?;
    let rows = client.query(&statement, &[protocol, &region, &(LARGEST_RING as i64 + 1)]).await?;
    let gateway = |row| Ok((get(row, 0)?, Endpoint { host: get(row, 1)?, port: port(get(row, 2)?)? }));
    let gateways = rows.iter().map(gateway).collect::<Result<_, StoreError>>()?;
    Ok(Ring::new(gateways, LARGEST_RING))
}

/// One durable write. Who comes second waits for the first and then finds what that one stored.
pub(super) async fn remember(
    client: &Client,
    account: AccountId,
    request_id: &str,
    extraction: StoredExtraction,
    now: Timestamp,
) -> Result<StoredExtraction, StoreError> {
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
        // Only a clock that goes far ahead of ours forgets what was kept a moment ago.
        StoreError::Busy { reason: "an extraction was forgotten while it was read".to_owned() }
    })?;
    let (Json(parameters), Json(endpoints)) = (get(&row, 0)?, get(&row, 1)?);
    Ok(StoredExtraction { parameters, endpoints })
}

pub(super) async fn supply(client: &Client) -> Result<Vec<Supply>, StoreError> {
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

/// Statements that change extractions name their account, by which a cluster finds them.
pub(super) async fn forget(client: &Client, end: Timestamp) -> Result<u64, StoreError> {
    let select = client
        .prepare_cached(
            "SELECT account_id, request_id FROM extractions WHERE created_at < $1 ORDER BY created_at LIMIT $2",
        )
        .await?;
    let rows = client.query(&select, &[&StoredTime(end), &i64::from(FORGOTTEN_AT_ONCE)]).await?;
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
