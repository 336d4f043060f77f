//! Measures the queries to a repository.

use std::{sync::Arc, time::Instant};

use async_trait::async_trait;
use jiff::Timestamp;

use super::prometheus::{Metrics, Query};
use crate::domain::{
    StaticGroup,
    access::{AccountId, Credential},
    extraction::{ExtractionData, ExtractionQuery, StoredExtraction},
    ports::{Found, Repository, RepositoryError},
    search::{SearchPage, SearchQuery},
    token::TokenDigest,
};

/// Wraps a repository to measure its queries.
pub(crate) fn measured(repository: Arc<dyn Repository>, metrics: Arc<Metrics>) -> Arc<dyn Repository> {
    Arc::new(MeasuredRepository { repository, metrics })
}

#[derive(Debug)]
struct MeasuredRepository {
    repository: Arc<dyn Repository>,
    metrics: Arc<Metrics>,
}

impl MeasuredRepository {
    async fn timed<T>(
        &self,
        query: Query,
        result: impl Future<Output = Result<T, RepositoryError>> + Send,
    ) -> Result<T, RepositoryError> {
        let started = Instant::now();
        let result = result.await;
        self.metrics.queried(query, started, result.is_err());
        result
    }
}

#[async_trait]
impl Repository for MeasuredRepository {
    async fn extraction(&self, query: &ExtractionQuery) -> Found<ExtractionData> {
        self.timed(Query::Extraction, self.repository.extraction(query)).await
    }

    async fn store_extraction(
        &self,
        account: AccountId,
        request_id: String,
        extraction: StoredExtraction,
        now: Timestamp,
    ) -> Result<StoredExtraction, RepositoryError> {
        self.timed(Query::Remember, self.repository.store_extraction(account, request_id, extraction, now))
            .await
    }

    async fn credential(&self, digest: TokenDigest) -> Result<Option<Credential>, RepositoryError> {
        self.timed(Query::Credential, self.repository.credential(digest)).await
    }

    async fn groups(&self, digest: TokenDigest) -> Found<Vec<StaticGroup>> {
        self.timed(Query::Groups, self.repository.groups(digest)).await
    }

    async fn search(&self, digest: TokenDigest, query: SearchQuery) -> Found<SearchPage> {
        self.timed(Query::Search, self.repository.search(digest, query)).await
    }
}
