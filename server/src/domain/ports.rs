//! The storage interface of the domain, which both databases implement.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::{
    StaticGroup,
    access::{AccountId, Credential, ProtectedData},
    extraction::{ExtractionData, ExtractionQuery, StoredExtraction},
    rejection::Rejection,
    search::{Filters, SearchPage, SearchQuery},
    token::TokenDigest,
};

/// The result of a query for data of an account: protected by the token that it was read for, and `None` if the token is unknown.
pub type Found<T, E = RepositoryError> = Result<Option<ProtectedData<T>>, E>;

/// What an account has, as a listing shows it.
pub trait Item {
    /// The query for all of them.
    const QUERY: Query;
}

impl Item for StaticGroup {
    const QUERY: Query = Query::Groups;
}

/// A query for all of what the token's account has of one type, in the order that the contract says.
#[async_trait]
pub trait Lists<T: Item> {
    /// The items that pass the filters.
    async fn items(&self, digest: TokenDigest, filters: Filters) -> Found<Vec<T>>;
}

/// The queries of the service. Each reads one snapshot of the database, and a change that was reported as done is in force.
#[async_trait]
pub trait Repository: Lists<StaticGroup> + std::fmt::Debug + Send + Sync + 'static {
    /// The data for an extraction. The choice begins at `pivot` in the order of gateways, which is random to spread the load.
    async fn extraction(&self, query: &ExtractionQuery, pivot: i64) -> Found<ExtractionData>;

    /// Stores an extraction under the account's request id, durably, unless one already exists. Returns the stored one, so that
    /// concurrent callers with the same id get the same (`extract.idempotent`).
    async fn store_extraction(
        &self,
        account: AccountId,
        request_id: String,
        extraction: StoredExtraction,
        now: Timestamp,
    ) -> Result<StoredExtraction, RepositoryError>;

    /// The stored token; `None` when it is unknown.
    async fn credential(&self, digest: TokenDigest) -> Result<Option<Credential>, RepositoryError>;

    /// One page of the matching instances of the token's account, ascending by id, with the total of all pages.
    async fn search(&self, digest: TokenDigest, query: SearchQuery) -> Found<SearchPage>;
}

/// A query to the repository while a caller waits, as the metrics name it. What is stored under a request id is remembered.
#[derive(Clone, Copy, Debug, strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "each is a method of the repository or a type that it lists")]
pub enum Query {
    Extraction,
    Remember,
    Groups,
    Search,
    Credential,
}

/// Counts queries.
pub trait Observer: Send + Sync + 'static {
    /// A query has returned after this time.
    fn queried(&self, query: Query, time: Duration, has_failed: bool);
}

/// Why a query to the storage failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct RepositoryError {
    /// What the caller is told.
    pub rejection: Rejection,
    /// What the storage says, for the operator's log.
    pub text: String,
}
