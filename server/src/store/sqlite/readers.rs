//! Connections that read.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Transaction};
use tokio::sync::Semaphore;

use crate::store::StoreError;

/// A fixed set of connections, each used by one reader at a time.
#[derive(Debug)]
pub(super) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    turns: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(connections: Vec<Connection>) -> Self {
        let turns = Arc::new(Semaphore::new(connections.len()));
        Self { idle: Arc::new(Mutex::new(connections)), turns }
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
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| StoreError::Closed)?;
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
