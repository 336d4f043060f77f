//! SQLite: one thread that writes, and a few connections that read.

mod epoch;
mod error;
mod open;
mod readers;
mod session;
mod writer;

use std::path::Path;

use async_trait::async_trait;
use rusqlite::Connection;

pub use self::session::DIALECT;
use self::{epoch::CurrentEpochs, readers::Readers, session::SqliteSession, writer::Writer};
pub use super::Store as SqliteStore;
use super::{
    OpenError, OpenMode, Pool, Result, Work,
    cache::Epochs,
    database::{Backend, Store},
    session::{Access, Dialect},
};

/// The connections to a SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    // Dropped in this order: the readers before the writer, whose connection then moves the write-ahead log into the file.
    epochs: CurrentEpochs,
    readers: Readers,
    writer: Writer,
    _folder: Option<tempfile::TempDir>,
}

impl Store {
    /// Opens the SQLite database at `path`, which other processes may use at the same time, and brings its schema up to date.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Self, OpenError> {
        open::open(path, mode).map(Self::new)
    }

    /// Creates an empty SQLite database in a temporary folder, which is deleted with the store.
    pub fn temporary() -> Result<Self, OpenError> {
        Sqlite::temporary().map(Self::new)
    }
}

impl Sqlite {
    /// The connections to an empty database of [`Store::temporary`].
    #[doc(hidden)]
    pub fn temporary() -> Result<Self, OpenError> {
        open::temporary()
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
            Access::Read => self.readers.read(|db| work(&mut SqliteSession(db))).await,
            Access::Snapshot => {
                let in_snapshot = |db: &Connection| {
                    let snapshot = db.unchecked_transaction()?;
                    work(&mut SqliteSession(&snapshot))
                };
                self.readers.read(in_snapshot).await
            }
            Access::Write | Access::Change => self.writer.write(work).await,
        }
    }

    fn epochs(&self) -> Option<Epochs> {
        self.epochs.get()
    }

    async fn wait_until_in_force(&self) {
        // Every call learns of commits.
    }

    fn pool(&self) -> Pool {
        self.readers.pool()
    }
}
