//! Exports, and what becomes of them in another database.

use std::{
    io::{Cursor, Write},
    sync::{Arc, Mutex, mpsc},
};

use sallyport_server::{
    data::{export::export, import::import, seed::seed, tokens},
    domain::token::TokenKind,
    store::{Sink, Store, UnloadError, record::Record},
};

use crate::backend::{Database, on_both};

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn exported(store: &dyn Store) -> String {
    let output = Output::default();
    export(store, output.clone(), |_| {}).await.unwrap();
    String::from_utf8(output.0.lock().unwrap().clone()).unwrap()
}

async fn an_export_is_the_same_from_whatever_database_it_is_imported_to(database: Database) {
    let store = database.open().await;
    let sample = seed(store.as_ref()).await.unwrap();
    let whole = exported(store.as_ref()).await;
    for token in sample.tokens.list() {
        assert!(!whole.contains(token.1.expose()), "only hashes");
    }
    for other in [Database::sqlite(), Database::postgres().await].into_iter().flatten() {
        let copy = other.open().await;
        let loaded = import(copy.as_ref(), Cursor::new(whole.clone()), |_| {}).await.unwrap();
        assert_eq!(loaded, sample.loaded);
        assert!(exported(copy.as_ref()).await == whole, "the copy differs");
    }
}

async fn an_export_shows_one_moment_and_is_in_nobodys_way(database: Database) {
    /// Waits at the first record.
    struct Slow {
        begun: Option<mpsc::Sender<()>>,
        go_on: mpsc::Receiver<()>,
        tokens: Arc<Mutex<usize>>,
    }
    impl Sink for Slow {
        fn take(&mut self, record: &Record) -> std::io::Result<()> {
            if let Some(begun) = self.begun.take() {
                begun.send(()).map_err(std::io::Error::other)?;
                self.go_on.recv().map_err(std::io::Error::other)?;
            }
            *self.tokens.lock().unwrap() += usize::from(matches!(record, Record::Token(_)));
            Ok(())
        }

        fn end(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let store = database.open().await;
    let sample = seed(store.as_ref()).await.unwrap();
    let ((begun, has_begun), (release, go_on)) = (mpsc::channel(), mpsc::channel());
    let taken = Arc::new(Mutex::new(0));
    let sink = Slow { begun: Some(begun), go_on, tokens: Arc::clone(&taken) };
    let reading = Arc::clone(&store);
    let unload = tokio::spawn(async move { reading.unload(Box::new(sink)).await });
    tokio::task::spawn_blocking(move || has_begun.recv()).await.unwrap().unwrap();
    tokens::issue(store.as_ref(), "aurora", TokenKind::Api, None).await.unwrap();
    release.send(()).unwrap();
    let unloaded = unload.await.unwrap().unwrap();
    assert_eq!((unloaded.tokens, unloaded), (*taken.lock().unwrap() as u64, sample.loaded));
    assert_eq!(store.tokens().await.unwrap().len() as u64, unloaded.tokens + 1);
}

async fn an_output_that_fails_ends_the_export(database: Database) {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let store = database.open().await;
    seed(store.as_ref()).await.unwrap();
    let failed = export(store.as_ref(), Full, |_| {}).await;
    assert!(matches!(failed, Err(UnloadError::Output(_))), "{failed:?}");
    assert!(!store.tokens().await.unwrap().is_empty(), "the store goes on");
}

on_both! {
    an_export_is_the_same_from_whatever_database_it_is_imported_to,
    an_export_shows_one_moment_and_is_in_nobodys_way,
    an_output_that_fails_ends_the_export,
}
