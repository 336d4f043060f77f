//! The storage behind one narrow trait. A store answers questions; it decides nothing.

mod ahead;
mod error;
mod held;
mod kind;
mod location;
mod packed;
pub mod postgres;
pub mod record;
pub mod registry;
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
    access::{AccountId, Credential, Guarded},
    extraction::{ExtractionFacts, ExtractionQuery, Protocol, StoredExtraction},
    instance::Group,
    search::{SearchPage, SearchQuery},
    token::TokenDigest,
};

/// What the service and its commands ask of a storage. Each question to the database is answered from one snapshot. Data
/// of an account comes [`Guarded`] by the token it was read for, `None` when no such token is known.
#[async_trait]
pub trait Store: std::fmt::Debug + Send + Sync + 'static {
    /// Everything that bears on an extraction without a request id, from memory, if that is known to be good enough: on
    /// SQLite nothing of it was changed, on PostgreSQL it was read a moment ago.
    fn at_hand(&self, query: &ExtractionQuery) -> Option<Guarded<ExtractionFacts>>;

    /// Everything that bears on an extraction.
    async fn extraction(
        &self,
        query: &ExtractionQuery,
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

    /// Forgets some of the extractions that were kept before `end`, from the oldest on, and says how many. `0` when there
    /// are none left.
    async fn forget(&self, end: Timestamp) -> Result<u64, StoreError>;

    /// What is known of a token: on SQLite as it is, on PostgreSQL as it was a moment ago.
    async fn credential(&self, digest: TokenDigest) -> Result<Option<Credential>, StoreError>;

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

    /// How many gateways there are to extract, for each protocol and region that has any. It looks at all of them, so it
    /// is no question to ask with every call.
    async fn supply(&self) -> Result<Vec<Supply>, StoreError>;

    /// The connections to the database at this moment.
    fn pool(&self) -> Pool;
}

/// Most extractions that are forgotten in one change, so that nobody waits for it.
const FORGOTTEN_AT_ONCE: u32 = 500;

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

/// Gateways of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supply {
    /// What they speak.
    pub protocol: Protocol,
    /// Code of their region.
    pub region: String,
    /// How many there are.
    pub gateways: u64,
}

/// Connections that questions share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// Most of them at the same time.
    pub connections: usize,
    /// How many are in use.
    pub busy: usize,
    /// How many questions wait for one.
    pub waiting: usize,
}
