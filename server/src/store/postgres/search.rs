//! Groups and instances of an account.

use std::sync::LazyLock;

use deadpool_postgres::Client;
use tokio_postgres::{Row, types::ToSql};

use super::{
    codec::{get, number, port, storable, time},
    credential,
    owners::Owner,
};
use crate::{
    domain::{
        access::{Credential, ProtectedData},
        instance::{Group, Instance},
        ports::Found,
        search::{Filters, GroupSelection, SearchPage, SearchQuery},
        token::TokenDigest,
    },
    store::{
        Result, StoreError,
        packed::{Json, StoredIp, StoredTime},
    },
};

const FILTERED: &str = include_str!("search.sql");

static UNFILTERED: LazyLock<String> = LazyLock::new(|| {
    FILTERED.split_inclusive('\n').filter(|line| !line.trim_end().ends_with("-- filter")).collect()
});

// One row with nulls stands for an account without groups.
const GROUPS: &str = "SELECT t.kind, t.expires_at, t.revoked_at, g.id, g.name, g.created_at, g.updated_at
     FROM tokens AS t LEFT JOIN groups AS g ON g.account_id = $2
     WHERE t.sha256 = $1 AND t.account_id = $2 ORDER BY g.id";

pub(super) async fn credential_of(
    client: &Client,
    owner: Owner,
    digest: TokenDigest,
) -> Result<Option<Credential>> {
    let statement = client
        .prepare_cached(
            "SELECT kind, expires_at, revoked_at FROM tokens WHERE sha256 = $1 AND account_id = $2",
        )
        .await?;
    let row = client.query_opt(&statement, &[&digest, &owner.account]).await?;
    row.map(|row| credential(&row, owner)).transpose()
}

pub(super) async fn groups(
    client: &Client,
    owner: Owner,
    digest: TokenDigest,
) -> Found<Vec<Group>, StoreError> {
    let statement = client.prepare_cached(GROUPS).await?;
    let rows = client.query(&statement, &[&digest, &owner.account]).await?;
    let Some(first) = rows.first() else { return Ok(None) };
    let mut groups = Vec::new();
    for row in &rows {
        if let Some(id) = get(row, 3)? {
            let (StoredTime(created_at), StoredTime(updated_at)) = (get(row, 5)?, get(row, 6)?);
            groups.push(Group { id, name: get(row, 4)?, created_at, updated_at });
        }
    }
    Ok(Some(ProtectedData::new(credential(first, owner)?, groups)))
}

pub(super) async fn page(
    client: &Client,
    owner: Owner,
    digest: TokenDigest,
    query: &SearchQuery,
) -> Found<SearchPage, StoreError> {
    let Filters { order_no, group, country_code, city_code, status, activated_from, activated_to } =
        &query.filters;
    let (is_ungrouped, group) = match *group {
        GroupSelection::Any => (false, None),
        GroupSelection::Ungrouped => (true, None),
        GroupSelection::Group(id) => (false, Some(id)),
    };
    let texts = [order_no, country_code, city_code];
    let (ips, first_ports, last_ports) = if texts.into_iter().flatten().any(|text| storable(text).is_none()) {
        // No stored text can match this filter, so no query is needed.
        Ranges::default()
    } else {
        ranges(query)
    };
    let rest: [&(dyn ToSql + Sync); 7] = [
        &digest,
        &owner.account,
        &ips,
        &first_ports,
        &last_ports,
        &i64::from(query.limit),
        &i64::try_from(query.offset).unwrap_or(i64::MAX),
    ];
    let rows = if query.filters == Filters::default() {
        let statement = client.prepare_cached(&UNFILTERED).await?;
        client.query(&statement, &rest).await?
    } else {
        let filters: [&(dyn ToSql + Sync); 8] = [
            &order_no.as_deref().and_then(storable),
            &is_ungrouped,
            &group,
            &country_code.as_deref().and_then(storable),
            &city_code.as_deref().and_then(storable),
            status,
            &activated_from.map(StoredTime),
            &activated_to.map(StoredTime),
        ];
        let statement = client.prepare_cached(FILTERED).await?;
        client.query(&statement, &[rest.as_slice(), filters.as_slice()].concat()).await?
    };
    let Some(first) = rows.first() else { return Ok(None) };
    let mut page = SearchPage { items: Vec::with_capacity(rows.len()), total: number(first, 3)? };
    for row in &rows {
        page.items.extend(instance(row)?);
    }
    Ok(Some(ProtectedData::new(credential(first, owner)?, page)))
}

/// Addresses, each with its first and last port.
type Ranges = (Vec<StoredIp>, Vec<i32>, Vec<i32>);

fn ranges(query: &SearchQuery) -> Ranges {
    let mut ranges = Ranges::default();
    for range in &query.addresses {
        ranges.0.push(StoredIp(range.ip));
        ranges.1.push(range.first_port.into());
        ranges.2.push(range.last_port.into());
    }
    ranges
}

/// The instance of a row, if it has one.
fn instance(row: &Row) -> Result<Option<Instance>> {
    let Some(id) = get(row, 4)? else { return Ok(None) };
    let (StoredIp(ip), Json(protocols), Json(capabilities)) = (get(row, 7)?, get(row, 9)?, get(row, 15)?);
    Ok(Some(Instance {
        id,
        offer_id: get(row, 5)?,
        status: get(row, 6)?,
        ip,
        port: port(get(row, 8)?)?,
        protocols,
        country_code: get(row, 10)?,
        city_code: get(row, 11)?,
        isp_type: number(row, 12)?,
        expires_at: time(row, 13)?,
        activated_at: time(row, 14)?,
        capabilities,
        group_id: get(row, 16)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that a search without filters has.
    const UNFILTERED_PARAMETERS: usize = 7;

    #[test]
    fn only_filters_are_left_out() {
        let left_out: Vec<&str> = FILTERED.lines().filter(|line| !UNFILTERED.contains(line)).collect();
        let parameters = (1..).take_while(|number| FILTERED.contains(&format!("${number}"))).count();
        assert_eq!(left_out.len(), parameters - UNFILTERED_PARAMETERS, "{left_out:#?}");
        for (line, parameter) in left_out.iter().zip(UNFILTERED_PARAMETERS + 1..) {
            let column = [" = $", " >= $", " <= $", "group_id IS NULL"].iter().any(|it| line.contains(it));
            assert!(column && line.contains(&format!("${parameter}::")), "{line}");
        }
        for parameter in 1..=UNFILTERED_PARAMETERS {
            assert!(UNFILTERED.lines().skip(4).any(|line| line.contains(&format!("${parameter}"))));
        }
        assert!(!UNFILTERED.lines().skip(4).any(|line| line.contains("$8")), "{}", *UNFILTERED);
    }
}
