//! Opening a database file, with a clear word for everything that may be wrong with it.

use std::{fs, io, path::Path, sync::Arc, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig, vtab::array};

use super::{
    SqliteStore,
    cache::Cache,
    readers::Readers,
    schema::{self, APPLICATION_ID},
    writer::Writer,
};
use crate::store::{OpenError, OpenMode, StoreError};

/// How long a connection waits for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Statements that a connection keeps prepared; more than there are.
const PREPARED_STATEMENTS: usize = 64;

pub(super) fn open(path: &Path, mode: OpenMode) -> Result<SqliteStore, OpenError> {
    check_file(path, mode)?;
    connect(path, mode == OpenMode::Create, Durability::Full, None)
}

pub(super) fn temporary() -> Result<SqliteStore, OpenError> {
    let folder = tempfile::tempdir().map_err(|error| unusable(&std::env::temp_dir(), unavailable(&error)))?;
    let path = folder.path().join("sallyport.db");
    connect(&path, true, Durability::None, Some(folder))
}

/// What a committed change survives.
#[derive(Clone, Copy)]
enum Durability {
    /// A power cut.
    Full,
    /// Nothing; the file goes away with the store anyway.
    None,
}

/// Finds out what SQLite would report unclearly, or not at all to a privileged user.
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
        Err(error) => Err(unusable(path, unavailable(&error))),
    }
}

fn connect(
    path: &Path,
    create: bool,
    durability: Durability,
    folder: Option<tempfile::TempDir>,
) -> Result<SqliteStore, OpenError> {
    let wrong = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => OpenError::Foreign {
            database: name(path),
            reason: "it is no SQLite file, or its head is damaged".to_owned(),
        },
        _ => unusable(path, StoreError::from(error)),
    };
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let mut writer = Connection::open_with_flags(path, flags).map_err(wrong)?;
    prepare(&writer, durability).map_err(wrong)?;
    check_owner(&writer, path, wrong)?;
    writer.pragma_update(None, "journal_mode", "wal").map_err(wrong)?;
    schema::migrate(&mut writer).map_err(wrong)?;

    let reader = || {
        let reader = Connection::open_with_flags(path, flags)?;
        prepare(&reader, durability)?;
        reader.pragma_update(None, "query_only", true)?;
        Ok(reader)
    };
    let readers = (0..reader_count()).map(|_| reader()).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let cache = Arc::new(reader().and_then(|db| Cache::new(db, path)).map_err(wrong)?);
    let writer = Writer::start(writer).map_err(|error| unusable(path, unavailable(&error)))?;
    Ok(SqliteStore { cache, readers: Readers::new(readers), writer, _folder: folder })
}

fn prepare(db: &Connection, durability: Durability) -> rusqlite::Result<()> {
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.set_prepared_statement_cache_capacity(PREPARED_STATEMENTS);
    // A plan then depends on the statement alone, and not on parameters, for which SQLite would plan a search anew.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Searches give their addresses as one parameter.
    array::load_module(db)?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update(
        None,
        "synchronous",
        match durability {
            Durability::Full => "full",
            Durability::None => "off",
        },
    )
}

/// Refuses a database that another program, or a later version of this one, has made.
fn check_owner(
    db: &Connection,
    path: &Path,
    wrong: impl Fn(rusqlite::Error) -> OpenError,
) -> Result<(), OpenError> {
    let owner: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(&wrong)?;
    let empty: bool = db
        .query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
        .map_err(&wrong)?;
    if owner != APPLICATION_ID && !empty {
        return Err(OpenError::Foreign {
            database: name(path),
            reason: "another program made it".to_owned(),
        });
    }
    let found: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(&wrong)?;
    let known = i64::try_from(schema::VERSION).unwrap_or(i64::MAX);
    if found > known {
        return Err(OpenError::Newer { database: name(path), found, known });
    }
    Ok(())
}

/// Reading waits for memory and disk more than for the processor: a few more than there are cores help, many do not.
fn reader_count() -> usize {
    std::thread::available_parallelism().map_or(4, |cores| cores.get().clamp(4, 16))
}

fn unusable(path: &Path, source: StoreError) -> OpenError {
    OpenError::Store { database: name(path), source }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

fn unavailable(error: &io::Error) -> StoreError {
    StoreError::Unavailable { reason: error.to_string() }
}

/// An empty database in memory, behind a connection like those of a store.
#[cfg(test)]
pub(super) fn in_memory() -> Connection {
    let mut db = Connection::open_in_memory().unwrap();
    prepare(&db, Durability::None).unwrap();
    schema::migrate(&mut db).unwrap();
    db
}
