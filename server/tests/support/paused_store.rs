//! A storage that keeps its callers waiting until a test lets them go.

use async_trait::async_trait;
use jiff::Timestamp;
use sallyport_server::{
    data::seed::seed,
    domain::{
        access::{AccountId, Credential},
        extraction::{ExtractionData, ExtractionQuery, StoredExtraction},
        ports::{Found, Lists, Repository, RepositoryError},
        search::{Filters, SearchPage, SearchQuery},
        token::TokenDigest,
    },
    store::{Access, Pool, Store, StoreError, Work, sqlite::SqliteStore},
};
use tokio::sync::Semaphore;

/// Handles one query for each permit. Every token is good, and nothing is found with it.
#[derive(Debug)]
pub(crate) struct PausedStore {
    pub(crate) permits: Semaphore,
    credential: Credential,
}

impl PausedStore {
    /// Without a permit.
    pub(crate) async fn new() -> Self {
        let store = SqliteStore::temporary().unwrap();
        let sample = seed(&store).await.unwrap();
        let credential = store.credential(sample.tokens.main.digest()).await.unwrap().unwrap();
        Self { permits: Semaphore::new(0), credential }
    }

    async fn permitted<T>(&self) -> Result<Option<T>, RepositoryError> {
        self.permits.acquire().await.unwrap().forget();
        Ok(None)
    }
}

#[async_trait]
impl<T> Lists<T> for PausedStore {
    async fn items(&self, _: TokenDigest, _: Filters) -> Found<Vec<T>> {
        self.permitted().await
    }
}

#[async_trait]
impl Repository for PausedStore {
    async fn extraction(&self, _: &ExtractionQuery, _: i64) -> Found<ExtractionData> {
        self.permitted().await
    }

    async fn store_extraction(
        &self,
        _: AccountId,
        _: String,
        _: StoredExtraction,
        _: Timestamp,
    ) -> Result<StoredExtraction, RepositoryError> {
        Err(StoreError::Closed.into())
    }

    async fn credential(&self, _: TokenDigest) -> Result<Option<Credential>, RepositoryError> {
        Ok(Some(self.credential))
    }

    async fn search(&self, _: TokenDigest, _: SearchQuery) -> Found<SearchPage> {
        self.permitted().await
    }
}

#[async_trait]
impl Store for PausedStore {
    async fn execute(&self, _: Access, _: Work) -> Result<(), StoreError> {
        Err(StoreError::Closed)
    }

    async fn wait_until_in_force(&self) {}

    fn pool(&self) -> Pool {
        Pool::default()
    }

    fn cache_hits(&self) -> u64 {
        0
    }
}
