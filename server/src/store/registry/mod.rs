//! Administration of the records of a database: list, put and remove records of any kind, and issue, rotate and revoke tokens.
//! Every change is one transaction. When it has succeeded, it is in force for the next call on every server of the database.

mod accounts;
mod list;
mod put;
mod remove;
mod rules;
mod tokens;

use std::io;

pub use self::{
    list::Condition,
    remove::{Dependents, Selection},
    tokens::{End, IssuedToken},
};
use super::{
    Access, Session, Store, StoreError,
    record::{missing_fields, shown_name},
    record_kind::{Field, RecordKind},
};

/// Why a query failed, or a change was not made. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Unknown name or number.
    #[error("{0}")]
    Unknown(String),
    /// The condition, record or change is invalid, or other records refer to a record to be removed.
    #[error("{0}")]
    Rejected(String),
    /// Fields of a record are missing.
    #[error("{}: {}", kind.noun(), missing_fields(fields))]
    Missing {
        /// The kind of the record.
        kind: RecordKind,
        /// The fields.
        fields: Vec<&'static Field>,
    },
    /// The output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(#[source] io::Error),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RegistryError {
    /// The error of one of several records, by its place among them.
    fn in_record(self, number: usize) -> Self {
        let at = |reason: &dyn std::fmt::Display| format!("record {number}: {reason}");
        match self {
            Self::Unknown(reason) => Self::Unknown(at(&reason)),
            Self::Rejected(reason) => Self::Rejected(at(&reason)),
            Self::Store(StoreError::Conflict(_, reason)) => Self::Rejected(at(&reason)),
            Self::Missing { .. } => Self::Rejected(at(&self)),
            other => other,
        }
    }
}

/// The result of a query or a change.
pub(in crate::store) type Result<T, E = RegistryError> = std::result::Result<T, E>;

fn rejected<T>(reason: impl Into<String>) -> Result<T> {
    Err(RegistryError::Rejected(reason.into()))
}

impl Store {
    /// Executes `work` in a transaction, which is rolled back when `work` fails, and waits until the change is in force on
    /// every server.
    async fn change<T: Send + 'static>(
        &self,
        kind: RecordKind,
        work: impl FnOnce(&mut dyn Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let value = self.run(Access::Change, work).await?;
        // No server caches groups and instances.
        if !matches!(kind, RecordKind::Group | RecordKind::Instance) {
            self.wait_until_in_force().await;
        }
        Ok(value)
    }
}
