//! The location of a database: a file, or a PostgreSQL server.

use std::{ffi::OsStr, fmt, path::PathBuf, str::FromStr, sync::Arc};

use super::{
    OpenError, OpenMode, Store,
    postgres::{Limits, PostgresStore, PostgresUrl},
    sqlite::SqliteStore,
};

/// The location of a database: `postgres://user:password@host/database`, or else the path of a file. `Display` and `Debug` leave
/// out the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A SQLite file.
    File(PathBuf),
    /// A database on a PostgreSQL server, or on another one that speaks its protocol.
    Postgres(PostgresUrl),
}

/// Why a text is not a location. The text is not quoted, because it may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a file or postgres://user:password@host/database for the database; the URL has {0} (a special character \
     in the password is written as % and two hexadecimal digits)"
)]
pub struct LocationError(pub(super) String);

impl Location {
    /// Opens the database and brings its schema up to date.
    ///
    /// # Errors
    /// Says in one line why the database cannot be used.
    pub async fn open(&self, mode: OpenMode) -> Result<Arc<dyn Store>, OpenError> {
        Ok(match self {
            Self::File(path) => Arc::new(SqliteStore::open(path, mode)?),
            Self::Postgres(url) => Arc::new(PostgresStore::open(url, mode, Limits::default()).await?),
        })
    }
}

impl TryFrom<&OsStr> for Location {
    type Error = LocationError;

    fn try_from(text: &OsStr) -> Result<Self, Self::Error> {
        // Text that is not Unicode can only be a path.
        text.to_str().map_or_else(|| Ok(Self::File(text.into())), str::parse)
    }
}

impl FromStr for Location {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if PostgresUrl::SCHEMES.iter().any(|scheme| text.starts_with(scheme)) {
            text.parse().map(Self::Postgres)
        } else {
            Ok(Self::File(text.into()))
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(url) => url.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_files_are_distinguished() {
        for file in ["real.db", "/var/lib/postgres", "postgres.db", "-"] {
            assert_eq!(Location::try_from(OsStr::new(file)).unwrap(), Location::File(file.into()));
        }
        for url in ["postgres://acme@db.invalid/sallyport", "postgresql://db.invalid:5433/x"] {
            assert!(matches!(url.parse(), Ok(Location::Postgres(_))), "{url}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let location: Location = "postgres://acme:very-secret@db.invalid/sallyport".parse().unwrap();
        assert_eq!(location.to_string(), "postgres://acme@db.invalid/sallyport");
        assert!(!format!("{location:?}").contains("very-secret"));
        for bad in [
            "postgres://acme:very-secret@db.invalid:very-secret/x",
            "postgres://acme@db.invalid/x?password=very-secret&sslmode=very-secret",
            "postgres://acme:very-secret@db.invalid/x?very-secret=1",
        ] {
            let error = bad.parse::<Location>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("very-secret"), "{error}");
        }
    }
}
