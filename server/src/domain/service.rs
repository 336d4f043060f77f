//! The operations: data from the repository, decisions here.

use std::{sync::Arc, time::Instant};

use jiff::Timestamp;

use super::{
    access::{AccountId, Purpose},
    clock::Clock,
    extraction::{Extraction, ExtractionData, ExtractionQuery, StoredExtraction},
    ports::{Found, Item, Lists, Observer, Query, Repository, RepositoryError},
    rejection::Rejection,
    search::{Filters, SearchPage, SearchQuery},
    token::Token,
};

/// The service behind the edge. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    pub(crate) repository: Arc<dyn Repository>,
    pub(crate) clock: Clock,
    /// Counts the queries.
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

impl Service {
    /// A service on the data of `repository`.
    pub fn new(repository: Arc<dyn Repository>) -> Self {
        Self { repository, clock: Clock::system(), observer: None }
    }

    /// The result of a query, or the rejection for its failure, which is logged with its details.
    async fn queried<T>(
        &self,
        query: Query,
        result: impl Future<Output = Result<T, RepositoryError>> + Send,
    ) -> Result<T, Rejection> {
        let started = Instant::now();
        let result = result.await;
        if let Some(observer) = &self.observer {
            observer.queried(query, started.elapsed(), result.is_err());
        }
        result.map_err(|error| {
            tracing::error!(%error, "the storage failed");
            error.rejection
        })
    }

    /// The data of a query with their account, if the token may be used for `purpose`. The log line of the call gets the account.
    async fn authorized<T>(
        &self,
        query: Query,
        found: impl Future<Output = Found<T>> + Send,
        purpose: Purpose,
        now: Timestamp,
    ) -> Result<(AccountId, T), Rejection> {
        let data = self.queried(query, found).await?.ok_or(Rejection::TokenUnknown)?;
        let (account, value) = data.authorize(purpose, now)?;
        tracing::Span::current().record("account", account.0);
        Ok((account, value))
    }

    /// Extracts gateways for the account that owns the token. The result has at least one gateway, and fewer than requested only
    /// if no more match (`extract.partial`). A request id that the account has used before returns the same gateways
    /// (`extract.idempotent`).
    ///
    /// # Errors
    /// The first of these conditions that fails: the token, the caller's address, the account's verification, its entitlement,
    /// the parameters of a known request id, and available gateways.
    pub async fn extract(&self, query: ExtractionQuery) -> Result<Extraction, Rejection> {
        let now = self.clock.now();
        let found = self.repository.extraction(&query, rand::random());
        let found = self.authorized(Query::Extraction, found, Purpose::Extraction, now).await?;
        let (owner, ExtractionData { account, stored, candidates }) = found;
        let parameters = &query.parameters;
        let caller_ip = account.authorize_extraction(query.caller_ip, parameters.protocol, now)?;
        let endpoints = match (stored, &query.request_id) {
            (Some(stored), _) => stored.repeat(parameters)?,
            (None, Some(request_id)) if !candidates.is_empty() => {
                let new = StoredExtraction { parameters: parameters.clone(), endpoints: candidates };
                let stored = self.repository.store_extraction(owner, request_id.clone(), new, now);
                self.queried(Query::Remember, stored).await?.repeat(parameters)?
            }
            (None, _) => candidates,
        };
        if endpoints.is_empty() {
            return Err(Rejection::Shortage);
        }
        Ok(Extraction { endpoints, requested: parameters.count, caller_ip })
    }

    /// Checks whether the token may be used for `purpose`, before the body of a request is received.
    pub async fn authenticate(&self, token: &Token, purpose: Purpose) -> Result<(), Rejection> {
        let credential = self.queried(Query::Credential, self.repository.credential(token.digest())).await?;
        credential.ok_or(Rejection::TokenUnknown)?.authorize(purpose, self.clock.now())
    }

    /// All of what the account has of one type and passes the filters.
    pub async fn list<T: Item>(&self, token: &Token, filters: Filters) -> Result<Vec<T>, Rejection>
    where
        dyn Repository: Lists<T>,
    {
        let found = Lists::<T>::items(&*self.repository, token.digest(), filters);
        Ok(self.authorized(T::QUERY, found, Purpose::Static, self.clock.now()).await?.1)
    }

    /// One page of the account's instances at the addresses that pass the filters (`search.intersection`).
    pub async fn search(&self, token: &Token, query: SearchQuery) -> Result<SearchPage, Rejection> {
        let found = self.repository.search(token.digest(), query);
        Ok(self.authorized(Query::Search, found, Purpose::Static, self.clock.now()).await?.1)
    }
}
