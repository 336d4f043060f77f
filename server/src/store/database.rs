//! The store on either database: queries over sessions, and the cache in front of those that come with every call.

use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;
use jiff::Timestamp;

use super::{
    Pool, Result, Store, StoreError, Work,
    cache::{Cache, Epoch, Epochs},
    queries,
    queries::Statements,
    session::{Access, Dialect, Session},
};
use crate::domain::{
    StaticGroup,
    access::{AccountId, Credential},
    extraction::{ExtractionData, ExtractionQuery, Parameters, StoredExtraction},
    ports::{Found, Repository, RepositoryError},
    search::{SearchPage, SearchQuery},
    token::TokenDigest,
};

/// One of the databases: opens sessions, and says until when what they read may be used.
pub trait Backend: Debug + Send + Sync + 'static {
    /// The SQL of the database.
    const DIALECT: &'static Dialect;

    /// Runs `work` in a session, on a thread that may block. It goes on if the caller stops waiting. What [`Access::Change`] and
    /// [`Access::Import`] changed is undone if `work` fails, and so is [`Access::Write`] on SQLite.
    fn run<T, E>(
        &self,
        access: Access,
        work: impl FnOnce(&mut dyn Session) -> Result<T, E> + Send + 'static,
    ) -> impl Future<Output = Result<T, E>> + Send
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static;

    /// The current epochs; `None` if they cannot be told at once.
    fn epochs(&self) -> Option<Epochs>;

    /// Waits until no server uses what it read before a change that was committed.
    fn wait_until_in_force(&self) -> impl Future<Output = ()> + Send;

    /// The connections at this moment.
    fn pool(&self) -> Pool;
}

/// An open database.
#[derive(Debug)]
pub struct Database<B> {
    pub(super) backend: Arc<B>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    statements: Statements,
    cache: Cache,
}

impl<B: Backend> Database<B> {
    pub(super) fn new(backend: B) -> Self {
        let shared = Shared { statements: Statements::new(B::DIALECT), cache: Cache::new() };
        Self { backend: Arc::new(backend), shared: Arc::new(shared) }
    }

    /// Queries the data of an extraction, and caches what others may use of it.
    async fn queried(&self, query: &ExtractionQuery, epochs: Option<Epochs>) -> Found<ExtractionData> {
        let (shared, asked) = (&self.shared, query.clone());
        let used = Arc::clone(shared);
        let found = move |session: &mut dyn Session| queries::extraction(session, &used.statements, &asked);
        let found = self.backend.run(Access::Read, found).await?;
        if let (Some(data), Some(epochs), None) = (&found, epochs, &query.request_id) {
            shared.cache.insert_account(query, data, epochs.access);
            // Regions without gateways are not cached, because callers can invent any number of them.
            let has_gateways = !data.value().candidates.is_empty();
            if has_gateways && shared.cache.should_read_gateways(&query.parameters, epochs.gateways) {
                tokio::spawn(cache_gateways(
                    Arc::clone(&self.backend),
                    Arc::clone(shared),
                    query.parameters.clone(),
                    epochs.gateways,
                ));
            }
        }
        Ok(found)
    }
}

/// Reads all gateways that match into the cache, while the caller has its response already.
async fn cache_gateways<B: Backend>(
    backend: Arc<B>,
    shared: Arc<Shared>,
    parameters: Parameters,
    read_at: Epoch,
) {
    let read = backend.run(Access::Read, move |session| {
        let gateways = queries::gateways(session, &shared.statements, &parameters)?;
        shared.cache.insert_gateways(&parameters, gateways, read_at);
        Ok::<_, StoreError>(())
    });
    if let Err(error) = read.await {
        tracing::warn!(%error, "cannot read gateways into the cache");
    }
}

#[async_trait]
impl<B: Backend> Repository for Database<B> {
    async fn extraction(&self, query: &ExtractionQuery) -> Found<ExtractionData> {
        let epochs = self.backend.epochs();
        if let Some(data) = epochs.and_then(|epochs| self.shared.cache.extraction(query, epochs)) {
            return Ok(Some(data));
        }
        // Boxed to keep the future small, because most extractions are served from the cache.
        Box::pin(self.queried(query, epochs)).await
    }

    async fn store_extraction(
        &self,
        account: AccountId,
        request_id: String,
        extraction: StoredExtraction,
        now: Timestamp,
    ) -> Result<StoredExtraction, RepositoryError> {
        let store = move |session: &mut dyn Session| {
            queries::store_extraction(session, account, &request_id, extraction, now)
        };
        Ok(self.backend.run(Access::Write, store).await?)
    }

    async fn credential(&self, digest: TokenDigest) -> Result<Option<Credential>, RepositoryError> {
        let epoch = self.backend.epochs().map(|epochs| epochs.access);
        if let Some(credential) = epoch.and_then(|now| self.shared.cache.credential(digest, now)) {
            return Ok(Some(credential));
        }
        let credential = self.backend.run(Access::Read, move |session| queries::credential(session, digest));
        let credential = credential.await?;
        if let (Some(credential), Some(epoch)) = (credential, epoch) {
            self.shared.cache.insert_credential(digest, credential, epoch);
        }
        Ok(credential)
    }

    async fn groups(&self, digest: TokenDigest) -> Found<Vec<StaticGroup>> {
        Ok(self.backend.run(Access::Read, move |session| queries::groups(session, digest)).await?)
    }

    async fn search(&self, digest: TokenDigest, query: SearchQuery) -> Found<SearchPage> {
        let shared = Arc::clone(&self.shared);
        let search =
            move |session: &mut dyn Session| queries::search(session, &shared.statements, digest, &query);
        Ok(self.backend.run(Access::Read, search).await?)
    }
}

#[async_trait]
impl<B: Backend> Store for Database<B> {
    async fn execute(&self, access: Access, work: Work) -> Result<()> {
        self.backend.run(access, work).await
    }

    async fn wait_until_in_force(&self) {
        self.backend.wait_until_in_force().await;
    }

    fn pool(&self) -> Pool {
        self.backend.pool()
    }

    fn cache_hits(&self) -> u64 {
        self.shared.cache.hits()
    }
}
