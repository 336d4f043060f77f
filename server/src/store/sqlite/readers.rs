//! The connections for reading.

use std::{sync::Arc, time::Duration};

use deadpool::{Status, unmanaged};
use rusqlite::Connection;

use crate::store::{Pool, Result, StoreError};

/// Maximum time to wait for a free connection. A reader keeps its connection until the statement has ended, even if the caller has
/// disconnected.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// A fixed set of connections, each used by one reader at a time.
#[derive(Debug)]
pub(super) struct Readers {
    connections: unmanaged::Pool<Connection>,
    /// Each reader that waits for a connection has a clone.
    waiting: Arc<()>,
}

impl Readers {
    pub(super) fn new(connections: Vec<Connection>) -> Self {
        Self { connections: connections.into(), waiting: Arc::new(()) }
    }

    /// The connections at this moment.
    pub(super) fn pool(&self) -> Pool {
        let Status { max_size, available, .. } = self.connections.status();
        Pool {
            connections: max_size,
            busy: max_size.saturating_sub(available),
            waiting: Arc::strong_count(&self.waiting) - 1,
        }
    }

    /// Runs `work` on a thread that may block, once a connection is free.
    pub(super) async fn read(
        &self,
        work: impl FnOnce(&Connection) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let waiting = Arc::clone(&self.waiting);
        let connection = tokio::time::timeout(MAX_WAIT, self.connections.get()).await;
        drop(waiting);
        let connection = connection
            .map_err(|_| StoreError::Busy("every connection to the database is in use".to_owned()))?
            .map_err(|_| StoreError::Closed)?;
        let reading = tokio::task::spawn_blocking(move || work(&connection));
        reading.await.unwrap_or_else(|error| Err(StoreError::Internal(error.to_string())))
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
