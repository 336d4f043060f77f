//! The gateways that extractions choose from.

use rusqlite::{Connection, ToSql, Transaction};

use crate::{
    domain::extraction::{Endpoint, Parameters, Region},
    store::{Result, Supply, cache::Gateways},
};

/// Maximum number of gateways of one protocol and region that are cached.
const MAX_CACHED_GATEWAYS: usize = 1 << 16;

/// All gateways that match an extraction; `None` when there are too many for the cache.
pub(super) fn all(snapshot: &Connection, parameters: &Parameters) -> Result<Option<Gateways>> {
    let Parameters { count: _, region, protocol } = parameters;
    let mut select = snapshot.prepare_cached(&format!("{} {WHOLE}", select(region)))?;
    let gateways: Vec<_> = select
        .query_map((protocol, code(region), MAX_CACHED_GATEWAYS + 1), |row| {
            Ok((row.get(0)?, Endpoint { host: row.get(1)?, port: row.get(2)? }))
        })?
        .collect::<Result<_, _>>()?;
    Ok((gateways.len() <= MAX_CACHED_GATEWAYS).then_some(Gateways(gateways)))
}

/// The number of gateways of each protocol and region.
pub(super) fn supply(snapshot: &Transaction<'_>) -> Result<Vec<Supply>> {
    let supply = snapshot
        .prepare_cached(SUPPLY)?
        .query_map([], |row| {
            Ok(Supply { protocol: row.get(0)?, region: row.get(1)?, gateways: row.get(2)? })
        })?
        .collect::<Result<_, _>>()?;
    Ok(supply)
}

/// Chooses gateways as [`Gateways::choose`] does, but from the database, in time that depends only on the count.
pub(super) fn choose(snapshot: &Connection, parameters: &Parameters, pivot: i64) -> Result<Vec<Endpoint>> {
    let Parameters { count, region, protocol } = parameters;
    let mut found = Vec::new();
    for half in [AFTER, BEFORE] {
        let missing = (*count as usize).saturating_sub(found.len());
        if missing == 0 {
            break;
        }
        let mut select = snapshot.prepare_cached(&format!("{} {half}", select(region)))?;
        let values: [&dyn ToSql; 4] = [protocol, &code(region), &missing, &pivot];
        let rows = select.query_map(values, |row| Ok(Endpoint { host: row.get(1)?, port: row.get(2)? }))?;
        for endpoint in rows {
            found.push(endpoint?);
        }
    }
    Ok(found)
}

fn select(region: &Region) -> &'static str {
    match region {
        Region::Everywhere => EVERYWHERE,
        Region::Only(_) => IN_REGION,
    }
}

fn code(region: &Region) -> Option<&str> {
    match region {
        Region::Everywhere => None,
        Region::Only(code) => Some(code),
    }
}

// Each scans an index in order and stops at the limit.
const EVERYWHERE: &str =
    "SELECT spin, host, port FROM gateways INDEXED BY gateways_everywhere WHERE protocol = ?1 AND ?2 IS NULL";
const IN_REGION: &str =
    "SELECT spin, host, port FROM gateways INDEXED BY gateways_by_region WHERE protocol = ?1 AND region = ?2";
const WHOLE: &str = "ORDER BY spin LIMIT ?3";
const AFTER: &str = "AND spin >= ?4 ORDER BY spin LIMIT ?3";
const BEFORE: &str = "AND spin < ?4 ORDER BY spin LIMIT ?3";

// Scans an index, in whose order the groups already are.
const SUPPLY: &str = "SELECT protocol, region, count(*) FROM gateways INDEXED BY gateways_by_region
     GROUP BY protocol, region ORDER BY protocol, region";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::protocol::Protocol, store::sqlite::open};

    #[test]
    fn gateways_are_counted_along_an_index() {
        let db = open::in_memory();
        let steps = open::plan(&db, SUPPLY);
        assert_eq!(steps.len(), 1, "one scan, without sorting: {steps:?}");
        assert!(steps[0].contains("USING COVERING INDEX gateways_by_region"), "{steps:?}");
    }

    #[test]
    fn the_choice_of_gateways_walks_an_index() {
        let db = open::in_memory();
        for gateways in [EVERYWHERE, IN_REGION] {
            for part in [WHOLE, AFTER, BEFORE] {
                let steps = open::plan(&db, &format!("{gateways} {part}"));
                assert_eq!(steps.len(), 1, "one scan, without sorting: {steps:?}");
                assert!(steps[0].starts_with("SEARCH gateways USING COVERING INDEX"), "{steps:?}");
                assert!(part == WHOLE || steps[0].contains("spin"), "{steps:?}");
            }
        }
    }

    #[test]
    fn memory_and_database_choose_alike() {
        let db = open::in_memory();
        for place in [-30, -7, 0, 1, 12, i64::MAX] {
            let row = (format!("gw{place}.invalid"), place);
            db.execute("INSERT INTO gateways VALUES (NULL, ?1, 1, 'USA', 'http', ?2, NULL, NULL)", row)
                .unwrap();
        }
        for region in [Region::Everywhere, Region::Only("USA".to_owned()), Region::Only("usa".to_owned())] {
            for count in [1, 3, 6, 100] {
                let parameters = Parameters { count, region: region.clone(), protocol: Protocol::Http };
                let gateways = all(&db, &parameters).unwrap().unwrap();
                for pivot in [i64::MIN, -30, -29, 0, 2, 12, 13, i64::MAX] {
                    assert_eq!(gateways.choose(pivot, count), choose(&db, &parameters, pivot).unwrap());
                }
            }
        }
    }
}
