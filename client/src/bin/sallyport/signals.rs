//! Signals that end an extraction early.

/// A signal that ends an extraction, with the request id that repeats it: what happened, and the exit code that a shell gives it.
pub(crate) type Signal = (&'static str, u8);

/// Ctrl-C.
const INTERRUPT: Signal = ("interrupted", 130);

/// SIGTERM, as cron, containers and `timeout` send it.
#[cfg(unix)]
const TERMINATE: Signal = ("terminated", 143);

/// Catches the signals from now on, and waits for one. A signal that cannot be caught ends the program by itself.
#[cfg(unix)]
pub(crate) fn catch() -> impl Future<Output = Signal> {
    use std::{future, pin::pin};

    use futures_util::future::{Either, select};
    use tokio::signal::unix::{self, SignalKind};

    async fn next(signal: Option<unix::Signal>) {
        match signal {
            Some(mut signal) => drop(signal.recv().await),
            None => future::pending().await,
        }
    }

    let interrupt = unix::signal(SignalKind::interrupt()).ok();
    let terminate = unix::signal(SignalKind::terminate()).ok();
    async {
        match select(pin!(next(interrupt)), pin!(next(terminate))).await {
            Either::Left(_) => INTERRUPT,
            Either::Right(_) => TERMINATE,
        }
    }
}

/// Waits for Ctrl-C, which ends the program by itself when it cannot be caught.
#[cfg(not(unix))]
pub(crate) async fn catch() -> Signal {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    INTERRUPT
}
