//! What can go wrong with a storage.

use std::fmt;

use crate::domain::ports::RepositoryError;

/// Why a query to the storage failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process or connection holds the lock for longer than we wait.
    #[error("the database is locked by another process; try again when that process has finished")]
    Locked,
    /// The database is too busy to respond within our time limit.
    #[error("the database is busy: {reason}; try again in a moment")]
    Busy {
        /// What is waited for.
        reason: String,
    },
    /// No space is left on the disk.
    #[error("the disk is full; nothing was changed")]
    Full,
    /// The database cannot be written.
    #[error("the database is read-only; make it writable")]
    ReadOnly,
    /// FromColumn data is invalid.
    #[error("the database is corrupt: {reason}; restore it from a backup")]
    Corrupt {
        /// What the database engine says.
        reason: String,
    },
    /// The database cannot be reached.
    #[error("the database cannot be reached: {reason}")]
    Unavailable {
        /// What the database engine says.
        reason: String,
    },
    /// The storage was shut down.
    #[error("the storage has been shut down")]
    Closed,
    /// A change would contradict what is stored.
    #[error("{reason}")]
    Conflict {
        /// What it contradicts.
        reason: String,
    },
    /// A bug of this program.
    #[error("unexpected response of the database: {reason}")]
    Internal {
        /// What the database engine says.
        reason: String,
    },
}

/// The error as the domain sees it.
impl From<StoreError> for RepositoryError {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        match error {
            StoreError::Locked | StoreError::Busy { .. } => Self::Busy(text),
            StoreError::Full
            | StoreError::ReadOnly
            | StoreError::Corrupt { .. }
            | StoreError::Unavailable { .. }
            | StoreError::Closed => Self::Unavailable(text),
            StoreError::Conflict { .. } | StoreError::Internal { .. } => Self::Internal(text),
        }
    }
}

/// Why a database cannot be opened. Each names the database: the file, or the URL without its password.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no such database.
    #[error("no database at {database}; create one with `server seed` or `server import`")]
    Missing {
        /// Where it should be.
        database: String,
    },
    /// The database is something else.
    #[error("{database} is not a database of this server: {reason}")]
    Foreign {
        /// The database.
        database: String,
        /// What shows it.
        reason: String,
    },
    /// A later version of this program created the database.
    #[error(
        "{database} has schema version {found}, but this program knows versions up to {known}; use a newer program"
    )]
    Newer {
        /// The database.
        database: String,
        /// Its schema version.
        found: i64,
        /// The latest version that is known here.
        known: i64,
    },
    /// Anything else.
    #[error("{database}: {source}")]
    Store {
        /// The database.
        database: String,
        /// What is wrong with it.
        source: StoreError,
    },
}

/// Why nothing was loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Some lines are wrong.
    #[error("{0}")]
    Rejected(BadLines),
    /// The source of the lines failed.
    #[error("the input cannot be read: {0}")]
    Input(#[from] std::io::Error),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why not all records were exported.
#[derive(Debug, thiserror::Error)]
pub enum UnloadError {
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
    /// Line numbers, from 1, with what is wrong.
    pub lines: Vec<(u64, String)>,
    /// Reading stopped before the end, since there were too many.
    pub cut_short: bool,
}

impl BadLines {
    /// Number of invalid lines after which reading stops.
    pub const MOST: usize = 20;
}

impl fmt::Display for BadLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.lines.len();
        let (more, lines) =
            (if self.cut_short { "at least " } else { "" }, if count == 1 { "line" } else { "lines" });
        write!(f, "{more}{count} bad {lines}; nothing was imported")?;
        self.lines.iter().try_for_each(|(number, reason)| write!(f, "\n  line {number}: {reason}"))
    }
}
