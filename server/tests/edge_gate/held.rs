//! A storage that keeps its callers waiting until a test lets them go.

use async_trait::async_trait;
use jiff::Timestamp;
use sallyport_server::{
    domain::{
        access::{AccountId, Guarded},
        extraction::{ExtractionFacts, ExtractionQuery, StoredExtraction},
        instance::Group,
        search::{SearchPage, SearchQuery},
        token::TokenDigest,
    },
    store::{Lines, LoadError, Pool, Sink, Store, StoreError, Supply, UnloadError, record::Loaded},
};
use tokio::sync::Semaphore;

/// Answers one question for each permit. It knows no token.
#[derive(Debug)]
pub(crate) struct Held(pub(crate) Semaphore);

impl Held {
    async fn answer<T>(&self) -> Result<Option<T>, StoreError> {
        self.0.acquire().await.unwrap().forget();
        Ok(None)
    }
}

#[async_trait]
impl Store for Held {
    fn at_hand(&self, _: &ExtractionQuery) -> Option<Guarded<ExtractionFacts>> {
        None
    }

    async fn extraction(&self, _: &ExtractionQuery) -> Result<Option<Guarded<ExtractionFacts>>, StoreError> {
        self.answer().await
    }

    async fn remember(
        &self,
        _: AccountId,
        _: String,
        _: StoredExtraction,
        _: Timestamp,
    ) -> Result<StoredExtraction, StoreError> {
        Err(StoreError::Closed)
    }

    async fn forget(&self, _: Timestamp) -> Result<u64, StoreError> {
        Err(StoreError::Closed)
    }

    async fn groups(&self, _: TokenDigest) -> Result<Option<Guarded<Vec<Group>>>, StoreError> {
        self.answer().await
    }

    async fn search(
        &self,
        _: TokenDigest,
        _: SearchQuery,
    ) -> Result<Option<Guarded<SearchPage>>, StoreError> {
        self.answer().await
    }

    async fn load(&self, _: Lines) -> Result<Loaded, LoadError> {
        Err(StoreError::Closed.into())
    }

    async fn unload(&self, _: Box<dyn Sink>) -> Result<Loaded, UnloadError> {
        Err(StoreError::Closed.into())
    }

    async fn supply(&self) -> Result<Vec<Supply>, StoreError> {
        Err(StoreError::Closed)
    }

    fn pool(&self) -> Pool {
        Pool::default()
    }
}
