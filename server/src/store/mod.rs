//! The storage on SQLite and PostgreSQL. A store returns data; the domain decides.

mod cache;
mod database;
mod error;
mod load;
#[cfg(feature = "postgres")]
mod location;
mod packed;
#[cfg(feature = "postgres")]
pub mod postgres;
mod queries;
mod range;
#[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "as for `record_kind`"))]
pub mod record;
#[cfg_attr(
    not(feature = "admin"),
    expect(dead_code, reason = "administration uses all that is declared of records")
)]
mod record_kind;
#[cfg(feature = "admin")]
pub mod registry;
mod session;
pub mod sqlite;
mod value;

use async_trait::async_trait;
use jiff::Timestamp;

#[cfg(feature = "postgres")]
pub use self::location::{Location, LocationError};
#[doc(hidden)]
pub use self::queries::{extract_sql, gateways_sql, search_sql};
#[cfg(test)]
pub(crate) use self::value::{Column, Value};
use self::{
    error::Result,
    record::{Line, Record, RecordCounts},
};
pub use self::{
    error::{BadLines, LoadError, OpenError, StoreError, UnloadError},
    record_kind::{Field, Form, RecordKind},
};
use crate::domain::{Protocol, ports::Repository};

/// An open database: the domain's repository, import and export, and its maintenance by the running server.
#[async_trait]
pub trait Store: Repository {
    /// Adds records, all or none.
    async fn load(&self, lines: Lines) -> Result<RecordCounts, LoadError>;

    /// Passes every record to `sink`, from one snapshot and in an order in which they can be loaded. Extractions that are stored under
    /// a request id are not included.
    async fn unload(&self, sink: Box<dyn Sink>) -> Result<RecordCounts, UnloadError>;

    /// Deletes up to 500 of the oldest extractions that were stored before `end`; if this fails, those of some accounts may be deleted
    /// already. Returns their number, `0` if none is left.
    async fn delete_extractions(&self, end: Timestamp) -> Result<u64, StoreError>;

    /// When the newest extraction was stored, by the clock of the server that stored it.
    async fn newest_extraction(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Number of gateways for each protocol and region that has any. Counts all gateways, which is too slow for every call.
    async fn supply(&self) -> Result<Vec<Supply>, StoreError>;

    /// The connections to the database at this moment.
    fn pool(&self) -> Pool;

    /// Number of extractions that were served from memory, without a query.
    fn cache_hits(&self) -> u64;
}

/// The lines to load, in order.
pub type Lines = Box<dyn Iterator<Item = std::io::Result<Line>> + Send>;

/// Writes records, on a thread that may block.
pub trait Sink: Send + 'static {
    /// Writes one record.
    ///
    /// # Errors
    /// The record cannot be written; no more records follow then.
    fn write(&mut self, record: &Record) -> std::io::Result<()>;

    /// Ends the output after the last record.
    ///
    /// # Errors
    /// The output cannot be completed.
    fn finish(&mut self) -> std::io::Result<()>;
}

/// Gateways of one protocol and region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supply {
    /// The protocol.
    pub protocol: Protocol,
    /// Code of the region.
    pub region: String,
    /// Number of gateways.
    pub gateways: u64,
}

/// The connections that queries share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// Maximum number of connections.
    pub connections: usize,
    /// Number of connections in use.
    pub busy: usize,
    /// Number of queries that wait for a connection.
    pub waiting: usize,
}

/// Whether a missing database is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// It must exist.
    Existing,
    /// A missing one is created.
    Create,
}
