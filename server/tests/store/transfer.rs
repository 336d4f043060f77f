//! Exports, and what becomes of them in another database.

use std::{
    io::Cursor,
    sync::{Arc, mpsc},
};

use sallyport_server::{
    data::{export::export, import::import, seed::seed},
    domain::token::TokenKind,
    store::{RecordKind, Store, record::Record},
};

use super::{
    backend::{Database, on_both},
    shared_buffer::SharedBuffer,
};

async fn exported(store: &Store) -> String {
    let output = SharedBuffer::default();
    export(store, output.clone()).await.unwrap();
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
        let loaded = import(copy.as_ref(), Cursor::new(whole.clone())).await.unwrap();
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
    let registry = database.open().await;
    registry.issue_token("aurora", TokenKind::Api, None).await.unwrap();
    release.send(()).unwrap();
    let (tokens, unloaded) = unload.await.unwrap().unwrap();
    assert_eq!((unloaded[RecordKind::Token], unloaded), (tokens, sample.loaded));
    let (_, now) = registry.unload((), |(), _| Ok(())).await.unwrap();
    assert_eq!(now[RecordKind::Token], unloaded[RecordKind::Token] + 1);
}

on_both! {
    an_export_is_the_same_from_whatever_database_it_is_imported_to,
    an_export_shows_one_moment_and_is_in_nobodys_way,
}
