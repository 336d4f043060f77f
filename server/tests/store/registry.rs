//! Administration of what the contract presumes, while a service runs on the same database.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use sallyport_server::{
    data::import::import,
    domain::{rejection::Rejection, service::Service, token::TokenKind},
    store::{
        RecordKind, Store,
        registry::{Condition, Dependents, End, RegistryError},
    },
};
use serde_json::json;

use super::{
    backend::{Database, all, connect, on_both, put, values},
    requests::{command, range, with_id},
    transcripts::DATA,
};

/// A new database with [`DATA`].
async fn filled(database: &Database) -> Arc<dyn Store> {
    import(database.open().await.as_ref(), DATA.as_bytes()).await.unwrap();
    database.open().await
}

async fn another_rotation_does_not_lengthen_what_is_left_of_a_token(database: Database) {
    let registry = filled(&database).await;
    let token = registry.issue_token("acme", TokenKind::Api, None).await.unwrap();
    let day = Duration::from_secs(86_400);
    let end = async |overlap| {
        let rotated = registry.rotate_token(token.id, overlap, End::Never).await.unwrap();
        rotated.old.unwrap()["expiresAt"].as_str().unwrap().parse::<Timestamp>().unwrap()
    };
    let before = Timestamp::now();
    let first = end(day).await;
    assert!(first >= before + day, "{first}");
    assert_eq!(end(30 * day).await, first);
    assert!(end(day / 2).await < first);
}

async fn an_account_goes_with_all_it_has(database: Database) {
    let registry = filled(&database).await;
    let token = registry.issue_token("acme", TokenKind::Api, None).await.unwrap();
    put(registry.as_ref(), RecordKind::Whitelist, range("127.0.0.0/8")).await.unwrap();
    put(registry.as_ref(), RecordKind::Entitlement, json!({"account": "acme", "protocol": "http"}))
        .await
        .unwrap();
    let service = Service::new(database.open().await);
    let extract = async || service.extract(with_id("kept", command(&token.token, 1, "USA"))).await;
    extract().await.unwrap();
    let acme = vec![vec![Condition::parse(RecordKind::Account, "name=acme").unwrap()]];
    let with_data = Dependents { with_data: true, ..Dependents::default() };
    let words = registry.remove(RecordKind::Account, acme, with_data).await.unwrap();
    let belongings = "1 token, 1 whitelist entry, 1 entitlement, 1 group, 1 instance";
    assert_eq!(words, format!("account \"acme\", with {belongings}"));
    assert_eq!(extract().await.err(), Some(Rejection::TokenUnknown));
}

async fn administrators_at_the_same_time_get_numbers_of_their_own(database: Database) {
    let registry = filled(&database).await;
    let database = Arc::new(database);
    let adding = (0..8).map(|number| {
        let database = Arc::clone(&database);
        tokio::spawn(async move {
            let registry = database.open().await;
            let gateway =
                json!({"host": "gw.invalid", "port": 100 + number, "region": "USA", "protocol": "http"});
            put(registry.as_ref(), RecordKind::Gateway, gateway).await.unwrap();
            put(registry.as_ref(), RecordKind::Group, json!({"account": "acme", "name": "g"})).await.unwrap();
        })
    });
    for added in adding.collect::<Vec<_>>() {
        added.await.unwrap();
    }
    assert_eq!(all(registry.as_ref(), RecordKind::Gateway, &[]).await.len(), 1 + 8);
    let groups = all(registry.as_ref(), RecordKind::Group, &[]).await;
    assert_eq!(values(&groups, "groupId"), (11..=19).collect::<Vec<_>>());
}

