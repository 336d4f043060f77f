//! Connections that read.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rusqlite::{Connection, Transaction};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::store::{Pool, StoreError};

/// Maximum wait for a connection to be free. A reader keeps its connection until the statement has ended, even if the
/// caller has left.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// A fixed set of connections, each used by one reader at a time.
#[derive(Debug)]
pub(super) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    turns: Arc<Semaphore>,
    connections: usize,
    waiting: AtomicUsize,
}

impl Readers {
    pub(super) fn new(connections: Vec<Connection>) -> Self {
        let number = connections.len();
        Self {
            idle: Arc::new(Mutex::new(connections)),
            turns: Arc::new(Semaphore::new(number)),
            connections: number,
            waiting: AtomicUsize::new(0),
        }
    }

    /// The connections at this moment.
    pub(super) fn pool(&self) -> Pool {
        Pool {
            connections: self.connections,
            busy: self.connections.saturating_sub(self.turns.available_permits()),
            waiting: self.waiting.load(Ordering::Relaxed),
        }
    }

    /// Waits until a connection is free.
    async fn turn(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let turns = Arc::clone(&self.turns);
        if let Ok(turn) = Arc::clone(&turns).try_acquire_owned() {
            return Ok(turn);
        }
        let _waiting = WaitingReader::among(&self.waiting);
        match tokio::time::timeout(MAX_WAIT, turns.acquire_owned()).await {
            Ok(turn) => turn.map_err(|_| StoreError::Closed),
            Err(_) => {
                Err(StoreError::Busy { reason: "every connection to the database is in use".to_owned() })
            }
        }
    }

    /// Runs `work` on a thread that may block, in one snapshot of the database.
    pub(super) async fn read<T, E>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let turn = self.turn().await?;
        let idle = Arc::clone(&self.idle);
        tokio::task::spawn_blocking(move || {
            let mut lease = Lease { connection: take(&idle), idle };
            let response = match &mut lease.connection {
                Some(connection) => connection
                    .transaction()
                    .map_err(|error| StoreError::from(error).into())
                    .and_then(|it| work(&it)),
                None => Err(StoreError::Closed.into()),
            };
            // The connection goes back before the turn does, so that a reader whose turn it is finds one.
            drop(lease);
            drop(turn);
            response
        })
        .await
        .unwrap_or_else(|error| Err(StoreError::Internal { reason: error.to_string() }.into()))
    }
}

/// A reader without a connection; one who leaves while waiting is counted no more.
struct WaitingReader<'a>(&'a AtomicUsize);

impl<'a> WaitingReader<'a> {
    fn among(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for WaitingReader<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Gives the connection back, also when the work on it panics.
struct Lease {
    connection: Option<Connection>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(self.connection.take());
    }
}

fn take(idle: &Mutex<Vec<Connection>>) -> Option<Connection> {
    idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn callers_that_leave_keep_their_connection_and_others_wait_for_a_while_only() {
        let readers = Readers::new(vec![Connection::open_in_memory().unwrap()]);
        let (release, held) = mpsc::channel::<()>();
        let mut long = Box::pin(readers.read(move |_| held.recv().map_err(|_| StoreError::Closed)));
        assert!(futures::poll!(long.as_mut()).is_pending());
        drop(long);
        assert_eq!(readers.pool().busy, 1, "the statement goes on");
        let response = readers.read(|_| Ok::<_, StoreError>(())).await;
        assert!(matches!(response, Err(StoreError::Busy { .. })), "{response:?}");
        assert_eq!(readers.pool().waiting, 0);
        release.send(()).unwrap();
        readers.read(|_| Ok::<_, StoreError>(())).await.unwrap();
    }
}
