//! The three operations: facts from the store, decisions here.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{
    access::{AccountId, Guarded, Purpose},
    extraction::{
        Endpoint, ExtractCommand, Extraction, ExtractionFacts, ExtractionQuery, SHORTAGE_RETRY_AFTER,
        StoredExtraction,
    },
    instance::Group,
    refusal::Refusal,
    search::{SearchCommand, SearchPage},
    token::Token,
};
use crate::store::{Store, StoreError};

/// How long a caller waits when the storage is busy.
const BUSY_RETRY_AFTER: Duration = Duration::from_secs(1);

/// How long a caller waits when the storage cannot answer.
const UNAVAILABLE_RETRY_AFTER: Duration = Duration::from_secs(5);

/// The service behind the edge. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Service {
    store: Arc<dyn Store>,
}

impl Service {
    /// A service on `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Takes gateways for the account that owns the token. The answer has at least one gateway, and fewer than asked
    /// for only when no more fit. A request id that the account used before gives the same answer again.
    ///
    /// # Errors
    /// The token, the caller's address, the account's verification and entitlement are looked at on every call, in
    /// this order; then comes a request id that stands for something else; then the shortage.
    pub async fn extract(&self, command: ExtractCommand) -> Result<Extraction, Refusal> {
        let ExtractCommand { token, caller_ip, parameters, request_id } = command;
        let (digest, now) = (token.digest(), Timestamp::now());
        let query = ExtractionQuery { digest, caller_ip, parameters, request_id, pivot: rand::random(), now };
        if query.request_id.is_none()
            && let Some(facts) = self.store.at_hand(&query)
        {
            let Admitted { caller_ip, facts, .. } = admitted(&query, facts)?;
            return extraction(&query, caller_ip, facts.candidates);
        }
        // In a box, so that the future of an extraction is small: most end above.
        Box::pin(self.extract_from_database(query)).await
    }

    async fn extract_from_database(&self, query: ExtractionQuery) -> Result<Extraction, Refusal> {
        let facts = known(self.store.extraction(&query).await)?;
        let Admitted { account, caller_ip, facts } = admitted(&query, facts)?;
        let ExtractionFacts { earlier, candidates, .. } = facts;
        let parameters = &query.parameters;
        let endpoints = match (earlier, &query.request_id) {
            (Some(earlier), _) => earlier.repeat(parameters)?,
            (None, Some(request_id)) if !candidates.is_empty() => {
                let ours = StoredExtraction { parameters: parameters.clone(), endpoints: candidates };
                let remembered = self.store.remember(account, request_id.clone(), ours, query.now).await;
                remembered.map_err(refusal)?.repeat(parameters)?
            }
            (None, _) => candidates,
        };
        extraction(&query, caller_ip, endpoints)
    }

    /// Whether the token may be used for `purpose`, asked before the rest of a large request is read.
    ///
    /// # Errors
    /// The token's faults and the storage's.
    pub async fn authenticate(&self, token: &Token, purpose: Purpose) -> Result<(), Refusal> {
        let credential = self.store.credential(token.digest()).await.map_err(refusal)?;
        credential.ok_or(Refusal::TokenUnknown)?.admits(purpose, Timestamp::now())
    }

    /// The account's groups, ascending by id.
    ///
    /// # Errors
    /// The token's faults and the storage's.
    pub async fn groups(&self, token: &Token) -> Result<Vec<Group>, Refusal> {
        let groups = known(self.store.groups(token.digest()).await)?;
        let (account, groups) = groups.admit(Purpose::Static, Timestamp::now())?;
        logged(account);
        Ok(groups)
    }

    /// The account's instances at some addresses that pass the filters, one page of them.
    ///
    /// # Errors
    /// The token's faults and the storage's.
    pub async fn search(&self, token: &Token, command: SearchCommand) -> Result<SearchPage, Refusal> {
        let page = known(self.store.search(token.digest(), command.into()).await)?;
        let (account, page) = page.admit(Purpose::Static, Timestamp::now())?;
        logged(account);
        Ok(page)
    }
}

/// An account that may extract, and from where it does.
struct Admitted {
    account: AccountId,
    caller_ip: Ipv4Addr,
    facts: ExtractionFacts,
}

fn admitted(query: &ExtractionQuery, facts: Guarded<ExtractionFacts>) -> Result<Admitted, Refusal> {
    let (account, facts) = facts.admit(Purpose::Extraction, query.now)?;
    logged(account);
    let caller_ip = query.caller_ip.ok_or(Refusal::CallerNotIpv4)?;
    facts.admit(query.parameters.protocol)?;
    Ok(Admitted { account, caller_ip, facts })
}

fn extraction(
    query: &ExtractionQuery,
    caller_ip: Ipv4Addr,
    endpoints: Vec<Endpoint>,
) -> Result<Extraction, Refusal> {
    if endpoints.is_empty() {
        return Err(Refusal::Shortage { retry_after: SHORTAGE_RETRY_AFTER });
    }
    Ok(Extraction { endpoints, requested: query.parameters.count, caller_ip })
}

fn known<T>(answer: Result<Option<Guarded<T>>, StoreError>) -> Result<Guarded<T>, Refusal> {
    answer.map_err(refusal)?.ok_or(Refusal::TokenUnknown)
}

/// Lets the line that the call leaves in the log name the account.
fn logged(account: AccountId) {
    tracing::Span::current().record("account", account.0);
}

/// What a caller is told of a fault in the storage. The operator reads the rest in the log.
fn refusal(error: StoreError) -> Refusal {
    tracing::error!(%error, "the storage failed");
    match error {
        StoreError::Locked | StoreError::Busy { .. } => Refusal::Busy { retry_after: BUSY_RETRY_AFTER },
        StoreError::Full
        | StoreError::ReadOnly
        | StoreError::Corrupt { .. }
        | StoreError::Unavailable { .. }
        | StoreError::Closed => Refusal::Unavailable { retry_after: UNAVAILABLE_RETRY_AFTER },
        StoreError::Conflict { .. } | StoreError::Internal { .. } => Refusal::Internal,
    }
}
