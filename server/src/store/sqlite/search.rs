//! Groups and instances of an account.

use std::fmt::Write as _;

use rusqlite::{Connection, Row, params};

use super::extract::{credential, time};
use crate::{
    domain::{
        access::Guarded,
        instance::{Group, Instance},
        search::{Filters, GroupFilter, SearchPage, SearchQuery},
        token::TokenDigest,
    },
    store::{
        StoreError,
        packed::{Json, StoredIp, StoredTime},
    },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::schema;

    /// The steps of the plan of `sql`.
    fn plan(sql: &str, statistics: &str) -> Vec<String> {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        db.execute_batch(statistics).unwrap();
        let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        // The plan does not depend on what is bound, so nothing is.
        explain.raw_query().mapped(|row| row.get("detail")).collect::<Result<_, _>>().unwrap()
    }

    fn assert_seeks(steps: &[String]) {
        let seek = "SEARCH i USING INDEX instances_by_address (account_id=? AND ip=? AND port>? AND port<?)";
        assert!(steps.iter().any(|step| step == seek), "{steps:#?}");
        assert!(steps.iter().any(|step| step.contains("USING INTEGER PRIMARY KEY (rowid=?)")), "{steps:#?}");
        let scanned: Vec<_> = steps.iter().filter(|step| step.starts_with("SCAN")).collect();
        assert!(
            scanned.iter().all(|step| !step.contains("instances") && !step.contains("SCAN i")),
            "{steps:#?}"
        );
    }

    #[test]
    fn a_search_seeks_by_address() {
        assert_seeks(&plan(SEARCH, ""));
    }

    #[test]
    fn statistics_of_a_one_account_database_change_nothing() {
        // As if the index told next to nothing apart, which tempts the planner to scan.
        let stale =
            "ANALYZE; INSERT INTO sqlite_stat1 VALUES ('instances', 'instances_by_address', '10 10 10 10');
                     ANALYZE sqlite_schema;";
        assert_seeks(&plan(SEARCH, stale));
    }

    #[test]
    fn the_plan_of_a_plain_join_would_be_noticed() {
        let plain = "SELECT count(*) FROM instances AS i WHERE i.account_id = ?1 AND i.status = ?2";
        let steps = plan(plain, "");
        assert!(std::panic::catch_unwind(|| assert_seeks(&steps)).is_err());
    }
}
