//! SQLite: one thread that writes, and a few connections that read.

mod epoch;
mod error;
mod open;
mod session;
mod writer;

use std::{path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use deadpool::{Status, unmanaged};
use rusqlite::Connection;

pub use self::session::DIALECT;
use self::{epoch::CurrentEpochs, session::SqliteSession, writer::Writer};
use super::{
    OpenError, OpenMode, Pool, Result, StoreError, Work,
    cache::Epochs,
    database::{Backend, Store},
    session::{Access, Dialect},
};

/// Maximum time to wait for a free connection.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// The connections to a SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    // Dropped in this order: the readers before the writer, whose connection then moves the write-ahead log into the file.
    epochs: CurrentEpochs,
    /// Each is used by one reader at a time.
    readers: unmanaged::Pool<Connection>,
    /// Each reader that waits for a connection has a clone.
    waiting: Arc<()>,
    writer: Writer,
    _folder: Option<tempfile::TempDir>,
}

impl Store {
    /// Opens the SQLite database at `path`, which other processes may use at the same time, and brings its schema up to date.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Self, OpenError> {
        Sqlite::open(path, mode).map(Self::new)
    }

    /// Creates an empty SQLite database in a temporary folder, which is deleted with the store.
    pub fn temporary() -> Result<Self, OpenError> {
        Sqlite::temporary().map(Self::new)
    }
}

impl Sqlite {
    /// Runs `work` on a thread that may block, once a connection is free. It keeps the connection until it has ended, even if the caller
    /// has disconnected.
    async fn read(&self, work: impl FnOnce(&Connection) -> Result<()> + Send + 'static) -> Result<()> {
        let waiting = Arc::clone(&self.waiting);
        let connection = tokio::time::timeout(MAX_WAIT, self.readers.get()).await;
        drop(waiting);
        let connection = connection
            .map_err(|_| StoreError::Busy("every connection to the database is in use".to_owned()))?
            .map_err(|_| StoreError::Closed)?;
        let reading = tokio::task::spawn_blocking(move || work(&connection));
        reading.await.unwrap_or_else(|error| Err(StoreError::Internal(error.to_string())))
    }
}

#[async_trait]
impl Backend for Sqlite {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    async fn execute(&self, access: Access, work: Work) -> Result<()> {
        match access {
            // Each statement of a request reads a snapshot of its own.
            Access::Read => self.read(|db| work(&mut SqliteSession(db))).await,
            Access::Snapshot => {
                let in_snapshot = |db: &Connection| {
                    let snapshot = db.unchecked_transaction()?;
                    work(&mut SqliteSession(&snapshot))
                };
                self.read(in_snapshot).await
            }
            Access::Write | Access::Change => self.writer.write(work).await,
        }
    }

    fn epochs(&self) -> Option<Epochs> {
        self.epochs.get()
    }

    fn pool(&self) -> Pool {
        let Status { max_size, available, .. } = self.readers.status();
        let busy = max_size.saturating_sub(available);
        Pool { connections: max_size, busy, waiting: Arc::strong_count(&self.waiting) - 1 }
    }
}