async fn of_many_who_add_a_range_at_once_one_succeeds(database: Database) {
    const ROUNDS: u8 = 10;
    let registry = filled(&database).await;
    let mut others = Vec::new();
    for _ in 0..4 {
        others.push(database.open().await);
    }
    for round in 0..ROUNDS {
        let adding = others.iter().map(|registry| {
            let registry = Arc::clone(registry);
            let range = range(&format!("{round}.1.1.1-255.255.255.255"));
            tokio::spawn(async move { put(registry.as_ref(), RecordKind::Whitelist, range).await })
        });
        let mut new = 0;
        for one in adding.collect::<Vec<_>>() {
            match one.await.unwrap() {
                Ok(written) => new += u8::from(written[0].is_new),
                // Of two at the same moment.
                Err(RegistryError::Rejected(reason)) if reason.contains("with the same") => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(new, 1, "round {round}");
    }
    assert_eq!(all(registry.as_ref(), RecordKind::Whitelist, &[]).await.len(), usize::from(ROUNDS));
}

on_both! {
    another_rotation_does_not_lengthen_what_is_left_of_a_token,
    an_account_goes_with_all_it_has,
    administrators_at_the_same_time_get_numbers_of_their_own,
    of_many_who_add_a_range_at_once_one_succeeds,
}

const FIRST_SQLITE: &str = include_str!("../../src/store/sqlite/migrations/0001_initial.sql");
const FIRST_POSTGRES: &str = include_str!("../../src/store/postgres/migrations/0001_initial.sql");

/// What an earlier version of the program could have stored.
const EARLIER: &str = "
    INSERT INTO accounts (id, name, real_name_verified) VALUES (7, 'acme', (1 = 1)), (8, 'other', (1 = 0));
    INSERT INTO entitlements (account_id, protocol) VALUES (7, 'http');
    INSERT INTO whitelist (account_id, first, last, enabled, expires_at) VALUES
        (7, zeroblob(16), zeroblob(16), (1 = 0), NULL), (7, zeroblob(16), zeroblob(16), (1 = 1), zeroblob(12)),
        (7, zeroblob(16), zeroblob(16), (1 = 1), NULL), (7, zeroblob(16), zeroblob(16), (1 = 1), NULL);
";

/// The tables of the first version become those of this one, with what is in them.
async fn check_earlier(database: &Database) {
    database.open().await;
    let registry = database.open().await;
    let accounts = all(registry.as_ref(), RecordKind::Account, &[]).await;
    assert_eq!(values(&accounts, "name"), ["acme", "other"]);
    assert_eq!(all(registry.as_ref(), RecordKind::Entitlement, &[]).await.len(), 1);
    let entries = all(registry.as_ref(), RecordKind::Whitelist, &[]).await;
    assert_eq!(values(&entries, "id"), [3], "of duplicates stays the one that lets callers in for longest");
    put(registry.as_ref(), RecordKind::Whitelist, range("1.1.1.1")).await.unwrap();
    put(registry.as_ref(), RecordKind::Group, json!({"account": "acme", "name": "g"})).await.unwrap();
}

#[tokio::test]
async fn a_sqlite_file_of_the_first_version_is_brought_up_to_date() {
    let database = Database::sqlite().unwrap();
    database.execute(&format!("{FIRST_SQLITE}; {EARLIER}")).await;
    database.execute("PRAGMA application_id = 1396788313; PRAGMA user_version = 1;").await;
    check_earlier(&database).await;
    let db = rusqlite::Connection::open(database.name()).unwrap();
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT max(id) FROM whitelist"), 5, "numbers go on");
    assert_eq!(number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    // Foreign keys of the tables that stayed lead to the new ones.
    db.pragma_update(None, "foreign_keys", true).unwrap();
    assert!(db.execute("DELETE FROM accounts WHERE id = 7", []).is_err());
    assert!(db.execute("INSERT INTO entitlements (account_id, protocol) VALUES (99, 'http')", []).is_err());
    // The highest number is not given again once its owner is gone.
    db.execute("DELETE FROM accounts WHERE id = 8", []).unwrap();
    db.execute("INSERT INTO accounts (name, real_name_verified) VALUES ('new', 1)", []).unwrap();
    assert_eq!(number("SELECT max(id) FROM accounts"), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_database_of_the_first_version_is_brought_up_to_date() {
    let Some(database) = Database::postgres().await else { return };
    let first =
        "CREATE TABLE sallyport_schema (version bigint NOT NULL); INSERT INTO sallyport_schema VALUES (1);";
    let earlier = EARLIER.replace("zeroblob(", "substr(decode(repeat('00', 16), 'hex'), 1, ");
    database.execute(&format!("{FIRST_POSTGRES}; {earlier} {first}")).await;
    check_earlier(&database).await;
    let Some(new) = Database::postgres().await else { return };
    new.open().await;
    let version = async |database: &Database| -> i64 {
        let client = connect(&database.name()).await.unwrap();
        client.query_one("SELECT version FROM sallyport_schema", &[]).await.unwrap().get(0)
    };
    assert_eq!(version(&database).await, version(&new).await);
}
