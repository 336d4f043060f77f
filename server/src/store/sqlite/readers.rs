//! The connections for reading.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::store::{Pool, Result, StoreError};

/// Maximum time to wait for a free connection. A reader keeps its connection until the statement has ended, even if the caller has
/// disconnected.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// A fixed set of connections, each used by one reader at a time.
#[derive(Debug)]
pub(super) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
    connections: usize,
    /// Each reader that waits for a connection has a clone.
    waiting: Arc<()>,
}

impl Readers {
    pub(super) fn new(connections: Vec<Connection>) -> Self {
        let number = connections.len();
        Self {
            idle: Arc::new(Mutex::new(connections)),
            permits: Arc::new(Semaphore::new(number)),
            connections: number,
            waiting: Arc::new(()),
        }
    }

    /// The connections at this moment.
    pub(super) fn pool(&self) -> Pool {
        Pool {
            connections: self.connections,
            busy: self.connections.saturating_sub(self.permits.available_permits()),
            waiting: Arc::strong_count(&self.waiting) - 1,
        }
    }

    /// Waits until a connection is free.
    async fn lease(&self) -> Result<Lease> {
        let _waiting = Arc::clone(&self.waiting);
        let permit = tokio::time::timeout(MAX_WAIT, Arc::clone(&self.permits).acquire_owned()).await;
        let permit = permit
            .map_err(|_| StoreError::Busy("every connection to the database is in use".to_owned()))?
            .map_err(|_| StoreError::Closed)?;
        let connection = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Ok(Lease { connection, idle: Arc::clone(&self.idle), _permit: permit })
    }

    /// Runs `work` on a thread that may block.
    pub(super) async fn read(
        &self,
        work: impl FnOnce(&Connection) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let lease = self.lease().await?;
        let reading =
            tokio::task::spawn_blocking(move || work(lease.connection.as_ref().ok_or(StoreError::Closed)?));
        reading.await.unwrap_or_else(|error| Err(StoreError::Internal(error.to_string())))
    }
}

/// A connection, which is returned when this is dropped, also if the work on it panics.
struct Lease {
    connection: Option<Connection>,
    idle: Arc<Mutex<Vec<Connection>>>,
    // Returned after the connection, so that a reader with a permit finds one.
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
    async fn disconnected_callers_keep_their_connection_and_others_wait_for_a_limited_time() {
        let readers = Readers::new(vec![Connection::open_in_memory().unwrap()]);
        let (release, held) = mpsc::channel::<()>();
        let mut long = Box::pin(readers.read(move |_| held.recv().map_err(|_| StoreError::Closed)));
        assert!(futures::poll!(long.as_mut()).is_pending());
        drop(long);
        assert_eq!(readers.pool().busy, 1, "the statement goes on");
        let response = readers.read(|_| Ok(())).await;
        assert!(matches!(response, Err(StoreError::Busy { .. })), "{response:?}");
        assert_eq!(readers.pool().waiting, 0);
        release.send(()).unwrap();
        readers.read(|_| Ok(())).await.unwrap();
    }
}
