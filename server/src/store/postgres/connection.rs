//! Connections that return to the pool only when no statement is under way on them.

use std::ops::{Deref, DerefMut};

use deadpool_postgres::{Client, Object, Pool};
use tokio::runtime::Handle;

use crate::store::Result;

/// A connection of the pool, for one query.
///
/// When a caller disconnects, Dropshot drops the future of the call, but the statement continues in the database. If the
/// connection returned to the pool then, the next statement would be queued behind it, and callers that disconnect and retry
/// would queue statements without bound. So a connection that is dropped before [`Connection::release`] returns to the pool only
/// after the database has answered everything. That takes at most `statement_timeout`, and until then no more statements are in
/// flight than the pool has connections.
///
/// The statement is not cancelled: a cancellation needs a connection beyond the limit of the pool, and may arrive so late that it
/// cancels the next caller's statement.
pub(super) struct Connection(Option<Client>);

impl Connection {
    /// Waits for a free connection.
    pub(super) async fn get(pool: &Pool) -> Result<Self> {
        Ok(Self(Some(pool.get().await?)))
    }

    /// Returns the connection to the pool at once, after every statement has been answered.
    pub(super) fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(client) = self.0.take() else { return };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                // The response to an empty query comes after all others. If it fails, the pool notices the broken connection.
                let _ = client.simple_query("").await;
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
        reason = "only `release` and `drop` take the client, and both end the connection"
    )]
    fn deref(&self) -> &Client {
        self.0.as_ref().expect("a connection that was not released")
    }
}

impl DerefMut for Connection {
    #[expect(
        clippy::expect_used,
        reason = "only `release` and `drop` take the client, and both end the connection"
    )]
    fn deref_mut(&mut self) -> &mut Client {
        self.0.as_mut().expect("a connection that was not released")
    }
}
