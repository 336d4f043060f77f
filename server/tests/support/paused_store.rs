//! A storage that keeps its callers waiting until a test lets them go.

use std::sync::Arc;

use async_trait::async_trait;
use sallyport_server::{
    data::seed::seed,
    domain::{ports::Repository as _, token::Token},
    store::{Access, Backend, Dialect, Epochs, Pool, Store, StoreError, Work, sqlite::Sqlite},
};
use tokio::sync::Semaphore;

/// A store with sample data that does one thing for each permit.
pub(crate) struct PausedStore {
    pub(crate) store: Arc<Store>,
    pub(crate) permits: Arc<Semaphore>,
    /// A token that is known without a permit.
    pub(crate) token: Token,
}

impl PausedStore {
    /// Without a permit.
    pub(crate) async fn new() -> Self {
        const ENOUGH: usize = 9;
        let permits = Arc::new(Semaphore::new(ENOUGH));
        let paused = Paused { sqlite: Sqlite::temporary().unwrap(), permits: Arc::clone(&permits) };
        let store = Arc::new(Store::new(paused));
        let token = seed(&store).await.unwrap().tokens.main;
        store.credential(token.digest()).await.unwrap().unwrap();
        permits.forget_permits(ENOUGH);
        Self { store, permits, token }
    }
}

#[derive(Debug)]
struct Paused {
    sqlite: Sqlite,
    permits: Arc<Semaphore>,
}

#[async_trait]
impl Backend for Paused {
    async fn execute(&self, access: Access, work: Work) -> Result<(), StoreError> {
        self.permits.acquire().await.unwrap().forget();
        self.sqlite.execute(access, work).await
    }

    fn dialect(&self) -> &'static Dialect {
        self.sqlite.dialect()
    }

    fn epochs(&self) -> Option<Epochs> {
        self.sqlite.epochs()
    }

    fn pool(&self) -> Pool {
        self.sqlite.pool()
    }
}
