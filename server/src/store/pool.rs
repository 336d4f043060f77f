//! Connections that sessions share. Each serves one session at a time, on a thread that may block.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    time::Duration,
};

use deadpool::{
    Runtime,
    managed::{self, Manager, Object, PoolError, Status, TimeoutType},
};

use super::{
    Result, StoreError, Work,
    session::{Access, Session},
};

/// The connections that queries share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// Maximum number of connections.
    pub connections: usize,
    /// Number of connections in use.
    pub busy: usize,
    /// Number of queries that wait for a connection.
    pub waiting: usize,
}

impl<M: Manager> From<&managed::Pool<M>> for Pool {
    fn from(pool: &managed::Pool<M>) -> Self {
        let Status { max_size, size, available, waiting } = pool.status();
        Self { connections: max_size, busy: size.saturating_sub(available), waiting }
    }
}

/// Maximum time to connect, and to get a response beyond the time of a statement.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A pool of so many connections at most, which are opened on demand, for one of which callers wait for so long.
pub(super) fn pool<M: Manager>(manager: M, connections: usize, wait: Duration) -> Result<managed::Pool<M>> {
    managed::Pool::builder(manager)
        .max_size(connections)
        .wait_timeout(Some(wait))
        .create_timeout(Some(CONNECT_TIMEOUT))
        .recycle_timeout(Some(CONNECT_TIMEOUT))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| StoreError::Internal(error.to_string()))
}

impl<E: Into<Self>> From<PoolError<E>> for StoreError {
    fn from(error: PoolError<E>) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(TimeoutType::Wait) => {
                Self::Busy("every connection to the database is in use".to_owned())
            }
            PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => {
                Self::Unavailable("the database does not respond".to_owned())
            }
            PoolError::Closed => Self::Closed,
            PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                Self::Internal("the pool of connections is not set up".to_owned())
            }
        }
    }
}

/// Runs `work` with a connection, once one is free. The connection returns to the pool when `work` has ended, also if the caller stops
/// waiting: callers that disconnect and retry must not queue statements without bound. It is closed unless `work` says that it is idle.
pub(super) async fn with_connection<M, T>(
    pool: &managed::Pool<M>,
    work: impl FnOnce(&M::Type) -> (T, bool) + Send + 'static,
) -> Result<T>
where
    M: Manager<Error: Into<StoreError>> + 'static,
    T: Send + 'static,
{
    let connection = pool.get().await?;
    let working = tokio::task::spawn_blocking(move || {
        let ended = catch_unwind(AssertUnwindSafe(|| work(&connection)));
        if !matches!(ended, Ok((_, true))) {
            drop(Object::take(connection));
        }
        ended.map_or_else(|panic| resume_unwind(panic), |(outcome, _)| outcome)
    });
    working.await.map_err(|error| StoreError::Internal(error.to_string()))
}

/// Runs `work` in a transaction of its own, except for a request, whose queries are one statement each. Returns whether the connection
/// is idle then.
pub(super) fn transact(session: &mut dyn Session, access: Access, work: Work) -> (Result<()>, bool) {
    let begin = match access {
        Access::Read | Access::Write => return (work(session), session.is_idle()),
        Access::Snapshot => session.dialect().snapshot,
        Access::Change => session.dialect().change,
    };
    let begun = session.batch(begin);
    let result = begun.and_then(|()| {
        let result = work(session);
        let ended = session.batch(if result.is_ok() { "COMMIT" } else { "ROLLBACK" });
        result.and(ended)
    });
    (result, session.is_idle())
}
