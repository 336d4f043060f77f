//! Groups and instances of an account.

use std::fmt::Write as _;

use rusqlite::{Connection, Row, params};

use super::{
    codec::{Json, StoredIp, StoredTime},
    extract::{credential, time},
};
use crate::{
    domain::{
        access::Guarded,
        instance::{Group, Instance},
        search::{Filters, GroupFilter, SearchPage, SearchQuery},
        token::TokenDigest,
    },
    store::StoreError,
};

const SEARCH: &str = include_str!("search.sql");

pub(super) fn groups(
    snapshot: &Connection,
    digest: TokenDigest,
) -> Result<Option<Guarded<Vec<Group>>>, StoreError> {
    let Some(credential) = credential(snapshot, digest)? else { return Ok(None) };
    let groups = snapshot
        .prepare_cached(
            "SELECT id, name, created_at, updated_at FROM groups WHERE account_id = ?1 ORDER BY id",
        )?
        .query_map([credential.account.0], |row| {
            let (StoredTime(created_at), StoredTime(updated_at)) = (row.get(2)?, row.get(3)?);
            Ok(Group { id: row.get(0)?, name: row.get(1)?, created_at, updated_at })
        })?
        .collect::<Result<_, _>>()?;
    Ok(Some(Guarded::new(credential, groups)))
}

pub(super) fn page(
    snapshot: &Connection,
    digest: TokenDigest,
    query: &SearchQuery,
) -> Result<Option<Guarded<SearchPage>>, StoreError> {
    let Some(credential) = credential(snapshot, digest)? else { return Ok(None) };
    let Filters { order_no, group, country_code, city_code, status, activated_from, activated_to } =
        &query.filters;
    let group = match group {
        GroupFilter::All => None,
        GroupFilter::Ungrouped => Some(0),
        GroupFilter::Only(id) => Some(id.get()),
    };
    let mut statement = snapshot.prepare_cached(SEARCH)?;
    let mut rows = statement.query(params![
        credential.account.0,
        wanted(query),
        order_no,
        group,
        country_code,
        city_code,
        status,
        activated_from.map(StoredTime),
        activated_to.map(StoredTime),
        query.limit,
        i64::try_from(query.offset).unwrap_or(i64::MAX),
    ])?;
    let mut page = SearchPage { items: Vec::new(), total: 0 };
    while let Some(row) = rows.next()? {
        page.total = row.get(0)?;
        if row.get_ref(1)? != rusqlite::types::ValueRef::Null {
            page.items.push(instance(row)?);
        }
    }
    Ok(Some(Guarded::new(credential, page)))
}

/// The addresses as JSON: `[["hex", lowest port, highest port], …]`.
fn wanted(query: &SearchQuery) -> String {
    let bare = query.any_port.iter().map(|ip| (*ip, 0, u16::MAX));
    let exact = query.exact.iter().map(|(ip, port)| (*ip, *port, *port));
    let mut json = String::from("[");
    for (place, (ip, lowest, highest)) in bare.chain(exact).enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let address = u128::from_be_bytes(StoredIp(ip).octets());
        // Writing to a String cannot fail.
        let _ = write!(json, r#"{comma}["{address:032x}",{lowest},{highest}]"#);
    }
    json.push(']');
    json
}

fn instance(row: &Row<'_>) -> rusqlite::Result<Instance> {
    let (StoredIp(ip), Json(protocols), Json(capabilities)) = (row.get(4)?, row.get(6)?, row.get(12)?);
    Ok(Instance {
        id: row.get(1)?,
        offer_id: row.get(2)?,
        status: row.get(3)?,
        ip,
        port: row.get(5)?,
        protocols,
        country_code: row.get(7)?,
        city_code: row.get(8)?,
        isp_type: row.get(9)?,
        expires_at: time(row, 10)?,
        activated_at: time(row, 11)?,
        capabilities,
        group_id: row.get(13)?,
    })
}
