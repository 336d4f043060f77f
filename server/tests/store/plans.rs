//! That a search on PostgreSQL seeks by address and an extraction walks an index, however wrong the statistics are.
//! The plans on SQLite are looked at beside its statements.

use sallyport_server::{
    domain::{
        address::Address,
        extraction::{ExtractCommand, Parameters, Protocol, Region},
        search::{Filters, SearchCommand},
        service::Service,
        token::{Token, TokenKind},
    },
    store::registry::NewToken,
};

use crate::{
    backend::{Database, connect},
    cluster::eventually,
};

/// Instances of the one account. The bench `search` looks at millions.
const INSTANCES: u32 = 30_000;

/// The statement, as the program has it.
const SEARCH: &str = include_str!("../../src/store/postgres/search.sql");

#[tokio::test]
async fn a_search_seeks_by_address_and_page_by_id() {
    let Some(database) = Database::postgres().await else { return };
    filled(&database).await;
    let client = connect(&database.name()).await.unwrap();
    client.batch_execute("ANALYZE; SET plan_cache_mode = force_generic_plan").await.unwrap();
    let types = "bytea, bigint, bytea[], integer[], integer[], text, bigint, text, text, text, bytea, bytea, \
                 bigint, bigint";
    client.batch_execute(&format!("PREPARE search ({types}) AS {SEARCH}")).await.unwrap();
    let nothing = vec!["NULL"; types.split(',').count()].join(", ");
    let rows = client.simple_query(&format!("EXPLAIN EXECUTE search ({nothing})")).await.unwrap();
    let plan: Vec<String> = rows
        .into_iter()
        .filter_map(|row| match row {
            tokio_postgres::SimpleQueryMessage::Row(row) => Some(row.get(0)?.to_owned()),
            _ => None,
        })
        .collect();
    let plan = plan.join("\n");
    assert!(plan.contains("Index Scan using instances_by_address on instances i"), "{plan}");
    let seek = "Index Cond: ((account_id = $2) AND (ip = wanted.ip) AND (port >= wanted.lowest) AND (port <= \
                wanted.highest))";
    assert!(plan.contains(seek), "{plan}");
    assert!(plan.contains("Index Scan using instances_pkey on instances one"), "{plan}");
    assert!(!plan.contains("Seq Scan on instances"), "{plan}");
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
    let search = SearchCommand { addresses, filters: Filters::default(), page: 1, page_size: 1000 };
    let parameters = Parameters { count: 1, region: Region::Everywhere, protocol: Protocol::Http };
    let caller_ip = Some(std::net::Ipv4Addr::LOCALHOST);
    const CALLS: i64 = 8;
    for _ in 0..CALLS {
        let page = service.search(&token, search.clone()).await.unwrap();
        assert_eq!(page.total, 500);
        let extract = ExtractCommand {
            token: token.clone(),
            caller_ip,
            parameters: parameters.clone(),
            request_id: None,
        };
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
    let token = Token::generate(TokenKind::Api);
    let new = NewToken {
        account: "big".to_owned(),
        digest: token.digest(),
        kind: TokenKind::Api,
        created_at: jiff::Timestamp::now(),
        expires_at: None,
    };
    database.registry().await.issue_token(new).await.unwrap();
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
