//! Tells apart a connection that a request opened and one that was kept alive, which the service may have closed meanwhile.

use std::{cell::Cell, error::Error, io, iter};

use tower::util::MapResponseLayer;

tokio::task_local! {
    /// Whether the request that this task sends has opened its connection.
    static IS_NEW: Cell<bool>;
}

/// Notices the connections that are opened, in the task of the request that they are opened for.
pub(crate) fn noticing(builder: reqwest::ClientBuilder) -> reqwest::ClientBuilder {
    builder.connector_layer(MapResponseLayer::new(notice))
}

/// A connection that is opened outside of a request goes to the pool.
fn notice<T>(connection: T) -> T {
    let _ = IS_NEW.try_with(|is_new| is_new.set(true));
    connection
}

/// Sends a request. The second value tells whether it opened its connection.
pub(crate) async fn send<T>(sending: impl Future<Output = T>) -> (T, bool) {
    let noticed = async { (sending.await, IS_NEW.with(Cell::get)) };
    IS_NEW.scope(Cell::new(false), noticed).await
}

/// Whether the connection ended before the head of a response was complete.
pub(crate) fn is_closed(error: &reqwest::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};

    iter::successors(error.source(), |&cause| cause.source()).any(|cause| {
        let kind = cause.downcast_ref().map(io::Error::kind);
        cause.downcast_ref().is_some_and(hyper::Error::is_incomplete_message)
            || matches!(kind, Some(BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof))
    })
}
