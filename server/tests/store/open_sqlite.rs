//! A database file that is damaged inside. `tests/cli/data.rs` has others that cannot be used.

use std::fs;

use sallyport_server::store::{
    Location, OpenError, OpenMode, RecordKind, StoreError, registry::RegistryError, sqlite::SqliteStore,
};

use super::backend::collect;

#[tokio::test]
async fn damage_inside_is_found_when_it_is_met() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("good.db");
    drop(SqliteStore::open(&path, OpenMode::Create).unwrap());
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
