//! Database files that cannot be used: each ends in one clear line. `tests/cli/data.rs` has more of them.

use std::fs;

use rusqlite::Connection;
use sallyport_server::store::{
    Location, OpenError, OpenMode, RecordKind, StoreError, registry::RegistryError, sqlite::SqliteStore,
};
use serde_json::json;

use super::backend::{all, collect, put};

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
        Ok(registry) => match registry.list(RecordKind::Account, Vec::new(), Vec::new(), collect).await {
            Err(RegistryError::Store(source)) => source,
            other => panic!("{other:?}"),
        },
    };
    assert!(matches!(damaged, StoreError::Corrupt { .. }), "{damaged}");
}
