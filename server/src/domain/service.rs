//! The operations: data from the repository, decisions here.

use std::sync::Arc;

use super::{
    StaticGroup,
    access::{AccountId, ProtectedData, Purpose},
    clock::Clock,
    extraction::{ExtractCommand, Extraction, ExtractionData, ExtractionQuery, StoredExtraction},
    ports::{Found, Repository, RepositoryError},
    rejection::Rejection,
    search::{SearchCommand, SearchPage},
    token::Token,
};

/// The service behind the edge. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Service {
    pub(super) repository: Arc<dyn Repository>,
    pub(super) clock: Clock,
}

impl Service {
    /// A service on the data of `repository`.
    pub fn new(repository: Arc<dyn Repository>) -> Self {
        Self { repository, clock: Clock::system() }
    }

    /// The same service with another clock.
    pub(crate) fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Extracts gateways for the account that owns the token. The result has at least one gateway, and fewer than requested only
    /// if no more match (`extract.partial`). A request id that the account has used before returns the same gateways
    /// (`extract.idempotent`).
    ///
    /// # Errors
    /// The first of these conditions that fails: the token, the caller's address, the account's verification, its entitlement,
    /// the parameters of a known request id, and available gateways.
    pub async fn extract(&self, command: ExtractCommand) -> Result<Extraction, Rejection> {
        let ExtractCommand { token, caller_ip, parameters, request_id } = command;
        let (digest, now) = (token.digest(), self.clock.now());
        let query = ExtractionQuery { digest, caller_ip, parameters, request_id, pivot: rand::random() };
        let data = require_known_token(self.repository.extraction(&query).await)?;
        let (owner, data) = data.authorize(Purpose::Extraction, now)?;
        record_account(owner);
        let ExtractionData { account, stored, candidates } = data;
        let parameters = &query.parameters;
        let caller_ip = account.authorize_extraction(caller_ip, parameters.protocol, now)?;
        let endpoints = match (stored, &query.request_id) {
            (Some(stored), _) => stored.repeat(parameters)?,
            (None, Some(request_id)) if !candidates.is_empty() => {
                let new = StoredExtraction { parameters: parameters.clone(), endpoints: candidates };
                let stored = self.repository.store_extraction(owner, request_id.clone(), new, now).await;
                stored.map_err(rejection)?.repeat(parameters)?
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
        let credential = self.repository.credential(token.digest()).await.map_err(rejection)?;
        credential.ok_or(Rejection::TokenUnknown)?.authorize(purpose, self.clock.now())
    }

    /// The account's groups, ascending by id.
    pub async fn groups(&self, token: &Token) -> Result<Vec<StaticGroup>, Rejection> {
        let groups = require_known_token(self.repository.groups(token.digest()).await)?;
        let (account, groups) = groups.authorize(Purpose::Static, self.clock.now())?;
        record_account(account);
        Ok(groups)
    }

    /// One page of the account's instances at the addresses that pass the filters (`search.intersection`).
    pub async fn search(&self, token: &Token, command: SearchCommand) -> Result<SearchPage, Rejection> {
        let page = require_known_token(self.repository.search(token.digest(), command.into()).await)?;
        let (account, page) = page.authorize(Purpose::Static, self.clock.now())?;
        record_account(account);
        Ok(page)
    }
}

pub(super) fn require_known_token<T>(data: Found<T>) -> Result<ProtectedData<T>, Rejection> {
    data.map_err(rejection)?.ok_or(Rejection::TokenUnknown)
}

/// Adds the account to the log line of the call.
pub(super) fn record_account(account: AccountId) {
    tracing::Span::current().record("account", account.0);
}

/// The rejection for a failure of the storage, which is logged with its details.
pub(super) fn rejection(error: RepositoryError) -> Rejection {
    tracing::error!(%error, "the storage failed");
    match error {
        RepositoryError::Busy(_) => Rejection::Busy,
        RepositoryError::Unavailable(_) => Rejection::Unavailable,
        RepositoryError::Internal(_) => Rejection::Internal,
    }
}
