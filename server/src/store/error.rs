//! Errors of the storage.

use std::fmt;

use crate::domain::{ports::RepositoryError, rejection::Rejection};

/// Why a query to the storage failed. The texts say what the database engine reports.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process or connection holds the lock for longer than the timeout.
    #[error("the database is locked by another process; try again when that process has finished")]
    Locked,
    /// The database does not respond within the timeout.
    #[error("the database is busy: {0}; try again in a moment")]
    Busy(String),
    /// No space is left on the disk.
    #[error("the disk is full; nothing was changed")]
    Full,
    /// The database cannot be written.
    #[error("the database is read-only; make it writable")]
    ReadOnly,
    /// Stored data is invalid.
    #[error("the database is corrupt: {0}; restore it from a backup")]
    Corrupt(String),
    /// The database cannot be reached.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// The storage was shut down.
    #[error("the storage has been shut down")]
    Closed,
    /// A constraint of the database keeps a row from being stored.
    #[error("{1}")]
    Conflict(Option<Conflict>, String),
    /// A bug of this program.
    #[error("unexpected response of the database: {0}")]
    Internal(String),
}

/// What is wrong with a row that cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// A row with the same identity is stored.
    AlreadyExists,
    /// What a foreign key refers to is not stored.
    UnknownReference,
    /// A text has a NUL character, which the database cannot store.
    NulCharacter,
}

/// The result of a query to the storage.
pub(super) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error of the operating system, such as from a database file.
impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// The error as the domain sees it.
impl From<StoreError> for RepositoryError {
    fn from(error: StoreError) -> Self {
        let rejection = match error {
            StoreError::Locked | StoreError::Busy(_) => Rejection::Busy,
            StoreError::Full
            | StoreError::ReadOnly
            | StoreError::Corrupt(_)
            | StoreError::Unavailable(_)
            | StoreError::Closed => Rejection::Unavailable,
            StoreError::Conflict(..) | StoreError::Internal(_) => Rejection::Internal,
        };
        Self { rejection, text: error.to_string() }
    }
}

/// Why a database cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("{database}: {reason}")]
pub struct OpenError {
    /// The file, or the URL without its password.
    pub database: String,
    /// What is wrong with it.
    pub reason: Unusable,
}

/// What is wrong with a database that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It does not exist.
    #[error("no database is there; create one with `server create`, `server seed` or `server import`")]
    Missing,
    /// It belongs to another program, as was detected by this.
    #[error("not a database of this server: {0}")]
    Foreign(&'static str),
    /// A later version of this program created it.
    #[error(
        "the database has schema version {0}, but this program knows versions up to {1}; use a newer program"
    )]
    Newer(i64, i64),
    /// Anything else.
    #[error(transparent)]
    Store(StoreError),
}

impl<E: Into<StoreError>> From<E> for Unusable {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}

/// Why a load failed.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Some lines are invalid.
    #[error("{0}")]
    Rejected(BadLines),
    /// The lines cannot be read.
    #[error("the input cannot be read: {0}")]
    Input(#[from] std::io::Error),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The sink failed.
    #[error("the output cannot be written: {0}")]
    Output(#[from] std::io::Error),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Lines that cannot be loaded.
#[derive(Debug, Default)]
pub struct BadLines {
    /// Line numbers, from 1, with the reasons.
    pub lines: Vec<(u64, String)>,
    /// Whether reading stopped at [`BadLines::MAX`].
    pub cut_short: bool,
}

impl BadLines {
    /// Number of invalid lines after which reading stops.
    pub const MAX: usize = 20;
}

impl fmt::Display for BadLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.lines.len();
        let (more, lines) =
            (if self.cut_short { "at least " } else { "" }, if count == 1 { "line" } else { "lines" });
        write!(f, "{more}{count} invalid {lines}; nothing was imported")?;
        self.lines.iter().try_for_each(|(number, reason)| write!(f, "\n  line {number}: {reason}"))
    }
}
