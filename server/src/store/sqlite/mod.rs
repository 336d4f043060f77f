//! SQLite: one thread that writes, and a few connections that read.

mod epoch;
mod error;
mod open;
mod session;

use std::path::Path;

use async_trait::async_trait;
use deadpool::managed;

use self::{epoch::CurrentEpochs, open::Readers};
pub use self::{
    epoch::LEASE,
    session::{DIALECT, SqliteSession},
};
use super::{
    OpenError, OpenMode, Pool, Result, Work,
    cache::Epochs,
    database::{Backend, Store},
    pool::{transact, with_connection},
    session::{Access, Dialect},
    writer::Writer,
};

/// The connections to a SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    // Dropped in this order: the readers before the writer, whose connection then moves the write-ahead log into the file.
    epochs: CurrentEpochs,
    readers: managed::Pool<Readers>,
    writer: Writer,
    _folder: Option<tempfile::TempDir>,
}

impl Store {
    /// Opens the SQLite database at `path`, which other processes may use at the same time, and brings its schema up to date.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Self, OpenError> {
        let named = |reason| OpenError { database: path.display().to_string(), reason };
        Sqlite::open(path, mode).map(Self::new).map_err(named)
    }

    /// Creates an empty SQLite database in a temporary folder, which is deleted with the store.
    pub fn temporary() -> Result<Self, OpenError> {
        Sqlite::temporary().map(Self::new)
    }
}

#[async_trait]
impl Backend for Sqlite {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    async fn execute(&self, access: Access, work: Work) -> Result<()> {
        if matches!(access, Access::Write | Access::Change) {
            return self.writer.write(work).await;
        }
        with_connection(&self.readers, move |db| transact(&mut SqliteSession(db), access, work)).await?
    }

    fn epochs(&self) -> Option<Epochs> {
        self.epochs.get()
    }

    fn pool(&self) -> Pool {
        Pool::from(&self.readers)
    }
}
