//! The connections to a file: a few for reading, and one for changes, because SQLite has one writer at a time.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::store::{Pool, Result, StoreError};

/// Maximum time to wait for a free connection. One is kept until its work has ended, even if the caller has disconnected.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// A fixed set of connections, each used by one session at a time.
#[derive(Debug)]
pub(super) struct Connections {
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
    number: usize,
    waiting: AtomicUsize,
    /// Whether transactions take the write lock at their beginning.
    are_writers: bool,
}

impl Connections {
    /// Connections for reading, or for changes.
    pub(super) fn new(connections: Vec<Connection>, are_writers: bool) -> Self {
        let number = connections.len();
        let (idle, permits) = (Arc::new(Mutex::new(connections)), Arc::new(Semaphore::new(number)));
        Self { idle, permits, number, waiting: AtomicUsize::new(0), are_writers }
    }

    /// The connections at this moment.
    pub(super) fn pool(&self) -> Pool {
        Pool {
            connections: self.number,
            busy: self.number.saturating_sub(self.permits.available_permits()),
            waiting: self.waiting.load(Ordering::Relaxed),
        }
    }

    /// Waits until a connection is free.
    async fn lease(&self) -> Result<Lease> {
        let _waiting = Waiting::new(&self.waiting);
        let permit = tokio::time::timeout(MAX_WAIT, Arc::clone(&self.permits).acquire_owned()).await;
        let permit = permit
            .map_err(|_| StoreError::Busy("every connection to the database is in use".to_owned()))?
            .map_err(|_| StoreError::Closed)?;
        let connection = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Ok(Lease { connection, idle: Arc::clone(&self.idle), _permit: permit })
    }

    /// Runs `work` in a transaction, on a thread that may block, and undoes its changes if it fails. It goes on if the caller stops
    /// waiting.
    pub(super) async fn run<T, E>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let mut lease = self.lease().await?;
        let behavior = match self.are_writers {
            true => TransactionBehavior::Immediate,
            false => TransactionBehavior::Deferred,
        };
        let working = tokio::task::spawn_blocking(move || {
            let connection = lease.connection.as_mut().ok_or(StoreError::Closed)?;
            let transaction = connection.transaction_with_behavior(behavior).map_err(StoreError::from)?;
            let value = work(&transaction)?;
            transaction.commit().map_err(StoreError::from)?;
            Ok(value)
        });
        working.await.unwrap_or_else(|error| Err(StoreError::Internal(error.to_string()).into()))
    }
}

/// Counts a caller that waits for a connection, until this is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection, which is returned when this is dropped, also if the work on it panics.
struct Lease {
    connection: Option<Connection>,
    idle: Arc<Mutex<Vec<Connection>>>,
    // Returned after the connection, so that a session with a permit finds one.
    _permit: OwnedSemaphorePermit,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(self.connection.take());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn the_work_of_disconnected_callers_goes_on_and_others_wait_for_a_limited_time() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE entries (value TEXT)").unwrap();
        let connections = Connections::new(vec![db], true);
        let (release, held) = mpsc::channel::<()>();
        let insert =
            |db: &Connection| db.execute("INSERT INTO entries VALUES ('')", []).map_err(StoreError::from);
        let mut long = Box::pin(connections.run(move |db| {
            held.recv().map_err(|_| StoreError::Closed)?;
            insert(db)
        }));
        assert!(futures::poll!(long.as_mut()).is_pending());
        drop(long);
        assert_eq!(connections.pool().busy, 1, "the statement goes on");
        let response = connections.run(move |db| insert(db)).await;
        assert!(matches!(response, Err(StoreError::Busy { .. })), "{response:?}");
        assert_eq!(connections.pool().waiting, 0);
        release.send(()).unwrap();
        let failed = connections.run(move |db| insert(db).and(Err::<(), _>(StoreError::Closed))).await;
        assert!(matches!(failed, Err(StoreError::Closed)), "{failed:?}");
        let count = |db: &Transaction<'_>| {
            let count: u32 = db.query_row("SELECT count(*) FROM entries", [], |row| row.get(0))?;
            Ok::<_, StoreError>(count)
        };
        assert_eq!(connections.run(count).await.unwrap(), 1, "what failed is undone");
    }
}
