//! An account has a range of its whitelist once, however many commands add it.

use std::io::Cursor;

use sallyport_server::{
    data::import::import,
    store::{
        LoadError, Location, RecordKind,
        registry::{Registry, RegistryError},
    },
};
use serde_json::json;

use crate::{
    backend::{Database, all, on_both, put},
    requests::range,
};

async fn numbers(registry: &Registry) -> Vec<i64> {
    let rows = all(registry, RecordKind::Whitelist, &[]).await;
    rows.iter().map(|row| row["id"].as_i64().unwrap()).collect()
}

async fn with_account(database: &Database) -> Registry {
    database.open().await;
    let registry = database.registry().await;
    put(&registry, RecordKind::Account, json!({"name": "acme"})).await.unwrap();
    registry
}

async fn of_many_who_add_a_range_at_once_one_succeeds(database: Database) {
    const ROUNDS: u8 = 10;
    let registry = with_account(&database).await;
    let location: Location = database.name().parse().unwrap();
    let mut others = Vec::new();
    for _ in 0..4 {
        others.push(std::sync::Arc::new(Registry::open(&location).await.unwrap()));
    }
    for round in 0..ROUNDS {
        let adding: Vec<_> = others
            .iter()
            .map(|registry| {
                let registry = std::sync::Arc::clone(registry);
                let range = range(&format!("{round}.1.1.1-255.255.255.255"));
                tokio::spawn(async move { put(&registry, RecordKind::Whitelist, range).await })
            })
            .collect();
        let mut new = 0;
        for one in adding {
            match one.await.unwrap() {
                Ok(written) => new += u8::from(written[0].is_new),
                // Of two at the same moment.
                Err(RegistryError::Rejected(reason)) if reason.contains("with the same") => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(new, 1, "round {round}");
    }
    assert_eq!(numbers(&registry).await.len(), usize::from(ROUNDS));
}

/// Ranges that overlap are different ranges.
async fn ranges_may_overlap(database: Database) {
    let registry = with_account(&database).await;
    let overlapping = ["1.1.1.1-3.3.3.3", "1.1.1.1-2.2.2.2", "2.2.2.2-3.3.3.3"].map(range);
    let written = put(&registry, RecordKind::Whitelist, overlapping.into_iter().collect()).await.unwrap();
    assert!(written.len() == 3 && written.iter().all(|one| one.is_new));
}

async fn an_import_names_the_line_that_repeats_a_range(database: Database) {
    let registry = with_account(&database).await;
    put(&registry, RecordKind::Whitelist, range("1.1.1.1-2.2.2.2")).await.unwrap();
    let line = |first: &str, last: &str| {
        format!(r#"{{"whitelist":{{"account":"acme","first":"{first}","last":"{last}","enabled":false}}}}"#)
    };
    let lines = [line("3.3.3.3", "3.3.3.3"), line("1.1.1.1", "2.2.2.2"), line("3.3.3.3", "3.3.3.3")];
    let store = database.open().await;
    let Err(LoadError::Rejected(bad)) = import(store.as_ref(), Cursor::new(lines.join("\n")), |_| {}).await
    else {
        panic!("expected invalid lines");
    };
    assert_eq!(bad.lines.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 3]);
    assert!(bad.lines[0].1.contains("this whitelist entry already exists"), "{bad}");
    assert_eq!(numbers(&registry).await.len(), 1);
}

/// What an earlier version may have stored becomes one entry, and lets the same callers in.
async fn earlier_duplicates_become_one_entry(database: Database) {
    let registry = with_account(&database).await;
    drop(registry);
    // A time is 12 bytes: seconds since 1970, shifted to be positive, then nanoseconds.
    let time = |seconds: u32| match &database {
        Database::Sqlite { .. } => format!("x'80000000{seconds:08x}00000000'"),
        Database::Postgres { .. } => format!("'\\x80000000{seconds:08x}00000000'"),
    };
    let ip = |text: &str| match &database {
        Database::Sqlite { .. } => format!("x'{}{text}'", "00".repeat(10) + "ffff"),
        Database::Postgres { .. } => format!("'\\x{}{text}'", "00".repeat(10) + "ffff"),
    };
    let (early, late) = (time(1), time(2));
    let row = |number: u8, address: &str, enabled: &str, end: &str| {
        let ip = ip(address);
        format!(
            "INSERT INTO whitelist (id, account_id, first, last, enabled, expires_at)
             SELECT {number}, id, {ip}, {ip}, (1 = {enabled}), {end} FROM accounts;"
        )
    };
    let earlier = match &database {
        Database::Sqlite { .. } => "PRAGMA user_version = 4;",
        Database::Postgres { .. } => "UPDATE sallyport_schema SET version = 4;",
    };
    let sql = [
        "DROP INDEX whitelist_by_account;".to_owned(),
        "CREATE INDEX whitelist_by_account ON whitelist (account_id, first, last);".to_owned(),
        // Never ends, beside some that end or do not count.
        row(10, "01010101", "1", &late),
        row(11, "01010101", "1", "NULL"),
        row(12, "01010101", "0", "NULL"),
        row(13, "01010101", "1", "NULL"),
        // Ends late; the one without an end is disabled.
        row(20, "02020202", "0", "NULL"),
        row(21, "02020202", "1", &early),
        row(22, "02020202", "1", &late),
        // Alone.
        row(30, "03030303", "0", &early),
        earlier.to_owned(),
    ];
    database.execute(&sql.concat()).await;
    let registry = database.registry().await;
    assert_eq!(numbers(&registry).await, [11, 22, 30]);
    let disabled = json!({"account": "acme", "range": "2.2.2.2", "enabled": false});
    let again = put(&registry, RecordKind::Whitelist, disabled).await.unwrap();
    assert_eq!((again[0].is_new, &again[0].entry["id"]), (false, &json!(22)));
}

on_both! {
    of_many_who_add_a_range_at_once_one_succeeds,
    ranges_may_overlap,
    an_import_names_the_line_that_repeats_a_range,
    earlier_duplicates_become_one_entry,
}
