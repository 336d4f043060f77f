//! Opens a database file, or says why it cannot be used.

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig, vtab::array};

use super::{Sqlite, epoch::CurrentEpochs, session::SqliteSession, writer::Writer};
use crate::store::{OpenError, OpenMode, StoreError, schema};

/// How long a connection waits for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Number of statements that a connection keeps prepared; more than there are.
const PREPARED_STATEMENTS: usize = 64;

impl Sqlite {
    pub(super) fn open(path: &Path, mode: OpenMode) -> Result<Self, OpenError> {
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
        let folder = tempfile::Builder::new()
            .prefix(".sallyport-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .tempdir_in(&parent)
            .map_err(|error| unusable(&parent, error))?;
        let path = folder.path().join("sallyport.db");
        create(&path)?;
        connect(&path, NOT_DURABLE, Some(folder))
    }
}

/// Creates a missing file, which only its owner can read: it will hold proxy passwords and digests of tokens. SQLite
/// gives its mode to the files beside it, whose names end in `-wal` and `-shm`.
fn create(path: &Path) -> Result<(), OpenError> {
    let mut options = File::options();
    options.write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(unusable(path, error)),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Values of the pragma `synchronous`: a commit survives a power cut, or not, for a file that is deleted with its store.
const DURABLE: &str = "full";
const NOT_DURABLE: &str = "off";

/// Rejects files for which SQLite's own error would be unclear, or which it would accept from a privileged user.
fn check_file(path: &Path, mode: OpenMode) -> Result<(), OpenError> {
    match fs::metadata(path) {
        Ok(file) if !file.is_file() => {
            Err(OpenError::Foreign { database: name(path), reason: "it is not a file".to_owned() })
        }
        Ok(file) if file.permissions().readonly() => Err(unusable(path, StoreError::ReadOnly)),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match mode {
            OpenMode::Existing => Err(OpenError::Missing { database: name(path) }),
            OpenMode::Create => Ok(()),
        },
        Err(error) => Err(unusable(path, error)),
    }
}

fn connect(path: &Path, synchronous: &str, folder: Option<tempfile::TempDir>) -> Result<Sqlite, OpenError> {
    let wrong = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => OpenError::Foreign {
            database: name(path),
            reason: "it is not an SQLite file, or its header is damaged".to_owned(),
        },
        _ => unusable(path, error),
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let writer = Connection::open_with_flags(path, flags).map_err(wrong)?;
    prepare(&writer, synchronous).map_err(wrong)?;
    // The first look into the file.
    writer.pragma_query(None, "schema_version", |_| Ok(())).map_err(wrong)?;
    schema::migrate(&mut SqliteSession(&writer), &name(path), OpenMode::Create)?;
    writer.pragma_update(None, "foreign_keys", true).map_err(wrong)?;
    writer.pragma_update(None, "journal_mode", "wal").map_err(wrong)?;

    let reader = || {
        let reader = Connection::open_with_flags(path, flags)?;
        prepare(&reader, synchronous)?;
        reader.pragma_update(None, "query_only", true)?;
        Ok(reader)
    };
    let readers = (0..reader_count()).map(|_| reader()).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let epochs = reader().and_then(CurrentEpochs::new).map_err(wrong)?;
    let writer = Writer::start(writer).map_err(|error| unusable(path, error))?;
    Ok(Sqlite { epochs, readers: readers.into(), waiting: Arc::default(), writer, _folder: folder })
}

fn prepare(db: &Connection, synchronous: &str) -> rusqlite::Result<()> {
    db.busy_timeout(BUSY_TIMEOUT)?;
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

fn unusable(path: &Path, source: impl Into<StoreError>) -> OpenError {
    OpenError::Store { database: name(path), source: source.into() }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

/// An empty database in memory, on a connection like those of a store.
#[cfg(test)]
pub(super) fn in_memory() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    prepare(&db, NOT_DURABLE).unwrap();
    schema::migrate(&mut SqliteSession(&db), "memory", OpenMode::Create).unwrap();
    db.pragma_update(None, "foreign_keys", true).unwrap();
    db
}
