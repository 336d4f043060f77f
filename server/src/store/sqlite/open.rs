//! Opens a database file, or says why it cannot be used.

use std::{
    fs::{self, File},
    io, iter,
    path::{Path, PathBuf},
    time::Duration,
};

use deadpool::managed::{Manager, Metrics, RecycleResult, Timeouts};
use futures::executor::block_on;
use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig, vtab::array};

use super::{Sqlite, epoch::CurrentEpochs, session::SqliteSession};
use crate::store::{OpenError, OpenMode, StoreError, Unusable, pool::pool, schema, writer::Writer};

/// How long a connection waits for another process's lock, and a caller for a free connection.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Number of statements that a connection keeps prepared; more than there are.
const PREPARED_STATEMENTS: usize = 64;

/// Values of the pragma `synchronous`: a commit survives a power cut, or not, for a file that is deleted with its store.
const DURABLE: &str = "full";
const NOT_DURABLE: &str = "off";

impl Sqlite {
    pub(super) fn open(path: &Path, mode: OpenMode) -> Result<Self, Unusable> {
        check_file(path, mode)?;
        if mode == OpenMode::Create {
            create(path)?;
        }
        connect(path, DURABLE, None)
    }

    /// The connections to an empty database of [`Store::temporary`](crate::store::Store::temporary).
    #[doc(hidden)]
    pub fn temporary() -> Result<Self, OpenError> {
        let parent = std::env::temp_dir();
        let open = || {
            let folder = tempfile::Builder::new()
                .prefix(".sallyport-")
                .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
                .tempdir_in(&parent)?;
            let path = folder.path().join("sallyport.db");
            create(&path)?;
            connect(&path, NOT_DURABLE, Some(folder))
        };
        open().map_err(|reason| OpenError { database: parent.display().to_string(), reason })
    }
}

/// Creates a missing file, which only its owner can read: it will hold proxy passwords and digests of tokens. SQLite
/// gives its mode to the files beside it, whose names end in `-wal` and `-shm`.
fn create(path: &Path) -> Result<(), Unusable> {
    let mut options = File::options();
    options.write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Rejects files for which SQLite's own error would be unclear, or which it would accept from a privileged user.
fn check_file(path: &Path, mode: OpenMode) -> Result<(), Unusable> {
    match fs::metadata(path) {
        Ok(file) if !file.is_file() => Err(Unusable::Foreign("it is not a file")),
        Ok(file) if file.permissions().readonly() => Err(StoreError::ReadOnly.into()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match mode {
            OpenMode::Existing => Err(Unusable::Missing),
            OpenMode::Create => Ok(()),
        },
        Err(error) => Err(error.into()),
    }
}

fn connect(
    path: &Path,
    synchronous: &'static str,
    folder: Option<tempfile::TempDir>,
) -> Result<Sqlite, Unusable> {
    let first_look = || {
        let writer = connection(path, synchronous, false)?;
        writer.pragma_query(None, "schema_version", |_| Ok(()))?;
        Ok(writer)
    };
    let writer = first_look().map_err(|error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            Unusable::Foreign("it is not an SQLite file, or its header is damaged")
        }
        _ => error.into(),
    })?;
    schema::migrate(&mut SqliteSession(&writer), OpenMode::Create)?;
    writer.pragma_update(None, "foreign_keys", true)?;
    writer.pragma_update(None, "journal_mode", "wal")?;

    let readers = pool(Readers { path: path.to_owned(), synchronous }, reader_count(), MAX_WAIT)?;
    // All are opened now: if another file is put in place of this one later, none reads that.
    let opened = iter::repeat_with(|| block_on(readers.timeout_get(&Timeouts::new())));
    drop(opened.take(reader_count()).collect::<Result<Vec<_>, _>>().map_err(StoreError::from)?);
    let epochs = CurrentEpochs::new(connection(path, synchronous, true)?)?;
    let writer = Writer::start(SqliteSession(writer))?;
    Ok(Sqlite { epochs, readers, writer, _folder: folder })
}

/// Opens the connections that read.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    synchronous: &'static str,
}

impl Manager for Readers {
    type Type = Connection;
    type Error = rusqlite::Error;

    async fn create(&self) -> rusqlite::Result<Connection> {
        connection(&self.path, self.synchronous, true)
    }

    async fn recycle(&self, _: &mut Connection, _: &Metrics) -> RecycleResult<rusqlite::Error> {
        Ok(())
    }
}

fn connection(path: &Path, synchronous: &str, only_reads: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    prepare(&db, synchronous)?;
    db.pragma_update(None, "query_only", only_reads)?;
    Ok(db)
}

fn prepare(db: &Connection, synchronous: &str) -> rusqlite::Result<()> {
    db.busy_timeout(MAX_WAIT)?;
    db.set_prepared_statement_cache_capacity(PREPARED_STATEMENTS);
    // Plans must not depend on parameters, for which SQLite would prepare the statement again.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Searches pass their addresses as one array parameter.
    array::load_module(db)?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update(None, "synchronous", synchronous)
}

/// Reads are bound by memory and disk: a few more readers than cores help, many more do not.
fn reader_count() -> usize {
    std::thread::available_parallelism().map_or(4, |cores| cores.get().clamp(4, 16))
}

/// An empty database in memory, on a connection like those of a store.
#[cfg(test)]
pub(super) fn in_memory() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    prepare(&db, NOT_DURABLE).unwrap();
    schema::migrate(&mut SqliteSession(&db), OpenMode::Create).unwrap();
    db.pragma_update(None, "foreign_keys", true).unwrap();
    db
}
