//! Connections that read.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use rusqlite::{Connection, Transaction};
use tokio::sync::Semaphore;

use crate::store::{Pool, StoreError};

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

    /// Runs `work` on a thread that may block, in one snapshot of the database.
    pub(super) async fn read<T, E>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let waiting = Waiting::among(&self.waiting);
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        drop(waiting);
        let idle = Arc::clone(&self.idle);
        tokio::task::spawn_blocking(move || {
            let mut lease = Lease { connection: take(&idle), idle };
            let answer = match &mut lease.connection {
                Some(connection) => connection
                    .transaction()
                    .map_err(|error| StoreError::from(error).into())
                    .and_then(|it| work(&it)),
                None => Err(StoreError::Closed.into()),
            };
            // The connection goes back before the turn does, so that whoever has a turn finds one.
            drop(lease);
            drop(turn);
            answer
        })
        .await
        .unwrap_or_else(|error| Err(StoreError::Internal { reason: error.to_string() }.into()))
    }
}

/// A reader without a connection; one who leaves while waiting is counted no more.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn among(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
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
