//! PostgreSQL, which any number of servers can share. A query of a request is one statement, so that it reads one snapshot in one round
//! trip.

mod connect;
mod error;
mod session;

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::LazyLock,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use deadpool_postgres::{Object, Status};
use tokio::runtime::Handle;
use tokio_postgres::Config;

use self::session::PostgresSession;
pub use self::{connect::Limits, session::DIALECT};
use super::{
    OpenError, OpenMode, Pool, Result, StoreError, Work,
    cache::{Epoch, Epochs},
    database::{Backend, Store},
    schema,
    session::{Access, Dialect},
};

/// How long cached data is used at most: 250 ms from when its query was sent. A server is not notified when another server or a command
/// changes the database. Commands that change something wait for longer before they report success, so that the change is then in
/// force on every server.
pub const LEASE: Duration = Duration::from_millis(250);

/// The connections to a PostgreSQL server.
#[derive(Debug)]
pub struct Postgres {
    pool: deadpool_postgres::Pool,
    response_timeout: Duration,
}

impl Store {
    /// Connects to a PostgreSQL database and brings its schema up to date. A lost connection fails the calls that are on it; the next ones
    /// get a new one.
    pub(super) async fn connect(
        config: &Config,
        database: String,
        mode: OpenMode,
        limits: Limits,
    ) -> Result<Self, OpenError> {
        let unusable = |source| OpenError::Store { database: database.clone(), source };
        let pool = connect::pool(config, limits).map_err(unusable)?;
        let client = pool.get().await.map_err(|error| unusable(error.into()))?;
        let (runtime, name) = (Handle::current(), database.clone());
        let migrating = tokio::task::spawn_blocking(move || {
            schema::migrate(&mut PostgresSession::new(&client, &runtime, None), &name, mode)
        });
        migrating.await.map_err(|error| unusable(StoreError::Internal(error.to_string())))??;
        Ok(Self::new(Postgres { pool, response_timeout: limits.response() }))
    }
}

#[async_trait]
impl Backend for Postgres {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    /// The connection returns to the pool when the session has ended, also if the caller stops waiting: callers that disconnect and
    /// retry must not queue statements without bound. A connection on which a statement is still under way then is closed, because its
    /// process in the database does not run. The statement is not cancelled: a cancellation may arrive so late that it cancels the next
    /// caller's.
    async fn execute(&self, access: Access, work: Work) -> Result<()> {
        let client = self.pool.get().await?;
        let runtime = Handle::current();
        let limit = matches!(access, Access::Read | Access::Write).then_some(self.response_timeout);
        let working = tokio::task::spawn_blocking(move || {
            let mut session = PostgresSession::new(&client, &runtime, limit);
            let result = catch_unwind(AssertUnwindSafe(|| session.transact(access, work)));
            if !session.is_idle {
                drop(Object::take(client));
            }
            result.unwrap_or_else(|panic| resume_unwind(panic))
        });
        working.await.unwrap_or_else(|error| Err(StoreError::Internal(error.to_string())))
    }

    fn epochs(&self) -> Option<Epochs> {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        let leases = START.elapsed().as_millis() / LEASE.as_millis();
        let epoch = Epoch(i64::try_from(leases).ok()?);
        Some(Epochs { access: epoch, gateways: epoch })
    }

    fn pool(&self) -> Pool {
        let Status { max_size, size, available, waiting } = self.pool.status();
        Pool { connections: max_size, busy: size.saturating_sub(available), waiting }
    }
}
