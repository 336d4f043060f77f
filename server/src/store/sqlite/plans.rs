//! That SQLite uses its indexes as the statements intend, and chooses gateways as the cache does.

use rusqlite::StatementStatus;

use super::{DIALECT, open, session::SqliteSession};
use crate::{
    api::generated::SearchRequest,
    domain::{
        Protocol, Status,
        extraction::{ExtractionQuery, Parameters, Region},
        search::SearchQuery,
        token::Token,
    },
    store::{
        cache::{Cache, Epoch, Epochs},
        queries::{self, Statements, extract_sql, gateways_sql, search_sql},
        session::Session,
        value::Value,
    },
};

/// The steps of the plan of `sql`.
fn plan(sql: &str, statistics: &str) -> Vec<String> {
    let db = open::in_memory();
    db.execute_batch(statistics).unwrap();
    open::plan(&db, &sql.replace('$', "?"))
}

fn assert_seeks(steps: &[String], index: &str) {
    let seek =
        format!("SEARCH i USING {index} instances_by_address (account_id=? AND ip=? AND port>? AND port<?)");
    assert!(steps.contains(&seek), "{steps:#?}");
    assert!(steps.iter().any(|step| step.contains("USING INTEGER PRIMARY KEY (rowid=?)")), "{steps:#?}");
    let scanned: Vec<_> = steps.iter().filter(|step| step.starts_with("SCAN")).collect();
    assert!(
        scanned
            .iter()
            .all(|step| !step.contains("instances") && !step.contains("SCAN i") && !step.contains("SCAN t")),
        "{steps:#?}"
    );
}

/// Statistics of an index that is hardly selective, with which the planner would prefer a scan.
const STALE: &str =
    "ANALYZE; INSERT INTO sqlite_stat1 VALUES ('instances', 'instances_by_address', '10 10 10 10');
                     ANALYZE sqlite_schema;";

#[test]
fn a_search_seeks_by_address_whatever_the_statistics_say() {
    // Without filters the index alone tells what matches.
    for (is_filtered, index) in [(false, "COVERING INDEX"), (true, "INDEX")] {
        for statistics in ["", STALE] {
            assert_seeks(&plan(&search_sql(&DIALECT, is_filtered), statistics), index);
        }
    }
}

#[test]
fn a_search_is_planned_once() {
    let (db, statements) = (open::in_memory(), Statements::new(&DIALECT));
    let filter = |property: &str| SearchRequest::FILTERS.iter().find(|it| it.property == property).unwrap();
    for status in Status::NAMES {
        let filters = vec![(filter("status"), status.into()), (filter("groupId"), 7_i64.into())];
        let query = SearchQuery { addresses: Vec::new(), filters, page: 1, page_size: 20 };
        let unknown = Token::new("unknown").digest();
        assert!(queries::search(&mut SqliteSession(&db), &statements, unknown, &query).unwrap().is_none());
    }
    let search = db.prepare_cached(&search_sql(&DIALECT, true).replace('$', "?")).unwrap();
    assert!(search.get_status(StatementStatus::Run) >= 5, "another statement");
    assert_eq!(search.get_status(StatementStatus::RePrepare), 0, "planned again");
}

#[test]
fn gateways_are_chosen_and_listed_along_an_index() {
    for (in_region, index) in [(false, "gateways_everywhere"), (true, "gateways_by_region")] {
        for (sql, walks) in [(extract_sql(&DIALECT, in_region), 2), (gateways_sql(&DIALECT, in_region), 1)] {
            let steps = plan(&sql, "");
            let walk = format!("SEARCH gateways USING COVERING INDEX {index} (protocol=?");
            assert_eq!(steps.iter().filter(|step| step.starts_with(&walk)).count(), walks, "{steps:#?}");
            assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "without sorting: {steps:#?}");
            let is_scan =
                |step: &&String| step.starts_with("SCAN") && !["after", "before"].contains(&&step[5..]);
            assert_eq!(steps.iter().find(is_scan), None, "{steps:#?}");
        }
    }
}

#[test]
fn memory_and_database_choose_alike() {
    const EPOCH: Epoch = Epoch(0);
    const NOW: Epochs = Epochs { access: EPOCH, gateways: EPOCH };
    let (db, statements, token) = (open::in_memory(), Statements::new(&DIALECT), Token::new("t"));
    let session = &mut SqliteSession(&db) as &mut dyn Session;
    session.execute("INSERT INTO accounts VALUES (1, 'a', 1)", &[]).unwrap();
    let insert = "INSERT INTO tokens VALUES (1, $1, 1, 'api', x'00', NULL, NULL)";
    session.execute(insert, &[token.digest().into()]).unwrap();
    for spin in [-30_i64, -7, 0, 1, 12, i64::MAX] {
        let insert = "INSERT INTO gateways VALUES (NULL, $1, 1, 'USA', 'http', $2, NULL, NULL)";
        let host = format!("gw{spin}.invalid");
        session.execute(insert, &[Value::from(host.as_str()), spin.into()]).unwrap();
    }
    let cache = Cache::new();
    for region in [Region::Everywhere, Region::Only("USA".to_owned()), Region::Only("usa".to_owned())] {
        for count in [1, 3, 6, 100] {
            for pivot in [i64::MIN, -30, -29, 0, 2, 12, 13, i64::MAX] {
                let parameters = Parameters { count, region: region.clone(), protocol: Protocol::Http };
                let digest = token.digest();
                let query = ExtractionQuery { digest, caller_ip: None, parameters, request_id: None };
                let chosen = queries::extraction(session, &statements, &query, pivot).unwrap().unwrap();
                cache.insert_account(&query, &chosen, EPOCH);
                let all = queries::gateways(session, &statements, &query.parameters).unwrap();
                cache.insert_gateways(&query.parameters, all, EPOCH);
                let cached = cache.extraction(&query, pivot, NOW).unwrap();
                assert_eq!(cached.value().candidates, chosen.value().candidates, "{query:?}");
                let expected: usize = if region == Region::Only("usa".to_owned()) { 0 } else { 6 };
                assert_eq!(chosen.value().candidates.len(), expected.min(count as usize));
            }
        }
    }
}
