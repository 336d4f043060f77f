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
use tokio::sync::oneshot;

use self::error::Result;
#[cfg(feature = "postgres")]
pub use self::location::{Location, LocationError};
#[doc(hidden)]
pub use self::queries::{extract_sql, gateways_sql, search_sql};
pub use self::{
    error::{BadLines, LoadError, OpenError, StoreError, UnloadError},
    record_kind::{Field, Form, RecordKind},
    session::{Access, Session},
};
use crate::domain::ports::Repository;

/// An open database: the domain's repository, and sessions for all else that is done with it.
#[async_trait]
pub trait Store: Repository {
    /// Runs `work` in a session, on a thread that may block, and undoes its changes if it fails.
    async fn execute(&self, access: Access, work: Work) -> Result<()>;

    /// Waits until no server uses what it read before a change that was committed.
    async fn wait_until_in_force(&self);

    /// The connections to the database at this moment.
    fn pool(&self) -> Pool;

    /// Number of extractions that were served from memory, without a query.
    fn cache_hits(&self) -> u64;
}

/// What is done in a session.
pub type Work = Box<dyn FnOnce(&mut dyn Session) -> Result<()> + Send>;

impl dyn Store + '_ {
    /// Runs `work` in a session, and undoes its changes if it fails.
    async fn run<T: Send + 'static, E: From<StoreError> + Send + 'static>(
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
        let executed = self.execute(access, work).await;
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
