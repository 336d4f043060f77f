//! Connections that return to the pool only when no statement is under way on them.

use std::{
    ops::{Deref, DerefMut},
    time::Duration,
};

use deadpool_postgres::{Client, Object, Pool};
use tokio::{runtime::Handle, time::timeout};

use crate::store::{Result, StoreError};

/// A connection of the pool, for one query.
///
/// When a caller disconnects, Dropshot drops the future of the call, but the statement continues in the database. If the
/// connection returned to the pool then, the next statement would be queued behind it, and callers that disconnect and retry
/// would queue statements without bound. So a connection that is dropped before [`Connection::release`] returns to the pool only
/// after the database has answered everything. That takes at most `statement_timeout`, and until then no more statements are in
/// flight than the pool has connections. A connection without a response within `response_timeout` is closed: its process in the
/// database does not run, so `statement_timeout` does not end the statement.
///
/// The statement is not cancelled: a cancellation needs a connection beyond the limit of the pool, and may arrive so late that it
/// cancels the next caller's statement.
pub(super) struct Connection {
    client: Option<Client>,
    response_timeout: Duration,
}

impl Connection {
    /// Waits for a free connection.
    pub(super) async fn get(pool: &Pool, response_timeout: Duration) -> Result<Self> {
        Ok(Self { client: Some(pool.get().await?), response_timeout })
    }

    /// Runs the statements of a query. When it has returned or failed, no statement is in flight any more.
    pub(super) async fn run<T>(self, query: impl AsyncFnOnce(&Client) -> Result<T>) -> Result<T> {
        let response = timeout(self.response_timeout, query(&self)).await;
        match response {
            Ok(result) => {
                self.release();
                result
            }
            Err(_) => {
                self.close();
                Err(StoreError::Unavailable("the database does not respond".to_owned()))
            }
        }
    }

    /// Returns the connection to the pool at once, after every statement has been answered.
    pub(super) fn release(mut self) {
        self.client = None;
    }

    fn close(mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        let response_timeout = self.response_timeout;
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                // The response to an empty query comes after all others. If it fails, the pool notices the broken connection.
                if timeout(response_timeout, client.simple_query("")).await.is_err() {
                    drop(Object::take(client));
                }
            })),
            // Without a runtime nothing can wait, so the connection is closed.
            Err(_) => drop(Object::take(client)),
        }
    }
}

impl Deref for Connection {
    type Target = Client;

    #[expect(
        clippy::expect_used,
        reason = "only `release`, `close` and `drop` take the client, and all end the connection"
    )]
    fn deref(&self) -> &Client {
        self.client.as_ref().expect("a connection that was not released")
    }
}

impl DerefMut for Connection {
    #[expect(
        clippy::expect_used,
        reason = "only `release`, `close` and `drop` take the client, and all end the connection"
    )]
    fn deref_mut(&mut self) -> &mut Client {
        self.client.as_mut().expect("a connection that was not released")
    }
}
