//! The storage behind one narrow trait. A store answers questions; it decides nothing.

mod error;
mod kind;
mod location;
mod packed;
pub mod postgres;
pub mod record;
pub mod sqlite;
mod tally;

use async_trait::async_trait;
use jiff::Timestamp;

use self::record::{Line, Loaded, Record};
pub use self::{
    error::{BadLines, LoadError, OpenError, StoreError, UnloadError},
    location::{Location, LocationError},
};
use crate::domain::{
    access::{AccountId, Guarded},
    extraction::{ExtractionFacts, ExtractionQuery, StoredExtraction},
    instance::{Group, Id},
    search::{SearchPage, SearchQuery},
    token::{TokenDigest, TokenKind},
};

/// What the service and its commands ask of a storage. Each question is answered from one snapshot. Data of an account
/// comes [`Guarded`] by the token it was read for, `None` when no such token is known.
#[async_trait]
pub trait Store: std::fmt::Debug + Send + Sync + 'static {
    /// Everything that bears on an extraction.
    async fn extraction(
        &self,
        query: ExtractionQuery,
    ) -> Result<Option<Guarded<ExtractionFacts>>, StoreError>;

    /// Keeps an extraction under the account's request id, durably, unless one is kept already. Gives what is kept:
    /// of several callers at once with one id all get the same.
    async fn remember(
        &self,
        account: AccountId,
        request_id: String,
        extraction: StoredExtraction,
        now: Timestamp,
    ) -> Result<StoredExtraction, StoreError>;

    /// The groups of the token's account, ascending by id.
    async fn groups(&self, digest: TokenDigest) -> Result<Option<Guarded<Vec<Group>>>, StoreError>;

    /// One page of the matching instances of the token's account, ascending by id, and how many match in all.
    async fn search(
        &self,
        digest: TokenDigest,
        query: SearchQuery,
    ) -> Result<Option<Guarded<SearchPage>>, StoreError>;

    /// Adds records, all or none.
    async fn load(&self, lines: Lines) -> Result<Loaded, LoadError>;

    /// Gives every record to `sink`, from one snapshot, in an order in which they can be loaded. Extractions that are
    /// kept under a request id are not records.
    async fn unload(&self, sink: Box<dyn Sink>) -> Result<Loaded, UnloadError>;

    /// Adds a token to an account and gives its number.
    async fn issue_token(&self, token: NewToken) -> Result<Id, StoreError>;

    /// Revokes a token. `false` when there is no token of that number; a revoked one stays as it is.
    async fn revoke_token(&self, id: Id, now: Timestamp) -> Result<bool, StoreError>;

    /// All tokens, ascending by number.
    async fn tokens(&self) -> Result<Vec<TokenEntry>, StoreError>;
}

/// Records to load, in order, each with its line number or the reason why it cannot be read.
pub type Lines = Box<dyn Iterator<Item = std::io::Result<Line>> + Send>;

/// Takes records, on a thread that may block.
pub trait Sink: Send + 'static {
    /// Takes one record.
    ///
    /// # Errors
    /// It cannot be kept; no more follow then.
    fn take(&mut self, record: &Record) -> std::io::Result<()>;

    /// Learns that there are no more.
    ///
    /// # Errors
    /// What was taken cannot be kept.
    fn end(&mut self) -> std::io::Result<()>;
}

/// Whether a database is made when there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// It must be there.
    Existing,
    /// A missing one is made.
    Create,
}

/// A token to be added.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Name of the account that shall own it.
    pub account: String,
    /// Digest of the token.
    pub digest: TokenDigest,
    /// What it is good for.
    pub kind: TokenKind,
    /// When it is made.
    pub created_at: Timestamp,
    /// When its time is over; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// What is known of a token, without its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenEntry {
    /// Number of the token.
    pub id: Id,
    /// Name of the account that owns it.
    pub account: String,
    /// What it is good for.
    pub kind: TokenKind,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its time is over; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked; `None` while it is good.
    pub revoked_at: Option<Timestamp>,
}
