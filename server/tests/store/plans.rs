//! That a search seeks by address and an extraction walks an index, however wrong the statistics are.

use rusqlite::{Connection, config::DbConfig, vtab::array};
use sallyport_server::{
    domain::{
        address::Address,
        extraction::Region,
        search::SearchQuery,
        service::Service,
        token::{Token, TokenKind},
    },
    store::{Dialect, extract_sql, gateways_sql, postgres, search_sql, sqlite},
};

use super::{
    backend::{Database, connect},
    cluster::eventually,
    requests::command,
};

/// Instances of the one account. The bench `store` looks at millions.
const INSTANCES: u32 = 30_000;

/// How often a statement walks an index of gateways: without a region, and in one.
type Walks = (fn(&Dialect, bool) -> String, usize);
const WALKS: [Walks; 2] = [(gateways_sql, 1), (extract_sql, 2)];
const INDEXES: [(bool, &str); 2] = [(false, "gateways_everywhere"), (true, "gateways_by_region")];

#[tokio::test]
async fn sqlite_uses_indexes_whatever_the_statistics_say() {
    let database = Database::sqlite().unwrap();
    database.open().await;
    let db = Connection::open(database.name()).unwrap();
    array::load_module(&db).unwrap();
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).unwrap();
    let plan = |sql: String| {
        let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {}", sql.replace('$', "?"))).unwrap();
        let steps = explain.raw_query().mapped(|row| row.get("detail"));
        steps.collect::<Result<Vec<String>, _>>().unwrap().join("\n")
    };
    // Those of an index that is hardly selective, with which the planner would prefer a scan.
    let stale =
        "ANALYZE; INSERT INTO sqlite_stat1 VALUES ('instances', 'instances_by_address', '10 10 10 10');
                 ANALYZE sqlite_schema";
    for statistics in ["", stale] {
        db.execute_batch(statistics).unwrap();
        // Without filters the index alone tells what matches.
        for (is_filtered, index) in [(false, "COVERING INDEX"), (true, "INDEX")] {
            let plan = plan(search_sql(&sqlite::DIALECT, is_filtered));
            let seek = "instances_by_address (account_id=? AND ip=? AND port>? AND port<?)";
            assert!(plan.contains(&format!("SEARCH i USING {index} {seek}")), "{plan}");
            assert!(plan.contains("USING INTEGER PRIMARY KEY (rowid=?)"), "{plan}");
            let scans = |what: &str| plan.lines().any(|step| step.starts_with("SCAN") && step.contains(what));
            assert!(!["SCAN i", "SCAN t", "instances"].into_iter().any(scans), "{plan}");
        }
        for ((in_region, index), (sql, walks)) in
            INDEXES.iter().flat_map(|index| WALKS.map(|sql| (*index, sql)))
        {
            let plan = plan(sql(&sqlite::DIALECT, in_region));
            let walk = format!("SEARCH gateways USING COVERING INDEX {index} (protocol=?");
            assert_eq!(plan.matches(&walk).count(), walks, "{plan}");
            let halves = plan.replace("SCAN after", "").replace("SCAN before", "");
            assert!(!halves.contains("SCAN") && !plan.contains("TEMP B-TREE"), "without sorting: {plan}");
        }
    }
}

#[tokio::test]
async fn postgres_uses_indexes() {
    let Some(database) = Database::postgres().await else { return };
    filled(&database).await;
    let client = connect(&database.name()).await.unwrap();
    client.batch_execute("ANALYZE; SET plan_cache_mode = force_generic_plan").await.unwrap();
    for (is_filtered, scan) in [(true, "Index Scan"), (false, "Index Only Scan")] {
        let plan = plan(&client, &search_sql(&postgres::DIALECT, is_filtered)).await;
        assert!(plan.contains(&format!("{scan} using instances_by_address on instances i")), "{plan}");
        let seek = "(ip = wanted.ip) AND (port >= wanted.lowest) AND (port <= wanted.highest))";
        let condition = plan.lines().find(|line| line.contains("Index Cond: ((account_id = "));
        assert!(condition.is_some_and(|condition| condition.contains(seek)), "{plan}");
        assert!(plan.contains("Index Scan using instances_pkey on instances one"), "{plan}");
        assert!(!plan.contains("Seq Scan on instances"), "{plan}");
    }
    // Many gateways, of which those asked for are few: what tempts the planner to read them all and to sort them.
    let fill = "INSERT INTO gateways (id, host, port, region, protocol, spin)
                SELECT n, 'gw' || n || '.invalid', 1, CASE WHEN n % 500 = 0 THEN 'USA' ELSE 'DEU' END,
                       CASE WHEN n % 100 = 0 THEN 'http' ELSE 'socks5' END, n * 7919 % 30011
                FROM generate_series(1, 30000) AS n;
                ANALYZE; SET enable_seqscan = off";
    client.batch_execute(fill).await.unwrap();
    for ((in_region, index), (sql, walks)) in INDEXES.iter().flat_map(|index| WALKS.map(|sql| (*index, sql)))
    {
        let plan = plan(&client, &sql(&postgres::DIALECT, in_region)).await;
        assert_eq!(plan.matches(&format!("using {index} on gateways")).count(), walks, "{plan}");
        assert!(!plan.contains("Sort") && !plan.contains("Bitmap"), "{plan}");
    }
}

