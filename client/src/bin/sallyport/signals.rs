//! Signals that end an extraction early.

/// A signal that ends an extraction, with the request id that repeats it.
#[derive(Clone, Copy)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM, as cron, containers and `timeout` send it.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix has it"))]
    Terminate,
}

impl Signal {
    /// 128 and the number of the signal, as a shell has it.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Signal::Interrupt => 130,
            Signal::Terminate => 143,
        }
    }

    /// What happened.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Signal::Interrupt => "interrupted",
            Signal::Terminate => "terminated",
        }
    }
}

/// Catches the signals from now on, and waits for one. A signal that cannot be caught ends the program by itself.
#[cfg(unix)]
pub(crate) fn catch() -> impl Future<Output = Signal> {
    use std::{future, pin::pin};

    use futures_util::future::{Either, select};
    use tokio::signal::unix::{self, SignalKind};

    async fn next(signal: Option<unix::Signal>) {
        match signal {
            Some(mut signal) => {
                signal.recv().await;
            }
            None => future::pending().await,
        }
    }

    let interrupt = unix::signal(SignalKind::interrupt()).ok();
    let terminate = unix::signal(SignalKind::terminate()).ok();
    async {
        match select(pin!(next(interrupt)), pin!(next(terminate))).await {
            Either::Left(_) => Signal::Interrupt,
            Either::Right(_) => Signal::Terminate,
        }
    }
}

/// Waits for Ctrl-C, which ends the program by itself when it cannot be caught.
#[cfg(not(unix))]
pub(crate) async fn catch() -> Signal {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    Signal::Interrupt
}
