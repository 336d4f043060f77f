//! Maps PostgreSQL's error codes to [`StoreError`]. No message holds the connection's password.

use std::error::Error as _;

use tokio_postgres::{Error, error::SqlState};

use crate::store::{Conflict, StoreError};

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        let Some(db_error) = error.as_db_error() else {
            // An error that is not from the database is one of the connection.
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            return Self::Unavailable(reason);
        };
        let reason = db_error.message().to_owned();
        match *db_error.code() {
            SqlState::QUERY_CANCELED
            | SqlState::LOCK_NOT_AVAILABLE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::T_R_SERIALIZATION_FAILURE
            | SqlState::TOO_MANY_CONNECTIONS => Self::Busy(reason),
            SqlState::UNIQUE_VIOLATION => Self::Conflict(Some(Conflict::AlreadyExists), reason),
            SqlState::FOREIGN_KEY_VIOLATION => Self::Conflict(Some(Conflict::UnknownReference), reason),
            SqlState::DISK_FULL => Self::Full,
            SqlState::READ_ONLY_SQL_TRANSACTION => Self::ReadOnly,
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => Self::Corrupt(reason),
            ref code => match code.code().get(..2) {
                // Integrity constraint violation.
                Some("23") => Self::Conflict(None, reason),
                // Connection exception, invalid authorization, invalid catalog name, insufficient resources, operator
                // intervention, system error.
                Some("08" | "28" | "3D" | "53" | "57" | "58") => Self::Unavailable(reason),
                _ => Self::Internal(reason),
            },
        }
    }
}
