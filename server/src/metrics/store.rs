//! A store that measures another.

use std::{sync::Arc, time::Instant};

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Metrics, Question};
use crate::{
    domain::{
        access::{AccountId, Credential, Guarded},
        extraction::{ExtractionFacts, ExtractionQuery, StoredExtraction},
        instance::Group,
        search::{SearchPage, SearchQuery},
        token::TokenDigest,
    },
    store::{Lines, LoadError, Pool, Sink, Store, StoreError, Supply, UnloadError, record::Loaded},
};

/// Hands every question on, and takes the time of those that callers wait for.
#[derive(Debug)]
pub(crate) struct MeasuredStore {
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
}

impl MeasuredStore {
    pub(crate) fn new(store: Arc<dyn Store>, metrics: Arc<Metrics>) -> Self {
        Self { store, metrics }
    }

    async fn timed<T>(
        &self,
        question: Question,
        answer: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let begun = Instant::now();
        let answer = answer.await;
        self.metrics.asked(question, begun, answer.is_err());
        answer
    }
}

#[async_trait]
impl Store for MeasuredStore {
    fn at_hand(&self, query: &ExtractionQuery) -> Option<Guarded<ExtractionFacts>> {
        let facts = self.store.at_hand(query)?;
        // No time is taken: to look at the clock twice would be a good part of it.
        self.metrics.at_hand.inc();
        Some(facts)
    }

    async fn extraction(
        &self,
        query: &ExtractionQuery,
    ) -> Result<Option<Guarded<ExtractionFacts>>, StoreError> {
        self.timed(Question::Extraction, self.store.extraction(query)).await
    }

    async fn remember(
        &self,
        account: AccountId,
        request_id: String,
        extraction: StoredExtraction,
        now: Timestamp,
    ) -> Result<StoredExtraction, StoreError> {
        self.timed(Question::Remember, self.store.remember(account, request_id, extraction, now)).await
    }

    async fn forget(&self, end: Timestamp) -> Result<u64, StoreError> {
        self.store.forget(end).await
    }

    async fn credential(&self, digest: TokenDigest) -> Result<Option<Credential>, StoreError> {
        self.timed(Question::Credential, self.store.credential(digest)).await
    }

    async fn groups(&self, digest: TokenDigest) -> Result<Option<Guarded<Vec<Group>>>, StoreError> {
        self.timed(Question::Groups, self.store.groups(digest)).await
    }

    async fn search(
        &self,
        digest: TokenDigest,
        query: SearchQuery,
    ) -> Result<Option<Guarded<SearchPage>>, StoreError> {
        self.timed(Question::Search, self.store.search(digest, query)).await
    }

    async fn load(&self, lines: Lines) -> Result<Loaded, LoadError> {
        self.store.load(lines).await
    }

    async fn unload(&self, sink: Box<dyn Sink>) -> Result<Loaded, UnloadError> {
        self.store.unload(sink).await
    }

    async fn supply(&self) -> Result<Vec<Supply>, StoreError> {
        self.store.supply().await
    }

    fn pool(&self) -> Pool {
        self.store.pool()
    }
}
