//! Administration of accounts, tokens, whitelists, entitlements, gateways, groups and instances. Every change is one transaction.
//! When it has succeeded, it is in force for the next call on every server of the database.

mod accounts;
mod entitlements;
mod gateways;
mod groups;
mod instances;
mod numbers;
mod session;
mod tokens;
mod whitelist;

use std::{io, ops::ControlFlow};

use self::session::Query;
pub use self::{
    accounts::{AccountFilter, AccountSummary},
    entitlements::EntitlementFilter,
    gateways::{GatewayEntry, GatewayFilter, GatewayName},
    groups::GroupFilter,
    instances::{GroupChoice, InstanceEntry, InstanceFilter},
    tokens::{NewToken, Replacement, TokenEntry, TokenFilter},
    whitelist::{WhitelistFilter, WhitelistRow},
};
use super::{
    Location, OpenError, OpenMode, StoreError,
    database::Backend as _,
    postgres::{Limits, PostgresStore},
    session::{Access, Session},
    sqlite::SqliteStore,
    value::{FromRow, Row, Value, from_row},
};

/// A database to administer, also while servers run on it.
#[derive(Debug)]
pub struct Registry(Backend);

#[derive(Debug)]
enum Backend {
    Sqlite(Box<SqliteStore>),
    Postgres(PostgresStore),
}

/// Why a query failed, or a change was not made. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Unknown name or number.
    #[error("{0}")]
    Unknown(String),
    /// The name or number already exists.
    #[error("{0}")]
    AlreadyExists(String),
    /// Other records refer to the record to be removed.
    #[error("{0}")]
    InUse(String),
    /// The change is invalid.
    #[error("{0}")]
    Rejected(String),
    /// The output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(#[source] io::Error),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The result of a query or a change.
pub(in crate::store) type Result<T, E = RegistryError> = std::result::Result<T, E>;

/// An entry that can be listed. The trait is sealed: `Query` and `FromRow` cannot be named elsewhere.
pub trait ListEntry: FromRow + Send + 'static {
    /// Selects entries.
    type Filter: Send + 'static;

    /// The query for all matching entries, in a stable order.
    #[doc(hidden)]
    fn query(session: &mut dyn Session, filter: &Self::Filter) -> Result<Query>;
}

/// Receives the entries of a list, on a thread that may block.
pub trait ListConsumer<T>: Send + 'static {
    /// Receives one entry.
    ///
    /// # Errors
    /// The entry cannot be written; no more follow then.
    fn take(&mut self, item: T) -> io::Result<()>;
}

impl<T: Send + 'static> ListConsumer<T> for Vec<T> {
    fn take(&mut self, item: T) -> io::Result<()> {
        self.push(item);
        Ok(())
    }
}

impl Registry {
    /// Opens an existing database and brings its schema up to date.
    ///
    /// # Errors
    /// Says in one line why the database cannot be used.
    pub async fn open(location: &Location) -> Result<Self, OpenError> {
        let mode = OpenMode::Existing;
        Ok(Self(match location {
            Location::File(path) => Backend::Sqlite(Box::new(SqliteStore::open(path, mode)?)),
            Location::Postgres(url) => {
                Backend::Postgres(PostgresStore::open(url, mode, Limits::default()).await?)
            }
        }))
    }

    /// Passes at most `limit` matching entries to `consumer`, from one snapshot. Returns the consumer, and whether there are more
    /// entries.
    ///
    /// # Errors
    /// The filter names an unknown account, the consumer fails, or the storage fails.
    pub async fn list<T: ListEntry, S: ListConsumer<T>>(
        &self,
        filter: T::Filter,
        limit: Option<u32>,
        mut consumer: S,
    ) -> Result<(S, bool)> {
        self.read(move |session| {
            let mut query = T::query(session, &filter)?;
            if let Some(limit) = limit {
                // One more, to find out whether there are more entries.
                query.values.push(Value::Number(i64::from(limit) + 1));
                query.sql.push_str(&format!(" LIMIT ${}", query.values.len()));
            }
            let (mut count, mut more) = (0_u64, false);
            session.each::<RegistryError>(&query.sql, &query.values, &mut |mut row| {
                more = limit.is_some_and(|limit| count == u64::from(limit));
                if more {
                    return Ok(ControlFlow::Break(()));
                }
                count += 1;
                consumer.take(T::from_row(&mut row)?).map_err(RegistryError::Output)?;
                Ok(ControlFlow::Continue(()))
            })?;
            Ok((consumer, more))
        })
        .await
    }

    /// Executes `work` in a transaction, which is rolled back when `work` fails, and waits until the change is in force on
    /// every server.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let value = self.change_uncached(work).await?;
        if let Backend::Postgres(store) = &self.0 {
            store.backend.wait_until_in_force().await;
        }
        Ok(value)
    }

    /// The same for changes of data that no server caches, which are in force as soon as they are committed.
    async fn change_uncached<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match &self.0 {
            Backend::Sqlite(store) => store.backend.run(Access::Change, work).await,
            Backend::Postgres(store) => store.backend.run(Access::Change, work).await,
        }
    }

    /// Queries one snapshot.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match &self.0 {
            Backend::Sqlite(store) => store.backend.run(Access::Snapshot, work).await,
            Backend::Postgres(store) => store.backend.run(Access::Snapshot, work).await,
        }
    }
}
