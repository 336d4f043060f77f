//! Database files that cannot be used: each ends in one clear line. `tests/cli/data.rs` has more of them.

use std::{fs, path::Path};

use rusqlite::Connection;
use sallyport_server::store::{
    Location, OpenError, OpenMode, RecordKind, StoreError, registry::RegistryError, sqlite::SqliteStore,
};
use serde_json::json;

use super::backend::{all, collect, put};

fn rejected(path: &Path) -> OpenError {
    let error = SqliteStore::open(path, OpenMode::Existing).unwrap_err();
    assert_eq!(error.to_string().lines().count(), 1);
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    error
}

/// A folder with a good database in it.
fn good() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("good.db");
    drop(SqliteStore::open(&path, OpenMode::Create).unwrap());
    (folder, path)
}

#[test]
fn a_good_one_can_be_opened_again_and_leaves_one_file() {
    let (folder, path) = good();
    drop(SqliteStore::open(&path, OpenMode::Existing).unwrap());
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files, [path], "closing puts the write-ahead log back");
}

#[test]
fn missing_and_not_a_file() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(rejected(&folder.path().join("no.db")), OpenError::Missing { .. }));
    assert!(matches!(rejected(folder.path()), OpenError::Foreign { .. }));
    let nowhere = SqliteStore::open(&folder.path().join("no/folder.db"), OpenMode::Create).unwrap_err();
    assert!(matches!(nowhere, OpenError::Store { source: StoreError::Unavailable { .. }, .. }), "{nowhere}");
}

#[test]
fn something_else() {
    let (_folder, path) = good();
    fs::write(&path, "This is a letter to a friend, long enough to be taken for a page.".repeat(100))
        .unwrap();
    assert!(matches!(rejected(&path), OpenError::Foreign { .. }));

    let (_folder, path) = good();
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    assert!(
        matches!(rejected(&path), OpenError::Foreign { reason, .. } if reason.contains("another program"))
    );
    let tables: u32 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables, 1, "a foreign database is left alone");
}

#[tokio::test]
async fn a_lock_that_comes_later_is_an_error_of_the_call() {
    let (_folder, path) = good();
    let registry = Location::File(path.clone()).open(OpenMode::Existing).await.unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let account = || put(registry.as_ref(), RecordKind::Account, json!({"name": "acme"}));
    let locked = account().await;
    assert!(matches!(locked, Err(RegistryError::Store(StoreError::Locked))), "{locked:?}");
    let accounts = all(registry.as_ref(), RecordKind::Account, &[]).await;
    assert!(accounts.is_empty(), "readers do not wait for writers");
    other.execute_batch("ROLLBACK").unwrap();
    account().await.unwrap();
}

#[tokio::test]
async fn damage_inside_is_found_when_it_is_met() {
    let (_folder, path) = good();
    let mut bytes = fs::read(&path).unwrap();
    let head = 4096.min(bytes.len());
    bytes[head..].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let damaged = match Location::File(path).open(OpenMode::Existing).await {
        Err(OpenError::Store { source, .. }) => source,
        Err(other) => panic!("{other}"),
        Ok(registry) => match registry.list(RecordKind::Account, Vec::new(), None, Vec::new(), collect).await
        {
            Err(RegistryError::Store(source)) => source,
            other => panic!("{other:?}"),
        },
    };
    assert!(matches!(damaged, StoreError::Corrupt { .. }), "{damaged}");
}
