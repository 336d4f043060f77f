//! Maps SQLite's error codes to [`StoreError`].

use rusqlite::{
    Error, ErrorCode,
    ffi::{SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE},
};

use crate::store::{Conflict, StoreError};

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        let reason = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt(reason),
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::PermissionDenied) => {
                Self::Unavailable(reason)
            }
            Some(ErrorCode::ConstraintViolation) => {
                let conflict = match error.sqlite_extended_error_code() {
                    Some(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE) => Conflict::AlreadyExists,
                    Some(SQLITE_CONSTRAINT_FOREIGNKEY) => Conflict::UnknownReference,
                    _ => return Self::Conflict(None, reason),
                };
                Self::Conflict(Some(conflict), reason)
            }
            _ => Self::Internal(reason),
        }
    }
}
