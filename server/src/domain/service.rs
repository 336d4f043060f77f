//! The operations: data from the repository, decisions here.

use std::{sync::Arc, time::Instant};

use super::{
    StaticGroup,
    access::{AccountId, ProtectedData, Purpose},
    clock::Clock,
    extraction::{Extraction, ExtractionData, ExtractionQuery, StoredExtraction},
    ports::{Observer, Query, Repository, RepositoryError},
    rejection::Rejection,
    search::{SearchPage, SearchQuery},
    token::Token,
};

/// The service behind the edge. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Service {
    pub(super) repository: Arc<dyn Repository>,
    pub(super) clock: Clock,
    observer: Option<Arc<dyn Observer>>,
}

impl Service {
    /// A service on the data of `repository`.
    pub fn new(repository: Arc<dyn Repository>) -> Self {
        Self { repository, clock: Clock::system(), observer: None }
    }

    /// The same service with another clock.
    pub(crate) fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// The same service, whose queries are counted.
    pub(crate) fn observed_by(self, observer: Arc<dyn Observer>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// The result of a query, or the rejection for its failure.
    pub(super) async fn queried<T>(
        &self,
        query: Query,
        result: impl Future<Output = Result<T, RepositoryError>> + Send,
    ) -> Result<T, Rejection> {
        let started = Instant::now();
        let result = result.await;
        if let Some(observer) = &self.observer {
            observer.queried(query, started.elapsed(), result.is_err());
        }
        result.map_err(rejection)
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
        let data = self.repository.extraction(&query, rand::random());
        let data = self.queried(Query::Extraction, data).await?;
        let (owner, data) = known(data)?.authorize(Purpose::Extraction, now)?;
        record_account(owner);
        let ExtractionData { account, stored, candidates } = data;
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

    /// The account's groups, ascending by id.
    pub async fn groups(&self, token: &Token) -> Result<Vec<StaticGroup>, Rejection> {
        let groups = self.queried(Query::Groups, self.repository.groups(token.digest())).await?;
        let (account, groups) = known(groups)?.authorize(Purpose::Static, self.clock.now())?;
        record_account(account);
        Ok(groups)
    }

    /// One page of the account's instances at the addresses that pass the filters (`search.intersection`).
    pub async fn search(&self, token: &Token, query: SearchQuery) -> Result<SearchPage, Rejection> {
        let page = self.repository.search(token.digest(), query);
        let (account, page) =
            known(self.queried(Query::Search, page).await?)?.authorize(Purpose::Static, self.clock.now())?;
        record_account(account);
        Ok(page)
    }
}

pub(super) fn known<T>(data: Option<ProtectedData<T>>) -> Result<ProtectedData<T>, Rejection> {
    data.ok_or(Rejection::TokenUnknown)
}

/// Adds the account to the log line of the call.
pub(super) fn record_account(account: AccountId) {
    tracing::Span::current().record("account", account.0);
}

/// The rejection for a failure of the storage, which is logged with its details.
fn rejection(error: RepositoryError) -> Rejection {
    tracing::error!(%error, "the storage failed");
    match error {
        RepositoryError::Busy(_) => Rejection::Busy,
        RepositoryError::Unavailable(_) => Rejection::Unavailable,
        RepositoryError::Internal(_) => Rejection::Internal,
    }
}
