//! The store on either database: queries over sessions, and the cache in front of those that come with every call.

use std::{
    fmt::Debug,
    sync::{Arc, atomic::Ordering},
};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::oneshot;

use super::{
    Pool, Result, StoreError, Work,
    cache::{Cache, Epoch, Epochs},
    queries::{self, Listed, Statements},
    session::{Access, Dialect, Session},
};
use crate::domain::{
    access::{AccountId, Credential},
    extraction::{ExtractionData, ExtractionQuery, Parameters, StoredExtraction},
    ports::{Found, Lists, Repository, RepositoryError},
    search::{Filters, SearchPage, SearchQuery},
    token::TokenDigest,
};

/// One of the databases: opens sessions, and says until when what they read may be used.
#[async_trait]
pub trait Backend: Debug + Send + Sync + 'static {
    /// The SQL of the database.
    fn dialect(&self) -> &'static Dialect;

    /// Runs `work` in a session, on a thread that may block. It goes on if the caller stops waiting. What
    /// [`Access::Change`] changed is undone if `work` fails, and so is [`Access::Write`] on SQLite.
    async fn execute(&self, access: Access, work: Work) -> Result<()>;

    /// The current epochs; `None` if they cannot be told at once.
    fn epochs(&self) -> Option<Epochs>;

    /// The connections at this moment.
    fn pool(&self) -> Pool;
}

/// An open database: the domain's repository, and sessions for all else that is done with it.
#[derive(Debug)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    backend: Box<dyn Backend>,
    statements: Statements,
    cache: Cache,
}

impl Store {
    /// The store on this database.
    #[doc(hidden)]
    pub fn new(backend: impl Backend) -> Self {
        let statements = Statements::new(backend.dialect());
        Self(Arc::new(Inner { backend: Box::new(backend), statements, cache: Cache::new() }))
    }

    /// Runs `work` in a session, and undoes its changes if it fails.
    pub(super) async fn run<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        access: Access,
        work: impl FnOnce(&mut dyn Session) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (reply, mut response) = oneshot::channel();
        let work: Work = Box::new(move |session| {
            let outcome = work(session);
            // The error only has the changes undone; that of the outcome is returned.
            let is_kept = outcome.as_ref().map(drop).map_err(|_| StoreError::Closed);
            // The caller may have stopped waiting.
            let _ = reply.send(outcome);
            is_kept
        });
        let executed = self.0.backend.execute(access, work).await;
        match response.try_recv() {
            Ok(Ok(value)) => executed.map(|()| value).map_err(E::from),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(executed.err().unwrap_or(StoreError::Closed).into()),
        }
    }

    /// Deletes up to 500 of the oldest extractions that were stored before `end`. Returns their number, `0` if none is left.
    pub async fn delete_extractions(&self, end: Timestamp) -> Result<u64, StoreError> {
        self.run(Access::Write, move |session| queries::delete_extractions(session, end)).await
    }

    /// When the newest extraction was stored, by the clock of the server that stored it.
    pub async fn newest_extraction(&self) -> Result<Option<Timestamp>, StoreError> {
        self.run(Access::Read, queries::newest_extraction).await
    }

    /// Waits until no server uses what it read before a change that was committed.
    pub(super) async fn wait_until_in_force(&self) {
        let lease = self.0.backend.dialect().lease;
        // A clock that is being adjusted runs at most a tenth slower or faster.
        tokio::time::sleep(lease + lease / 4).await;
    }

    /// The connections to the database at this moment.
    pub fn pool(&self) -> Pool {
        self.0.backend.pool()
    }

    /// Number of extractions that were served from memory, without a query.
    pub fn cache_hits(&self) -> u64 {
        self.0.cache.hits.load(Ordering::Relaxed)
    }

    /// Queries the data of an extraction, and caches what others may use of it.
    async fn queried(
        &self,
        query: &ExtractionQuery,
        pivot: i64,
        epochs: Option<Epochs>,
    ) -> Found<ExtractionData> {
        let (used, asked) = (Arc::clone(&self.0), query.clone());
        let found = self
            .run(Access::Read, move |session| queries::extraction(session, &used.statements, &asked, pivot));
        let found = found.await?;
        if let (Some(data), Some(epochs), None) = (&found, epochs, &query.request_id) {
            self.0.cache.insert_account(query, data, epochs.access);
            // Regions without gateways are not cached, because callers can invent any number of them.
            let has_gateways = !data.value().candidates.is_empty();
            if has_gateways && self.0.cache.should_read_gateways(&query.parameters, epochs.gateways) {
                let (store, parameters) = (Self(Arc::clone(&self.0)), query.parameters.clone());
                tokio::spawn(store.cache_gateways(parameters, epochs.gateways));
            }
        }
        Ok(found)
    }

    /// Reads all gateways that match into the cache, while the caller has its response already.
    async fn cache_gateways(self, parameters: Parameters, read_at: Epoch) {
        let used = Arc::clone(&self.0);
        let read = self.0.backend.execute(
            Access::Read,
            Box::new(move |session| {
                let gateways = queries::gateways(session, &used.statements, &parameters)?;
                used.cache.insert_gateways(&parameters, gateways, read_at);
                Ok(())
            }),
        );
        if let Err(error) = read.await {
            tracing::warn!(%error, "cannot read gateways into the cache");
        }
    }
}

#[async_trait]
impl<T: Listed> Lists<T> for Store {
    async fn items(&self, digest: TokenDigest, filters: Filters) -> Found<Vec<T>> {
        Ok(self.run(Access::Read, move |session| queries::list(session, digest, &filters)).await?)
    }
}

#[async_trait]
impl Repository for Store {
    async fn extraction(&self, query: &ExtractionQuery, pivot: i64) -> Found<ExtractionData> {
        let epochs = self.0.backend.epochs();
        if let Some(data) = epochs.and_then(|epochs| self.0.cache.extraction(query, pivot, epochs)) {
            return Ok(Some(data));
        }
        // Boxed to keep the future small, because most extractions are served from the cache.
        Box::pin(self.queried(query, pivot, epochs)).await
    }

    async fn store_extraction(
        &self,
        account: AccountId,
        request_id: String,
        extraction: StoredExtraction,
        now: Timestamp,
    ) -> Result<StoredExtraction, RepositoryError> {
        let stored = self.run(Access::Write, move |session| {
            queries::store_extraction(session, account, &request_id, extraction, now)
        });
        Ok(stored.await?)
    }

    async fn credential(&self, digest: TokenDigest) -> Result<Option<Credential>, RepositoryError> {
        let epoch = self.0.backend.epochs().map(|epochs| epochs.access);
        if let Some(credential) = epoch.and_then(|now| self.0.cache.credential(digest, now)) {
            return Ok(Some(credential));
        }
        let credential = self.run(Access::Read, move |session| queries::credential(session, digest));
        let credential = credential.await?;
        if let (Some(credential), Some(epoch)) = (credential, epoch) {
            self.0.cache.insert_credential(digest, credential, epoch);
        }
        Ok(credential)
    }

    async fn search(&self, digest: TokenDigest, query: SearchQuery) -> Found<SearchPage> {
        let used = Arc::clone(&self.0);
        let found =
            self.run(Access::Read, move |session| queries::search(session, &used.statements, digest, &query));
        Ok(found.await?)
    }
}
