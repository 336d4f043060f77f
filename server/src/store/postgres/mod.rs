//! PostgreSQL, which any number of servers can share. A query of a request is one statement, so that it reads one snapshot in one round
//! trip.

mod connect;
mod error;
mod session;

use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tokio_postgres::Config;

use self::session::PostgresSession;
pub use self::{connect::Limits, session::DIALECT};
use super::{
    OpenMode, Pool, Result, Unusable, Work,
    cache::{Epoch, Epochs},
    database::Backend,
    pool::{transact, with_connection},
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

impl Postgres {
    /// Connects to a database and brings its schema up to date. A lost connection fails the calls that are on it; the next ones get a new
    /// one.
    pub(super) async fn connect(config: &Config, mode: OpenMode, limits: Limits) -> Result<Self, Unusable> {
        let pool = connect::pool(config, limits)?;
        let migrate = move |client: &_| {
            let migrated = schema::migrate(&mut PostgresSession::new(client, None), mode);
            let is_idle = migrated.is_ok();
            (migrated, is_idle)
        };
        with_connection(&pool, migrate).await??;
        Ok(Self { pool, response_timeout: limits.response() })
    }
}

#[async_trait]
impl Backend for Postgres {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    /// A connection on which a statement is still under way in the end is closed, because its process in the database does not run. The
    /// statement is not cancelled: a cancellation may arrive so late that it cancels the next caller's.
    async fn execute(&self, access: Access, work: Work) -> Result<()> {
        let limit = matches!(access, Access::Read | Access::Write).then_some(self.response_timeout);
        let used = with_connection(&self.pool, move |client| {
            transact(&mut PostgresSession::new(client, limit), access, work)
        });
        used.await?
    }

    fn epochs(&self) -> Option<Epochs> {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        let leases = START.elapsed().as_millis() / LEASE.as_millis();
        let epoch = Epoch(i64::try_from(leases).ok()?);
        Some(Epochs { access: epoch, gateways: epoch })
    }

    fn pool(&self) -> Pool {
        Pool::from(&self.pool)
    }
}
