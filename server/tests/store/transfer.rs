//! Exports, and what becomes of them in another database.

use std::{
    io::{BufRead as _, BufReader, Cursor, Write},
    sync::{Arc, mpsc},
};

use sallyport_server::{
    data::{export::export, import::import, seed::seed},
    domain::token::TokenKind,
    store::{RecordKind, Store, UnloadError, record::Record},
};

use super::{
    backend::{Database, all, on_both},
    shared_buffer::SharedBuffer,
};

async fn exported(store: &dyn Store) -> String {
    let output = SharedBuffer::default();
    export(store, output.clone(), |_| {}).await.unwrap();
    output.text()
}

async fn an_export_is_the_same_from_whatever_database_it_is_imported_to(database: Database) {
    let store = database.open().await;
    let sample = seed(store.as_ref()).await.unwrap();
    let whole = exported(store.as_ref()).await;
    for token in sample.tokens.list() {
        assert!(!whole.contains(token.token.expose()), "only hashes");
    }
    for other in [Database::sqlite(), Database::postgres().await].into_iter().flatten() {
        let copy = other.open().await;
        let loaded = import(copy.as_ref(), Cursor::new(whole.clone()), |_| {}).await.unwrap();
        assert_eq!(loaded, sample.loaded);
        assert!(exported(copy.as_ref()).await == whole, "the copy differs");
    }
}

async fn an_export_shows_one_moment_and_is_in_nobodys_way(database: Database) {
    let store = database.open().await;
    let sample = seed(store.as_ref()).await.unwrap();
    let ((begun, has_begun), (release, go_on)) = (mpsc::channel(), mpsc::channel());
    let mut begun = Some(begun);
    let write = move |tokens: &mut u64, record: &Record| {
        // Waits at the first record.
        if let Some(begun) = begun.take() {
            begun.send(()).map_err(std::io::Error::other)?;
            go_on.recv().map_err(std::io::Error::other)?;
        }
        *tokens += u64::from(record.kind() == RecordKind::Token);
        Ok(())
    };
    let reading = Arc::clone(&store);
    let unload = tokio::spawn(async move { reading.unload(0, write).await });
    tokio::task::spawn_blocking(move || has_begun.recv()).await.unwrap().unwrap();
    let registry = database.registry().await;
    registry.issue_token("aurora", TokenKind::Api, None).await.unwrap();
    release.send(()).unwrap();
    let (tokens, unloaded) = unload.await.unwrap().unwrap();
    assert_eq!((unloaded[RecordKind::Token], unloaded), (tokens, sample.loaded));
    let tokens = all(registry.as_ref(), RecordKind::Token, &[]).await;
    assert_eq!(tokens.len() as u64, unloaded[RecordKind::Token] + 1);
}

async fn an_output_that_fails_ends_the_export(database: Database) {
    struct FullDisk;
    impl Write for FullDisk {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let store = database.open().await;
    seed(store.as_ref()).await.unwrap();
    let failed = export(store.as_ref(), FullDisk, |_| {}).await;
    assert!(matches!(failed, Err(UnloadError::Output(_))), "{failed:?}");
    let accounts = all(database.registry().await.as_ref(), RecordKind::Account, &["name=aurora"]).await;
    assert_eq!(accounts.len(), 1, "the database goes on");
}

/// So many instances, unless `SALLYPORT_TEST_ROWS` says how many.
const ROWS: u64 = 20_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_rows_move_from_sqlite_to_postgresql_and_back_unchanged() {
    let Some(postgres) = Database::postgres().await else { return };
    let rows = std::env::var("SALLYPORT_TEST_ROWS").map_or(ROWS, |rows| rows.parse().unwrap());
    let (first, last) = (Database::sqlite().unwrap(), Database::sqlite().unwrap());
    let store = first.open().await;
    let sample = seed(store.as_ref()).await.unwrap();
    // Copies of the sample's instances, of which there is one for every peculiarity that an instance can have.
    first
        .execute(&format!(
            "WITH RECURSIVE copies (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM copies
                                                WHERE number < 1 + {rows} / (SELECT count(*) FROM instances))
             INSERT INTO instances
                 SELECT id + number * (SELECT max(id) FROM instances), account_id, ip, port, order_no, offer_id,
                        status, protocols, country_code, city_code, isp_type, expires_at, activated_at,
                        capabilities, group_id, username, password
                 FROM copies, instances"
        ))
        .await;
    let original = exported_to_file(store.as_ref()).await;
    for database in [postgres, last] {
        let copy = database.open().await;
        let again = import(copy.as_ref(), BufReader::new(original.reopen().unwrap()), |_| {}).await.unwrap();
        for kind in RecordKind::ALL.into_iter().filter(|kind| *kind != RecordKind::Instance) {
            assert_eq!(again[kind], sample.loaded[kind], "{kind:?}");
        }
        assert!(again[RecordKind::Instance] >= rows, "{again:?}");
        assert!(same(&original, &exported_to_file(copy.as_ref()).await), "the copy differs");
    }
}

async fn exported_to_file(store: &dyn Store) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    export(store, file.reopen().unwrap(), |_| {}).await.unwrap();
    file
}

fn same(one: &tempfile::NamedTempFile, other: &tempfile::NamedTempFile) -> bool {
    let lines = |file: &tempfile::NamedTempFile| {
        BufReader::new(file.reopen().unwrap()).split(b'\n').map(|line| line.unwrap())
    };
    lines(one).eq(lines(other))
}

on_both! {
    an_export_is_the_same_from_whatever_database_it_is_imported_to,
    an_export_shows_one_moment_and_is_in_nobodys_way,
    an_output_that_fails_ends_the_export,
}