/// What PostgreSQL would do for a statement, whose parameters have the types that it infers.
async fn plan(client: &tokio_postgres::Client, sql: &str) -> String {
    let parameters = client.prepare(sql).await.unwrap().params().len();
    client.batch_execute(&format!("PREPARE asked AS {sql}")).await.unwrap();
    let nothing = vec!["NULL"; parameters].join(", ");
    let rows = client.simple_query(&format!("EXPLAIN EXECUTE asked ({nothing})")).await.unwrap();
    client.batch_execute("DEALLOCATE asked").await.unwrap();
    let lines = rows.into_iter().filter_map(|row| match row {
        tokio_postgres::SimpleQueryMessage::Row(row) => Some(row.get(0)?.to_owned()),
        _ => None,
    });
    lines.collect::<Vec<String>>().join("\n")
}

#[tokio::test]
async fn stale_statistics_turn_no_seek_into_a_scan() {
    let Some(database) = Database::postgres().await else { return };
    let token = filled(&database).await;
    // The planner believes that every row has the same address, so that a scan would be cheapest.
    database
        .execute(
            "CREATE TABLE real AS SELECT * FROM instances;
             UPDATE instances SET ip = decode(repeat('00', 16), 'hex'), port = 1;
             ANALYZE;
             DELETE FROM instances;
             INSERT INTO instances SELECT * FROM real;",
        )
        .await;
    let client = connect(&database.name()).await.unwrap();
    // A session tells what it did when it ends, so those that filled the tables must be gone before counting begins.
    eventually(async || {
        let others = "SELECT count(*) FROM pg_stat_activity
                      WHERE datname = current_database() AND pid <> pg_backend_pid()";
        match client.query_one(others, &[]).await.unwrap().get(0) {
            0_i64 => Ok(()),
            others => Err(format!("{others} other sessions")),
        }
    })
    .await;
    client.batch_execute("SELECT pg_stat_reset()").await.unwrap();
    let service = Service::new(database.open().await);
    let addresses = (0..500)
        .map(|n| Address {
            ip: std::net::Ipv6Addr::from(u128::from(n * 7 + 1 + (1_u32 << 31))).into(),
            port: None,
        })
        .collect();
    let search = SearchQuery { addresses, filters: Vec::new(), page: 1, page_size: 1000 };
    const CALLS: i64 = 8;
    for _ in 0..CALLS {
        let page = service.search(&token, search.clone()).await.unwrap();
        assert_eq!(page.total, 500);
        let mut extract = command(&token, 1, "");
        extract.parameters.region = Region::Everywhere;
        assert!(service.extract(extract).await.is_err(), "there is no gateway");
    }
    // Sessions tell what they did only now and then.
    let (seeks, read) = eventually(async || {
        let row = client
            .query_one(
                "SELECT idx_scan, idx_tup_read FROM pg_stat_user_indexes
                 WHERE indexrelname = 'instances_by_address'",
                &[],
            )
            .await
            .unwrap();
        let counted: (i64, i64) = (row.get(0), row.get(1));
        if counted.0 >= CALLS * 500 { Ok(counted) } else { Err(format!("{counted:?} so far")) }
    })
    .await;
    assert_eq!(seeks, CALLS * 500);
    assert!(read <= CALLS * 500 * 3, "{read} entries read, a few of them dead");
    let scans: i64 = client
        .query_one(
            "SELECT sum(seq_scan)::bigint FROM pg_stat_user_tables WHERE relname IN ('instances', 'gateways')",
            &[],
        )
        .await
        .unwrap()
        .get(0);
    assert_eq!(scans, 0);
}

/// An account with instances at as many addresses, and its token.
async fn filled(database: &Database) -> Token {
    database.open().await;
    database.execute("INSERT INTO accounts (name, real_name_verified) VALUES ('big', true)").await;
    let registry = database.open().await;
    let token = registry.issue_token("big", TokenKind::Api, None).await.unwrap().token;
    database
        .execute(&format!(
            "INSERT INTO instances (id, account_id, ip, port, offer_id, status, protocols, country_code, city_code,
                                    isp_type, capabilities)
             SELECT n, a.id, decode(lpad(to_hex(n::bigint + 2147483648), 32, '0'), 'hex'), 80, 1, 'active', '[]',
                    'USA', 'NYC', 1, '{{}}'
             FROM accounts AS a, generate_series(1, {INSTANCES}) AS n"
        ))
        .await;
    token
}
